// The operator's view of the keys that sign: listing, rotating, retiring and revoking them.
import { GatewayError } from '../core/errors.ts'
import type { PublishedKey, Store } from '../store/ports.ts'
import type { Signer, SigningKeyRecord, SigningKeys } from './ports.ts'

export interface SigningKeyParts {
  readonly store: Pick<Store, 'listPublishedKeys'>
  readonly signer: Pick<Signer, 'kid'> & {
    rotate(): Promise<{ readonly kid: string }>
    retire(kid: string): Promise<void>
    revoke(kid: string, reason: string): Promise<void>
  }
}

export function createSigningKeys({ store, signer }: SigningKeyParts): SigningKeys {
  async function list(): Promise<readonly SigningKeyRecord[]> {
    const keys = await store.listPublishedKeys()
    return keys
      .filter(({ purpose }) => purpose === 'sign')
      .map((key) => ({ ...key, state: stateOf(key) }))
      .toReversed()
  }
  function stateOf({ kid, retiredAt, revokedAt }: PublishedKey): SigningKeyRecord['state'] {
    if (revokedAt !== null) return 'revoked'
    if (kid === signer.kid) return 'signing'
    return retiredAt === null ? 'published' : 'retired'
  }
  async function find(kid: string): Promise<SigningKeyRecord> {
    const key = (await list()).find((each) => each.kid === kid)
    if (!key)
      throw new GatewayError(
        'key_not_found',
        'No signing key has this kid. List the signing keys to find it.',
      )
    return key
  }

  return {
    list,
    async rotate() {
      const before = await list()
      const { kid } = await signer.rotate()
      return { kid, retired: before.filter(({ retiredAt }) => retiredAt === null).map((key) => key.kid) }
    },
    async retire(kid) {
      const key = await find(kid)
      if (key.state === 'signing')
        throw new GatewayError(
          'state_conflict',
          'This key signs. Rotate: a new key takes its place, and this one is retired by that.',
          { reason: 'key_signs', extras: { state: 'signing' } },
        )
      await signer.retire(kid)
      return find(kid)
    },
    async revoke(kid, reason) {
      await find(kid)
      await signer.revoke(kid, reason)
      return find(kid)
    },
  }
}
