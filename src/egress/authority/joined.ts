// Several authorities as one: the first wraps, and each opens what is under its own keys. That is how an installation moves from
// a file to a key service, or from one service to another: name both, rotate, take the old one out.
import type { Authority } from '../ports.ts'

export interface OwningAuthority extends Authority {
  /** Whether a record that names this key is to be opened here. */
  owns(kid: string): boolean
  close(): Promise<void>
}

/** @param others open what a rotation has not re-wrapped yet */
export function joinAuthorities(first: OwningAuthority, others: readonly OwningAuthority[]): OwningAuthority {
  const all = [first, ...others]
  const find = (kid: string): Authority => {
    const owner = all.find((authority) => authority.owns(kid))
    if (!owner) throw new Error('authority: the record is wrapped to a key of none of GATEWAY_AUTHORITY')
    return owner
  }
  const { check } = first
  return {
    ...(check && { check }),
    owns: (kid) => all.some((authority) => authority.owns(kid)),
    current: () => first.current(),
    wrap: (recordKey, binding) => first.wrap(recordKey, binding),
    unwrap: async (wrapped, binding) => find(wrapped.kid).unwrap(wrapped, binding),
    async rewrap(wrapped, binding) {
      const owner = find(wrapped.kid)
      if (owner === first) return first.rewrap(wrapped, binding)
      const recordKey = await owner.unwrap(wrapped, binding)
      try {
        return await first.wrap(recordKey, binding)
      } finally {
        recordKey.fill(0)
      }
    },
    rotate: (options) => first.rotate(options),
    checkReplaceable: async () => first.checkReplaceable?.(),
    reload: async () => first.reload?.(),
    drop: (kids) => first.drop(kids),
    async close() {
      await Promise.all(all.map((authority) => authority.close()))
    },
  }
}
