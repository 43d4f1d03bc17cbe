// What is revoked, or comes to its end, while something of it runs. Whoever holds a stream, a WebSocket or a tunnel looks: another replica may
// have revoked it.
import type { Logger } from '../../lib/log.ts'
import type { Millis } from '../../store/model.ts'
import type { Store } from '../../store/ports.ts'

export interface Watched {
  /** Aborts within seconds after the capability, one above it, its credential or its connection is revoked, or its time is over. */
  readonly signal: AbortSignal
  /** Ends the watch, once it is over. */
  leave(): void
}

export interface Revocations {
  /** @param expiresAt where what is watched ends with the time of its capability; one request that it began goes on */
  watch(capabilityId: string, expiresAt?: Millis): Watched
  close(): void
}

export interface RevocationParts {
  readonly store: Pick<Store, 'listStanding'>
  readonly log: Logger
  readonly now: () => number
  /** Between two looks, in milliseconds. */
  readonly everyMs?: number
}

interface Watcher {
  readonly controller: AbortController
  readonly expiresAt: Millis
}

const EVERY_MS = 1_000
/** Of one look of the store. */
const MOST_AT_ONCE = 512

/** One look a second for all that this process has open; none where nothing is. */
export function createRevocations({ store, log, now, everyMs = EVERY_MS }: RevocationParts): Revocations {
  const open = new Map<string, Set<Watcher>>()
  let timer: NodeJS.Timeout | undefined

  function lookSoon(): void {
    timer ??= setTimeout(() => void look(), everyMs)
    timer.unref()
  }
  async function look(): Promise<void> {
    endExpired()
    const ids = [...open.keys()]
    try {
      for (let at = 0; at < ids.length; at += MOST_AT_ONCE) {
        const asked = ids.slice(at, at + MOST_AT_ONCE)
        const standing = new Set(await store.listStanding(asked))
        for (const id of asked) if (!standing.has(id)) cut(id)
      }
    } catch (err) {
      // What cannot be asked is asked again; whoever is without a store begins nothing new either.
      log.warn({ err }, 'what was revoked could not be looked up')
    }
    timer = undefined
    if (open.size > 0) lookSoon()
  }
  function endExpired(): void {
    const at = now()
    for (const [id, watchers] of open)
      for (const watcher of watchers)
        if (watcher.expiresAt <= at) {
          leave(id, watchers, watcher)
          watcher.controller.abort()
        }
  }
  function cut(id: string): void {
    const watchers = open.get(id)
    open.delete(id)
    for (const { controller } of watchers ?? []) controller.abort()
  }
  function leave(id: string, watchers: Set<Watcher>, watcher: Watcher): void {
    watchers.delete(watcher)
    if (watchers.size === 0 && open.get(id) === watchers) open.delete(id)
  }

  return {
    watch(capabilityId, expiresAt = Infinity) {
      const watcher = { controller: new AbortController(), expiresAt }
      const watchers = open.get(capabilityId) ?? new Set()
      open.set(capabilityId, watchers.add(watcher))
      lookSoon()
      return {
        signal: watcher.controller.signal,
        leave: () => leave(capabilityId, watchers, watcher),
      }
    },
    close() {
      clearTimeout(timer)
      open.clear()
    },
  }
}
