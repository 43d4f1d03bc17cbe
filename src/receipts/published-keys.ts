// `/.well-known/gateway-egress-key.json`: every verification and wrapping key, as a JWKS with purpose and validity.
import { toTimestamp } from '../lib/timestamp.ts'
import type { PublishedKey } from '../store/ports.ts'

/** Public members only, whatever a row may hold. */
const PUBLIC_MEMBERS = ['kty', 'crv', 'x', 'y'] as const

/**
 * A key that was revoked stands beside the set, without its public half: a JOSE library that knows no validity then refuses
 * what it signed, too.
 * @returns a JWKS (RFC 7517, section 5) with purpose and validity; public members alone, whatever a row holds
 */
export function publishedKeys(keys: readonly PublishedKey[]): {
  keys: Record<string, unknown>[]
  revoked_keys: Record<string, unknown>[]
} {
  return {
    keys: keys.filter(({ revokedAt }) => revokedAt === null).map(describeKey),
    revoked_keys: keys.flatMap(describeRevoked),
  }
}

/**
 * `/.well-known/jwks.json`: the same verification keys for programs that know JOSE and nothing of us. Retired ones stay with their
 * validity, since what they signed is still to be verified; revoked ones do not; wrapping keys verify nothing.
 */
export function verificationKeys(keys: readonly PublishedKey[]): { keys: Record<string, unknown>[] } {
  const signing = publishedKeys(keys.filter(({ purpose }) => purpose === 'sign'))
  return { keys: signing.keys.map(({ purpose: _purpose, ...jwk }) => jwk) }
}

function describeRevoked(key: PublishedKey): Record<string, unknown>[] {
  const { kid, purpose, notBefore, retiredAt, revokedAt, revocationReason } = key
  if (revokedAt === null) return []
  return [
    {
      kid,
      purpose: PURPOSES[purpose],
      not_before: toTimestamp(notBefore),
      retired_at: retiredAt === null ? null : toTimestamp(retiredAt),
      revoked_at: toTimestamp(revokedAt),
      reason: revocationReason ?? '',
    },
  ]
}
const PURPOSES = { sign: 'receipt-signature', wrap: 'secret-wrapping' } as const

function describeKey({ kid, purpose, jwk, notBefore, retiredAt }: PublishedKey): Record<string, unknown> {
  const parsed = JSON.parse(jwk) as Record<string, unknown>
  const members = PUBLIC_MEMBERS.filter((name) => parsed[name] !== undefined)
  const alg = parsed['alg'] ?? (purpose === 'sign' ? 'EdDSA' : undefined)
  return {
    ...Object.fromEntries(members.map((name) => [name, parsed[name]])),
    kid,
    use: purpose === 'sign' ? 'sig' : 'enc',
    ...(alg !== undefined && { alg }),
    purpose: PURPOSES[purpose],
    not_before: toTimestamp(notBefore),
    retired_at: retiredAt === null ? null : toTimestamp(retiredAt),
  }
}
