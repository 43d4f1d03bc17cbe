// Keeps answers of public sources for a minute, so that who allows an answer of some age gets it at once, and for some
// minutes more to ask a source whether it changed. Bounded by bytes; the one that was used least recently goes first.
import type { SourceAnswer } from '../ports.ts'
import type { Freshness } from './freshness.ts'

/** The part of an answer that is kept. */
export interface CachedAnswer extends SourceAnswer {
  readonly freshness: Freshness
}

export interface SourceCache {
  /** However old it is, while it is kept. */
  find(key: string): CachedAnswer | undefined
  /** @returns whether it is kept */
  put(key: string, answer: CachedAnswer): boolean
  drop(key: string): void
  readonly bytes: number
  readonly size: number
}

export interface CacheLimits {
  readonly maxBytes: number
  readonly maxEntries: number
}

/** The oldest answer that anybody may ask for. */
const MAX_AGE_SECONDS = 60
/** An old answer with a validator still saves the transfer. */
const REVALIDATION_MS = 5 * 60_000
const DEFAULTS: CacheLimits = { maxBytes: 32 * 1024 * 1024, maxEntries: 1000 }
/** The cost of an entry beside its body, roughly. */
const OVERHEAD_BYTES = 1024

/** @param now milliseconds */
export function createSourceCache(now: () => number, limits: CacheLimits = DEFAULTS): SourceCache {
  // The order of a map is the order of its last use here.
  const entries = new Map<string, CachedAnswer>()
  let bytes = 0

  const costOf = (key: string, { body }: CachedAnswer) => OVERHEAD_BYTES + 2 * key.length + body.length

  function drop(key: string): void {
    const answer = entries.get(key)
    if (!answer) return
    entries.delete(key)
    bytes -= costOf(key, answer)
  }
  function dropExpired(): void {
    const at = now()
    for (const [key, answer] of entries) if (!isKept(answer, at)) drop(key)
  }

  return {
    find(key) {
      const answer = entries.get(key)
      if (!answer) return undefined
      if (!isKept(answer, now())) {
        drop(key)
        return undefined
      }
      entries.delete(key)
      entries.set(key, answer)
      return answer
    },
    put(key, answer) {
      drop(key)
      const cost = costOf(key, answer)
      if (!answer.freshness.isStorable || !isKept(answer, now()) || cost > limits.maxBytes) return false
      dropExpired()
      for (const oldest of entries.keys()) {
        if (bytes + cost <= limits.maxBytes && entries.size < limits.maxEntries) break
        drop(oldest)
      }
      entries.set(key, answer)
      bytes += cost
      return true
    },
    drop,
    get bytes() {
      return bytes
    },
    get size() {
      return entries.size
    },
  }
}

/** Whole seconds; a clock that was set back makes nothing younger than it came. */
export const ageOf = ({ freshness, retrievedAt }: CachedAnswer, at: number): number =>
  freshness.ageSeconds + Math.max(0, Math.floor((at - retrievedAt) / 1000))

/** Young enough for who asks, and for the source that sent it. */
export function isFresh(answer: CachedAnswer, maxAgeSeconds: number, at: number): boolean {
  // Ages are compared to the millisecond: an answer of 60.9 seconds is older than 60.
  const age = answer.freshness.ageSeconds + Math.max(0, at - answer.retrievedAt) / 1000
  const { lifetimeSeconds } = answer.freshness
  return maxAgeSeconds > 0 && age <= maxAgeSeconds && (lifetimeSeconds === null || age < lifetimeSeconds)
}

const hasValidator = ({ etag, lastModified }: CachedAnswer) => etag !== null || lastModified !== null

function isKept(answer: CachedAnswer, at: number): boolean {
  const resident = at - answer.retrievedAt
  if (hasValidator(answer)) return resident <= MAX_AGE_SECONDS * 1000 + REVALIDATION_MS
  return isFresh(answer, MAX_AGE_SECONDS, at)
}
