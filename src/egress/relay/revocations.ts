// What is revoked while something of it runs. Whoever holds a stream, a WebSocket or a tunnel looks: another replica may have revoked it.
import type { Logger } from '../../lib/log.ts'
import type { Store } from '../../store/ports.ts'

export interface Watched {
  /** Aborts within seconds after the capability, one above it, its credential or its connection is revoked. */
  readonly signal: AbortSignal
  /** Ends the watch, once it is over. */
  leave(): void
}

export interface Revocations {
  watch(capabilityId: string): Watched
  close(): void
}

export interface RevocationParts {
  readonly store: Pick<Store, 'listStanding'>
  readonly log: Logger
  /** Between two looks, in milliseconds. */
  readonly everyMs?: number
}

const EVERY_MS = 1_000
/** Of one look of the store. */
const MOST_AT_ONCE = 512

/** One look a second for all that this process has open; none where nothing is. */
export function createRevocations({ store, log, everyMs = EVERY_MS }: RevocationParts): Revocations {
  const open = new Map<string, Set<AbortController>>()
  let timer: NodeJS.Timeout | undefined

  function lookSoon(): void {
    timer ??= setTimeout(() => void look(), everyMs)
    timer.unref()
  }
  async function look(): Promise<void> {
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
  function cut(id: string): void {
    const watchers = open.get(id)
    open.delete(id)
    for (const controller of watchers ?? []) controller.abort()
  }

  return {
    watch(capabilityId) {
      const controller = new AbortController()
      const watchers = open.get(capabilityId) ?? new Set()
      open.set(capabilityId, watchers.add(controller))
      lookSoon()
      return {
        signal: controller.signal,
        leave() {
          watchers.delete(controller)
          if (watchers.size === 0 && open.get(capabilityId) === watchers) open.delete(capabilityId)
        },
      }
    },
    close() {
      clearTimeout(timer)
      open.clear()
    },
  }
}
