import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createHmacSha256 } from '../../../src/lib/hmac.ts'

describe('HMAC of two one-shot hashes', () => {
  it('is the HMAC of the standard library, for every key of a block at most and whatever the text is made of', () => {
    const bytes = (maxLength: number) => fc.uint8Array({ maxLength })
    fc.assert(
      fc.property(bytes(64), fc.array(bytes(200), { maxLength: 4 }), (key, parts) => {
        const expected = createHmac('sha256', key).update(Buffer.concat(parts)).digest('hex')
        const mac = createHmacSha256(key)
        for (const again of [mac(parts), mac(parts)]) expect(again.toString('hex')).toBe(expected)
      }),
    )
  })

  it('takes no key longer than a block, which would have to be hashed first', () => {
    expect(() => createHmacSha256(Buffer.alloc(65))).toThrow(RangeError)
  })
})
