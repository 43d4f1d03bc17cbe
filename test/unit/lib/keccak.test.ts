import fc from 'fast-check'
import { keccak256 as reference } from 'ox/Hash'
import { describe, expect, it } from 'vitest'
import { keccak256 } from '../../../src/lib/keccak.ts'

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

describe('keccak256', () => {
  it('gives the known answer of nothing', () => {
    expect(hex(keccak256(new Uint8Array()))).toBe(
      'c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470',
    )
  })

  it('gives what another implementation gives, at and around the end of a block too', () => {
    for (const length of [1, 40, 135, 136, 137, 271, 272, 273]) {
      const bytes = Buffer.alloc(length, length)
      expect(hex(keccak256(bytes))).toBe(hex(reference(bytes, { as: 'Bytes' })))
    }
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        expect(hex(keccak256(bytes))).toBe(hex(reference(Uint8Array.from(bytes), { as: 'Bytes' })))
      }),
      { numRuns: 200 },
    )
  })
})
