import type { PublishedKey, Store } from '../../src/store/ports.ts'

/** Published keys in memory, as the store keeps them. */
export function createPublishedKeys() {
  const keys = new Map<string, PublishedKey>()
  const change = (kid: string, to: Partial<PublishedKey>) => {
    const key = keys.get(kid)
    if (key) keys.set(kid, { ...key, ...to })
    return key !== undefined
  }
  const earlier = (one: number | null, other: number) => Math.min(one ?? other, other)
  return {
    async publishKey(key) {
      if (keys.has(key.kid)) return false
      keys.set(key.kid, { ...key, revokedAt: null, revocationReason: null })
      return true
    },
    listPublishedKeys: async () => [...keys.values()],
    async retireKey(kid, at) {
      return change(kid, { retiredAt: earlier(keys.get(kid)?.retiredAt ?? null, at) })
    },
    async retireSigningKeysBut(kid, at) {
      const others = [...keys.values()].filter(
        (each) => each.purpose === 'sign' && each.kid !== kid && each.retiredAt === null,
      )
      for (const each of others) change(each.kid, { retiredAt: at })
      return others.length > 0
    },
    async revokeSigningKey(kid, reason, at) {
      const key = keys.get(kid)
      if (key?.revokedAt !== null) return false
      return change(kid, { revokedAt: at, revocationReason: reason, retiredAt: earlier(key.retiredAt, at) })
    },
  } satisfies Partial<Store>
}
