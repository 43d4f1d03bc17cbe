import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto'
import fc from 'fast-check'
import * as Hpke from 'hpke'
import { describe, expect, test } from 'vitest'
import { AES_128_GCM, exportPoint, openBase, sealBase } from '../../../src/egress/hpke.ts'
import { cites } from '../../requirements.ts'

const hex = (text: string) => Buffer.from(text, 'hex')
const text = (value: string) => Buffer.from(value)

/** A key pair of the RFC from its private scalar and public point. */
function importPair(scalar: string, point: string) {
  const bytes = hex(point)
  const privateKey = createPrivateKey({
    format: 'jwk',
    key: {
      kty: 'EC',
      crv: 'P-256',
      d: hex(scalar).toString('base64url'),
      x: bytes.subarray(1, 33).toString('base64url'),
      y: bytes.subarray(33).toString('base64url'),
    },
  })
  return { privateKey, publicKey: createPublicKey(privateKey), point: bytes }
}

// RFC 9180, A.3.1: DHKEM(P-256, HKDF-SHA256), HKDF-SHA256, AES-128-GCM, base mode, first encryption
const info = hex('4f6465206f6e2061204772656369616e2055726e')
const ephemeral = importPair(
  '4995788ef4b9d6132b249ce59a77281493eb39af373d236a1fe415cb0c2d7beb',
  '04a92719c6195d5085104f469a8b9814d5838ff72b60501e2c4466e5e67b325ac98536d7b61a1af4b78e5b7f951c0900be863c403ce65c9bfcb9382657222d18c4',
)
const recipient = importPair(
  'f3ce7fdae57e1a310d87f1ebbde6f328be0a99cdbcadf4d6589cf29de4b8ffd2',
  '04fe8c19ce0905191ebc298a9245792531f26f0cece2460639e8bc39cb7f706a826a779b4cf969b8a0e539c7f62fb3d30ad6aa8f80e30f1d128aafd68a2ce72ea0',
)
const plaintext = text('Beauty is truth, truth beauty')
const aad = text('Count-0')
const ciphertext = hex(
  '5ad590bb8baa577f8619db35a36311226a896e7342a6d836d8b7bcd2f20b6c7f9076ac232e3ab2523f39513434',
)

describe('the vector of RFC 9180, A.3.1', () => {
  test('is what sealing gives', () => {
    const sealed = sealBase(recipient.publicKey, { info, aad, plaintext }, AES_128_GCM, ephemeral)
    expect(sealed.enc.toString('hex')).toBe(ephemeral.point.toString('hex'))
    expect(sealed.ciphertext.toString('hex')).toBe(ciphertext.toString('hex'))
  })
  test('opens', () => {
    const opened = openBase(recipient, { enc: ephemeral.point, info, aad, ciphertext }, AES_128_GCM)
    expect(opened.toString()).toBe(plaintext.toString())
  })
})

describe('with the reference implementation', () => {
  const suite = new Hpke.CipherSuite(
    Hpke.KEM_DHKEM_P256_HKDF_SHA256,
    Hpke.KDF_HKDF_SHA256,
    Hpke.AEAD_AES_256_GCM,
  )
  test(cites('egress:hpke:interop', 'opens what it sealed, and it opens what was sealed here'), async () => {
    const theirs = await suite.GenerateKeyPair(true)
    const point = Buffer.from(await suite.SerializePublicKey(theirs.publicKey))
    const scalar = Buffer.from(await suite.SerializePrivateKey(theirs.privateKey))
    const ours = importPair(scalar.toString('hex'), point.toString('hex'))

    const sealed = await suite.Seal(theirs.publicKey, plaintext, { info, aad })
    const enc = Buffer.from(sealed.encapsulatedSecret)
    expect(openBase(ours, { enc, info, aad, ciphertext: Buffer.from(sealed.ciphertext) })).toEqual(plaintext)

    const mine = sealBase(ours.publicKey, { info, aad, plaintext })
    expect(
      Buffer.from(await suite.Open(theirs.privateKey, mine.enc, mine.ciphertext, { info, aad })),
    ).toEqual(plaintext)
  })
})

describe('opening', () => {
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const own = { ...pair, point: exportPoint(pair.publicKey) }
  const bytes = fc.uint8Array({ maxLength: 80 }).map((array) => Buffer.from(array))

  test(
    cites('egress:hpke:tampered', 'gives back what was sealed, and fails once any bit of any part differs'),
    () => {
      fc.assert(
        fc.property(bytes, bytes, bytes, fc.nat(), fc.nat(7), (body, extra, context, position, bit) => {
          const sealed = sealBase(own.publicKey, { info: context, aad: extra, plaintext: body })
          const parts = { ...sealed, info: context, aad: extra }
          expect(openBase(own, parts).equals(body)).toBe(true)
          for (const name of ['enc', 'ciphertext', 'info', 'aad'] as const) {
            const changed = Buffer.concat([parts[name], Buffer.alloc(parts[name].length === 0 ? 1 : 0)])
            changed[position % changed.length]! ^= 1 << bit
            expect(() => openBase(own, { ...parts, [name]: changed })).toThrow()
          }
        }),
        { numRuns: 200 },
      )
    },
  )

  test.each([
    ['all zeros', Buffer.alloc(65)],
    ['the point at infinity', Buffer.from([0])],
    ['off the curve', Buffer.concat([Buffer.from([4]), Buffer.alloc(64, 1)])],
    ['compressed', Buffer.concat([Buffer.from([2]), own.point.subarray(1, 33)])],
    ['empty', Buffer.alloc(0)],
  ])(cites('egress:hpke:key', 'refuses an encapsulated key that is %s'), (_what, enc) => {
    expect(() => openBase(own, { enc, info, aad, ciphertext })).toThrow()
  })
})
