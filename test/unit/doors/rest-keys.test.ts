import { expect, it } from 'vitest'
import { publishedKeys } from '../../../src/receipts/published-keys.ts'

const row = (purpose: 'sign' | 'wrap', jwk: object) => ({
  kid: 'k1',
  purpose,
  jwk: JSON.stringify(jwk),
  notBefore: 0,
  retiredAt: null,
  revokedAt: null,
  revocationReason: null,
})

it('publishes public members only, whatever the row holds', () => {
  const [key] = publishedKeys([
    row('sign', { kty: 'OKP', crv: 'Ed25519', x: 'AA', d: 'private', k: 'private' }),
  ]).keys
  expect(key).toEqual({
    kty: 'OKP',
    crv: 'Ed25519',
    x: 'AA',
    kid: 'k1',
    use: 'sig',
    alg: 'EdDSA',
    purpose: 'receipt-signature',
    not_before: '1970-01-01T00:00:00.000Z',
    retired_at: null,
  })
})

it('keeps a retired wrapping key with the time it was retired', () => {
  const jwk = { kty: 'EC', crv: 'P-256', x: 'AA', y: 'BB' }
  const [key] = publishedKeys([{ ...row('wrap', jwk), retiredAt: 1000 }]).keys
  expect(key).toMatchObject({ use: 'enc', y: 'BB', retired_at: '1970-01-01T00:00:01.000Z' })
  expect(key).not.toHaveProperty('alg')
})

it('shows a revoked key with time and reason, and without the half that would verify', () => {
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: 'AA' }
  const revoked = { ...row('sign', jwk), retiredAt: 1000, revokedAt: 2000, revocationReason: 'stolen' }
  expect(publishedKeys([revoked])).toEqual({
    keys: [],
    revoked_keys: [
      {
        kid: 'k1',
        purpose: 'receipt-signature',
        not_before: '1970-01-01T00:00:00.000Z',
        retired_at: '1970-01-01T00:00:01.000Z',
        revoked_at: '1970-01-01T00:00:02.000Z',
        reason: 'stolen',
      },
    ],
  })
})
