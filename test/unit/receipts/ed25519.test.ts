// Both implementations sign alike, and the gateway signs where only one of them is there.
import { generateKeyPairSync, verify } from 'node:crypto'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  createNativeSign,
  createPortableSign,
  createSign,
  loadSodium,
  type OkpKey,
  type Sodium,
} from '../../../src/receipts/ed25519.ts'

const { privateKey, publicKey } = generateKeyPairSync('ed25519')
const key = privateKey.export({ format: 'jwk' }) as unknown as OkpKey
const portable = createPortableSign(key)

it('loads libsodium on the machines that it is built for', () => {
  expect(loadSodium()).toBeDefined()
})

it('signs the same bytes by libsodium as by OpenSSL, which verifies them, whatever the text and its length', () => {
  const native = createNativeSign(key, loadSodium()!)
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 5000 }), (text) => {
      const signature = native(text)
      expect(signature).toBe(portable(text))
      expect(verify(null, Buffer.from(text), publicKey, Buffer.from(signature, 'base64url'))).toBe(true)
    }),
    { numRuns: 300 },
  )
})

it('gives every signature bytes of its own: one does not change with the next', () => {
  const sign = createSign(key)
  const first = sign('first')
  const second = sign('second')
  expect(first).toBe(portable('first'))
  expect(second).toBe(portable('second'))
})

it('does not sign with an implementation that fails its test', () => {
  const wrong = { ...key, x: generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' }).x! }
  // libsodium takes the public half as given, OpenSSL computes it: what they disagree on is signed by the latter.
  expect(createNativeSign(wrong, loadSodium()!)('text')).not.toBe(portable('text'))
  expect(createSign(wrong)('text')).toBe(portable('text'))
})

it.each<[string, Sodium['crypto_sign_detached'] | undefined]>([
  ['lacks the function', undefined],
  [
    'throws',
    () => {
      throw new Error('no')
    },
  ],
  ['says that it failed', () => -1],
  ['writes no signature', () => 0],
])('signs with OpenSSL where libsodium loads and %s', (_what, crypto_sign_detached) => {
  const sign = createSign(key, { crypto_sign_detached } as Sodium)
  expect(sign('text')).toBe(portable('text'))
})

it('throws where libsodium fails later: the signature of the message before is none of this one', () => {
  const sodium = loadSodium()!
  let isBroken = false
  const sign = createSign(key, {
    crypto_sign_detached: (...args) => (isBroken ? -1 : sodium.crypto_sign_detached(...args)),
  })
  expect(sign('first')).toBe(portable('first'))
  isBroken = true
  expect(() => sign('second')).toThrow('libsodium did not sign')
})
