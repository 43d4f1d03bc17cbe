// Keeps email keys that were found a moment ago: each verification shows one, and a look into the store costs as much as all
// the rest of a warm answer. A key that this process revokes is forgotten at once; one that another process revokes is known
// here for as long as that moment; an unknown one never.
import { keepNewest } from '../lib/keep-newest.ts'
import type { EmailKey, Store } from '../store/ports.ts'

export const KNOWN_MS = 1_000
const MAX_KNOWN = 10_000

export interface KnownKeys {
  readonly find: Store['findEmailKey']
  /** Looks into the store the next time. */
  forget(id: string): void
}

/** Writes down, once a day and key, that it was used. */
export function rememberKeys(
  store: Pick<Store, 'findEmailKey' | 'touchEmailKey'>,
  now: () => number,
): KnownKeys {
  const known = new Map<string, { readonly key: EmailKey; readonly until: number }>()
  let forgotten = 0

  function touch({ id, lastSeenDay }: EmailKey, at: number): void {
    const day = new Date(at).toISOString().slice(0, 10)
    // Nobody waits for the write: one that fails is made a moment later.
    if (lastSeenDay < day) store.touchEmailKey({ id, day }).catch(() => {})
  }

  return {
    async find(keyHash) {
      const name = keyHash.toString('latin1')
      const at = now()
      const entry = known.get(name)
      if (entry && at < entry.until) return entry.key
      known.delete(name)
      const before = forgotten
      const key = await store.findEmailKey(keyHash)
      if (!key) return undefined
      touch(key, at)
      // The key may have been revoked while it was looked for: then it serves this call, which was under way, and no other.
      if (before === forgotten) known.set(name, { key, until: at + KNOWN_MS })
      keepNewest(known, MAX_KNOWN)
      return key
    },
    forget(id) {
      forgotten++
      for (const [name, { key }] of known) if (key.id === id) known.delete(name)
    },
  }
}
