// Email keys that were found a moment ago: each verification shows one, and a look into the store costs as much as all the
// rest of a warm answer. A revoked key is known for as long as that moment; an unknown one never.
import type { EmailKey, Store } from '../store/ports.ts'

export const KNOWN_MS = 1_000
const MAX_KNOWN = 10_000

type Find = Store['findEmailKey']

export function rememberKeys(find: Find, now: () => number): Find {
  const known = new Map<string, { readonly key: EmailKey; readonly until: number }>()
  return async (keyHash) => {
    const name = keyHash.toString('latin1')
    const at = now()
    const entry = known.get(name)
    if (entry && at < entry.until) return entry.key
    known.delete(name)
    const key = await find(keyHash)
    if (!key) return undefined
    known.set(name, { key, until: at + KNOWN_MS })
    if (known.size > MAX_KNOWN) known.delete(known.keys().next().value!)
    return key
  }
}
