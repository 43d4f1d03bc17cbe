import { generateKeyPairSync, sign, verify } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { toPublicKey } from '../../../src/lib/public-keys.ts'

const TEXT = Buffer.from('what was signed')

function makePair() {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return { jwk: publicKey.export({ format: 'jwk' }), signature: sign('sha256', TEXT, privateKey) }
}

describe('a public key', () => {
  it('is made once for the same JWK, and is that of its own text alone', () => {
    const [one, other] = [makePair(), makePair()]
    expect(toPublicKey({ ...one.jwk })).toBe(toPublicKey({ ...one.jwk }))
    expect(verify('sha256', TEXT, toPublicKey(one.jwk), one.signature)).toBe(true)
    expect(
      verify('sha256', TEXT, toPublicKey({ ...one.jwk, x: other.jwk.x!, y: other.jwk.y! }), one.signature),
    ).toBe(false)
  })

  it('that is none is refused again and again', () => {
    const { jwk } = makePair()
    for (let time = 0; time < 2; time++) expect(() => toPublicKey({ ...jwk, y: jwk.x! })).toThrow()
  })

  it('is kept among the newest 256, and where its text is not too long', () => {
    const first = makePair().jwk
    const key = toPublicKey(first)
    const long = { ...first, x: `${'A'.repeat(2048)}${first.x}` }
    expect(toPublicKey(long)).not.toBe(toPublicKey(long))
    for (let count = 0; count < 255; count++) toPublicKey(makePair().jwk)
    expect(toPublicKey(first)).toBe(key)
    toPublicKey(makePair().jwk)
    expect(toPublicKey(first)).not.toBe(key)
    expect(toPublicKey(first)).toBe(toPublicKey(first))
  })
})
