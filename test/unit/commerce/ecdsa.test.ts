import { generateKeyPairSync, sign, verify } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { toDerSignature } from '../../../src/commerce/decode/ecdsa.ts'

const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex')

describe('a signature of ECDSA', () => {
  it.each([
    ['without zeros in front', '00 00 01 7f', '30 07 02 01 00 02 02 01 7f'],
    ['with a zero before a high bit', '80 01 00 ff', '30 09 02 03 00 80 01 02 02 00 ff'],
  ])('is a sequence of two integers, each %s', (_how, given, expected) => {
    expect(toDerSignature(hex(given))).toEqual(hex(expected))
  })

  it.each(['P-256', 'P-384', 'P-521', 'secp256k1'])(
    'of %s is verified however many of its bytes are zero',
    (namedCurve) => {
      const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve })
      const runs = Array.from({ length: namedCurve === 'P-521' ? 8 : 24 }, (_, index) =>
        Buffer.from(`text ${index}`),
      )
      for (const text of runs) {
        const signature = sign('sha256', text, { key: privateKey, dsaEncoding: 'ieee-p1363' })
        expect(verify('sha256', text, publicKey, toDerSignature(signature))).toBe(true)
        signature[signature.length - 1]! ^= 1
        expect(verify('sha256', text, publicKey, toDerSignature(signature))).toBe(false)
      }
    },
  )
})
