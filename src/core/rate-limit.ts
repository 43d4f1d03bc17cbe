// Rate limits. Counters live in memory; where others serve the same callers, each is told of what they have counted (rate-sharing.ts).
import { isIPv6 } from 'node:net'
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import type { SharedRates } from './rate-sharing.ts'

export interface RateState {
  readonly limit: number
  readonly remaining: number
  /** Whole seconds until the window starts anew. */
  readonly resetSeconds: number
  readonly exceeded: boolean
}

/** The state of a quota that is counted elsewhere, over a longer window. */
export interface QuotaState extends RateState {
  readonly name: string
  readonly windowSeconds: number
}

export interface RateLimiter {
  /** Counts one call of `who`, an id or an address, on `what`. Undefined when limits are off. */
  take(what: string, who: string, defaultPerMinute: number): Promise<RateState | undefined>
  /** Whether the next call would be refused; nothing is counted. */
  isSpent(what: string, who: string, defaultPerMinute: number): Promise<boolean>
}

const WINDOW_SECONDS = 60

/**
 * @param set overrides every route's own figure, and may change while the gateway runs; 0 switches limits off
 * @param shared what other processes count of the same
 */
export function createRateLimiter(
  set: number | undefined | (() => number | undefined),
  shared?: SharedRates,
): RateLimiter {
  const perMinute = typeof set === 'function' ? set : () => set
  const windows = new Map<number, RateLimiterMemory>()

  function windowOf(limit: number): RateLimiterMemory {
    let limiter = windows.get(limit)
    if (!limiter)
      windows.set(limit, (limiter = new RateLimiterMemory({ points: limit, duration: WINDOW_SECONDS })))
    return limiter
  }

  return {
    async take(what, who, defaultPerMinute) {
      const limit = perMinute() ?? defaultPerMinute
      if (limit === 0) return undefined
      const key = `${what} ${holderOf(who)}`
      const window = await consume(windowOf(limit), key)
      const others = shared?.others(key) ?? 0
      shared?.counted(key, window.consumedPoints, leftOf(window))
      return state(window, limit, others)
    },
    async isSpent(what, who, defaultPerMinute) {
      const limit = perMinute() ?? defaultPerMinute
      if (limit === 0) return false
      const key = `${what} ${holderOf(who)}`
      const own = (await windowOf(limit).get(key))?.consumedPoints ?? 0
      return own + (shared?.others(key) ?? 0) >= limit
    },
  }
}

async function consume(limiter: RateLimiterMemory, key: string): Promise<RateLimiterRes> {
  try {
    return await limiter.consume(key)
  } catch (refused) {
    if (refused instanceof RateLimiterRes) return refused
    throw refused
  }
}

/** Whoever has one address of IPv6 has the 2^64 around it: they count as one. */
export function holderOf(who: string): string {
  if (!isIPv6(who)) return who
  // The zone is cut off: it only means something on this machine.
  const canonical = new URL(`http://[${who.replace(/%.*$/, '')}]`).hostname.slice(1, -1)
  // IPv4 in IPv6, the same address in either spelling.
  const mapped = /^::ffff:([\da-f]+):([\da-f]+)$/.exec(canonical)
  if (mapped) return mapped.slice(1).flatMap(bytesOf).join('.')
  const [before = [], after = []] = canonical.split('::').map((half) => half.split(':').filter(Boolean))
  const zeros = Array<string>(8 - before.length - after.length).fill('0')
  return `${[...before, ...zeros, ...after].slice(0, 4).join(':')}::/64`
}

const bytesOf = (group: string) => [parseInt(group, 16) >> 8, parseInt(group, 16) & 0xff]

/** Milliseconds until it closes; where the machine's clock was set back, no more than a window has. */
const leftOf = ({ msBeforeNext }: RateLimiterRes) => Math.min(msBeforeNext, WINDOW_SECONDS * 1000)

function state(window: RateLimiterRes, limit: number, others: number): RateState {
  const used = window.consumedPoints + others
  return {
    limit,
    remaining: Math.max(0, limit - used),
    resetSeconds: Math.max(1, Math.ceil(leftOf(window) / 1000)),
    exceeded: used > limit,
  }
}
