// Names the signer of offers and x402 receipts: a did:web name of the base URL, so that whoever trusts the address can find
// the keys without knowing us. The document behind it lists the same keys as /.well-known/gateway-egress-key.json.
import type { PublishedKey } from '../store/ports.ts'

/** `https://host:8402/base` -> `did:web:host%3A8402:base`. */
export function didOf(baseUrl: string): string {
  const { host, segments } = read(baseUrl)
  return ['did:web', encodeURIComponent(host), ...segments.map(encodeURIComponent)].join(':')
}

/** The path of this host that a resolver of did:web asks: below the base path, or well-known without one. */
export function didPathOf(baseUrl: string): string {
  return read(baseUrl).segments.length === 0 ? '/.well-known/did.json' : '/did.json'
}

/**
 * Keys that were retired stay, with the moment in `expires` (Controlled Identifiers 1.0, 2.2): what they signed until then is
 * still to be verified, and nothing new is asserted with them. Keys that were revoked are gone: not every resolver reads `revoked`.
 */
export function didDocument(baseUrl: string, keys: readonly PublishedKey[]): Record<string, unknown> {
  const did = didOf(baseUrl)
  const signing = keys.filter(({ purpose, revokedAt }) => purpose === 'sign' && revokedAt === null)
  const idOf = (key: PublishedKey) => `${did}#${key.kid}`
  return {
    '@context': ['https://www.w3.org/ns/did/v1', 'https://w3id.org/security/suites/jws-2020/v1'],
    id: did,
    verificationMethod: signing.map((key) => {
      const { kty, crv, x } = JSON.parse(key.jwk) as Record<string, unknown>
      return {
        id: idOf(key),
        type: 'JsonWebKey2020',
        controller: did,
        publicKeyJwk: { kty, crv, x },
        ...(key.retiredAt !== null && { expires: new Date(key.retiredAt).toISOString() }),
      }
    }),
    assertionMethod: signing.filter(({ retiredAt }) => retiredAt === null).map(idOf),
  }
}

function read(baseUrl: string): { host: string; segments: string[] } {
  const { host, pathname } = new URL(baseUrl)
  return { host, segments: pathname.split('/').filter((segment) => segment !== '') }
}
