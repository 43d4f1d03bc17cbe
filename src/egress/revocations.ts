// What is revoked, or comes to its end, while something of it runs. Whoever holds a stream, a WebSocket or a tunnel looks, and so does a call that
// waits for its answer: another replica may have revoked it. Whether a request may go out at all is asked before that (withdrawal.ts).
import type { Logger } from '../lib/log.ts'
import type { Attempt, Millis } from '../store/model.ts'
import type { Store } from '../store/ports.ts'

export interface Watched {
  /** Aborts within seconds after the capability, one above it, its credential or its connection is revoked, or its time is over. */
  readonly signal: AbortSignal
  /** Ends the watch, once it is over. */
  leave(): void
}

export interface Revocations {
  /** @param expiresAt where what is watched ends with the time of its capability; one request that it began goes on */
  watch(capabilityId: string, expiresAt?: Millis): Watched
  /**
   * The same for a call, which hardly ever takes long: nothing is asked in its first second. A permit was used up when its call began, so that
   * the credential is what such a call stands on.
   */
  watchCall(call: Pick<Attempt, 'accountId' | 'capabilityId' | 'credentialId'>): Watched
  close(): void
}

export interface RevocationParts {
  readonly store: Pick<Store, 'listStanding' | 'getCredential'>
  readonly log: Logger
  readonly now: () => number
  /** Between two looks, in milliseconds. */
  readonly everyMs?: number
}

interface Watcher {
  readonly controller: AbortController
  readonly expiresAt: Millis
}

/** Whoever stands on one capability, or on one credential. */
interface Watchers extends Set<Watcher> {
  /** Of a credential, whose it is; undefined of a capability. */
  accountId?: string | undefined
}

const EVERY_MS = 1_000
/** Of one look of the store. */
const MOST_AT_ONCE = 512

/** One look a second for all that this process has open; none where nothing is. */
export function createRevocations({ store, log, now, everyMs = EVERY_MS }: RevocationParts): Revocations {
  const open = new Map<string, Watchers>()
  let timer: NodeJS.Timeout | undefined

  function lookSoon(): void {
    timer ??= setTimeout(() => void look(), everyMs)
    timer.unref()
  }
  async function look(): Promise<void> {
    endExpired()
    try {
      await lookAtCapabilities()
      await lookAtCredentials()
    } catch (err) {
      // What cannot be asked is asked again; whoever is without a store begins nothing new either.
      log.warn({ err }, 'what was revoked could not be looked up')
    }
    timer = undefined
    if (open.size > 0) lookSoon()
  }
  async function lookAtCapabilities(): Promise<void> {
    const ids = [...open].filter(([, { accountId }]) => accountId === undefined).map(([id]) => id)
    for (let at = 0; at < ids.length; at += MOST_AT_ONCE) {
      const asked = ids.slice(at, at + MOST_AT_ONCE)
      const standing = new Set(await store.listStanding(asked))
      for (const id of asked) if (!standing.has(id)) cut(id)
    }
  }
  /** Their rows are remembered, so that each costs a look at most. */
  async function lookAtCredentials(): Promise<void> {
    for (const [id, { accountId }] of open)
      if (accountId !== undefined && !isInForce(await store.getCredential(id, accountId))) cut(id)
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
  function leave(id: string, watchers: Watchers, watcher: Watcher): void {
    watchers.delete(watcher)
    if (watchers.size === 0 && open.get(id) === watchers) open.delete(id)
  }
  /** @returns what ends the watch */
  function add(id: string, watcher: Watcher, accountId?: string): () => void {
    const watchers: Watchers = open.get(id) ?? Object.assign(new Set<Watcher>(), { accountId })
    open.set(id, watchers)
    watchers.add(watcher)
    lookSoon()
    return () => leave(id, watchers, watcher)
  }

  return {
    watch(capabilityId, expiresAt = Infinity) {
      const watcher = { controller: new AbortController(), expiresAt }
      return { signal: watcher.controller.signal, leave: add(capabilityId, watcher) }
    },
    watchCall({ accountId, capabilityId, credentialId }) {
      const watcher = { controller: new AbortController(), expiresAt: Infinity }
      let end: (() => void) | undefined
      const later = setTimeout(() => {
        if (capabilityId !== null) end = add(capabilityId, watcher)
        else if (credentialId !== null) end = add(credentialId, watcher, accountId)
      }, everyMs)
      later.unref()
      return {
        signal: watcher.controller.signal,
        leave() {
          clearTimeout(later)
          end?.()
        },
      }
    },
    close() {
      clearTimeout(timer)
      open.clear()
    },
  }
}

const isInForce = (credential: { readonly revokedAt: Millis | null } | undefined) =>
  credential?.revokedAt === null
