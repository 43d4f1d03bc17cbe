import type { PublishedKey, Store } from '../../src/store/ports.ts'

/** Published keys in memory, as the store keeps them. */
export function createPublishedKeys() {
  const keys = new Map<string, PublishedKey>()
  const change = (kid: string, to: Partial<PublishedKey>) => {
    const key = keys.get(kid)
    if (key) keys.set(kid, { ...key, ...to })
  }
  const earlier = (one: number | null, other: number) => Math.min(one ?? other, other)
  return {
    async publishKey(key) {
      if (!keys.has(key.kid)) keys.set(key.kid, { ...key, revokedAt: null, revocationReason: null })
    },
    listPublishedKeys: async () => [...keys.values()],
    async retireKey(kid, at) {
      change(kid, { retiredAt: earlier(keys.get(kid)?.retiredAt ?? null, at) })
    },
    async retireSigningKeysBut(kid, at) {
      for (const each of keys.values())
        if (each.purpose === 'sign' && each.kid !== kid && each.retiredAt === null)
          change(each.kid, { retiredAt: at })
    },
    async revokeSigningKey(kid, reason, at) {
      const key = keys.get(kid)
      if (key?.revokedAt !== null) return
      change(kid, { revokedAt: at, revocationReason: reason, retiredAt: earlier(key.retiredAt, at) })
    },
  } satisfies Partial<Store>
}
