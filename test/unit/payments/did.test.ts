import { describe, expect, it } from 'vitest'
import { didDocument, didOf, didPathOf } from '../../../src/payments/did.ts'

describe('did:web', () => {
  it.each([
    ['http://127.0.0.1:8402', 'did:web:127.0.0.1%3A8402', '/.well-known/did.json'],
    ['https://gateway.example', 'did:web:gateway.example', '/.well-known/did.json'],
    ['https://gateway.example/', 'did:web:gateway.example', '/.well-known/did.json'],
    ['https://host.example/agents/gw', 'did:web:host.example:agents:gw', '/did.json'],
    ['http://[::1]:8402', 'did:web:%5B%3A%3A1%5D%3A8402', '/.well-known/did.json'],
  ])('%s is %s', (baseUrl, did, path) => {
    expect(didOf(baseUrl)).toBe(did)
    expect(didPathOf(baseUrl)).toBe(path)
  })

  it('lists retired keys for verification and asserts with current ones only, and shows no private half', () => {
    const jwk = (x: string) => JSON.stringify({ kty: 'OKP', crv: 'Ed25519', x, d: 'private', kid: x })
    const key = (kid: string, retiredAt: number | null) =>
      ({
        kid,
        purpose: 'sign',
        jwk: jwk(kid),
        notBefore: 0,
        retiredAt,
        revokedAt: null,
        revocationReason: null,
      }) as const
    const revoked = { ...key('stolen', 5), revokedAt: 6, revocationReason: 'stolen' }
    const wrapping = { ...key('w', null), purpose: 'wrap' } as const
    expect(didDocument('https://g.example', [key('old', 5), revoked, key('new', null), wrapping])).toEqual({
      '@context': ['https://www.w3.org/ns/did/v1', 'https://w3id.org/security/suites/jws-2020/v1'],
      id: 'did:web:g.example',
      verificationMethod: ['old', 'new'].map((x) => ({
        id: `did:web:g.example#${x}`,
        type: 'JsonWebKey2020',
        controller: 'did:web:g.example',
        publicKeyJwk: { kty: 'OKP', crv: 'Ed25519', x },
        ...(x === 'old' && { expires: '1970-01-01T00:00:00.005Z' }),
      })),
      assertionMethod: ['did:web:g.example#new'],
    })
  })
})
