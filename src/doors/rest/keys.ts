// `/.well-known/gateway-egress-key.json`: every verification and wrapping key, as a JWKS with purpose and validity.
import type { PublishedKey } from '../../store/ports.ts'

/** Public members only, whatever a row may hold. */
const PUBLIC_MEMBERS = ['kty', 'crv', 'x', 'y'] as const

/** @returns a JWKS (RFC 7517, section 5) with purpose and validity; public members alone, whatever a row holds */
export function publishedKeys(keys: readonly PublishedKey[]): { keys: Record<string, unknown>[] } {
  return { keys: keys.map(describeKey) }
}

/**
 * `/.well-known/jwks.json`: the same verification keys for programs that know JOSE and nothing of us. Retired ones stay, since what they
 * signed is still to be verified; wrapping keys verify nothing.
 */
export function verificationKeys(keys: readonly PublishedKey[]): { keys: Record<string, unknown>[] } {
  const signing = keys.filter(({ purpose }) => purpose === 'sign').map(describeKey)
  return { keys: signing.map(({ purpose: _purpose, not_before: _from, retired_at: _to, ...jwk }) => jwk) }
}

function describeKey({ kid, purpose, jwk, notBefore, retiredAt }: PublishedKey): Record<string, unknown> {
  const parsed = JSON.parse(jwk) as Record<string, unknown>
  const members = PUBLIC_MEMBERS.filter((name) => parsed[name] !== undefined)
  const alg = parsed['alg'] ?? (purpose === 'sign' ? 'EdDSA' : undefined)
  return {
    ...Object.fromEntries(members.map((name) => [name, parsed[name]])),
    kid,
    use: purpose === 'sign' ? 'sig' : 'enc',
    ...(alg !== undefined && { alg }),
    purpose: purpose === 'sign' ? 'receipt-signature' : 'secret-wrapping',
    not_before: new Date(notBefore).toISOString(),
    retired_at: retiredAt === null ? null : new Date(retiredAt).toISOString(),
  }
}
