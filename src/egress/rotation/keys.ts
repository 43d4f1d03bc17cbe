// The wrapping key in the key document, and the keys that stored records still need.
import type { Store } from '../../store/ports.ts'
import type { Authority, KnownKeys } from '../ports.ts'

const SAMPLED_WRAPS = 100

/** The authority keys that stored records need; of a sample, the oldest. */
export async function listSealingKeys(store: Pick<Store, 'listWrapsNotUnder'>): Promise<readonly string[]> {
  const wraps = await store.listWrapsNotUnder('', SAMPLED_WRAPS)
  return [...new Set(wraps.map(({ wrap }) => wrap.kid))]
}

/** The wrapping keys of the key document, and whether records are under them. */
export const knownKeys = (store: Pick<Store, 'listPublishedKeys' | 'countWrapsNotUnder'>): KnownKeys => ({
  async read() {
    const published = (await store.listPublishedKeys()).filter(({ purpose }) => purpose === 'wrap')
    const idsOf = (isRetired: boolean) =>
      published.filter(({ retiredAt }) => (retiredAt !== null) === isRetired).map(({ kid }) => kid)
    return { inUse: idsOf(false), retired: idsOf(true) }
  },
  listNeeded: async () => (await store.countWrapsNotUnder('')).kids,
})

/** The current wrapping key, in the key document. Done at every start: it costs one read when nothing changed. */
export async function publishAuthority(parts: {
  store: Pick<Store, 'publishKey' | 'listPublishedKeys'>
  authority: Pick<Authority, 'current'>
  now: () => number
}): Promise<void> {
  const { store, authority, now } = parts
  const { kid, publicJwk } = authority.current()
  // A symmetric key of a service has no public half to publish.
  if (!publicJwk) return
  const published = await store.listPublishedKeys()
  if (published.some((key) => key.kid === kid)) return
  await store.publishKey({
    kid,
    purpose: 'wrap',
    jwk: JSON.stringify({ ...publicJwk, kid, use: 'enc' }),
    notBefore: now(),
    retiredAt: null,
  })
}
