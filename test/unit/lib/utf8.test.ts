import { describe, expect, it } from 'vitest'
import { decodeUtf8, decodeUtf8Document } from '../../../src/lib/utf8.ts'

const bytes = (...values: readonly number[]) => Uint8Array.from(values)

describe('UTF-8 of strangers', () => {
  it.each([
    ['an overlong slash', bytes(0xc0, 0xaf)],
    ['half a surrogate pair', bytes(0xed, 0xa0, 0x80)],
    ['a character that is cut off', bytes(0x61, 0xe2, 0x82)],
    ['Latin-1', bytes(0x63, 0x61, 0x66, 0xe9)],
  ])('%s is no text', (_, given) => {
    expect(decodeUtf8(given)).toBeUndefined()
    expect(decodeUtf8Document(given)).toBeUndefined()
  })

  it('is read to the last byte, after a refusal too', () => {
    expect(decodeUtf8(bytes(0x61, 0xe2))).toBeUndefined()
    expect(decodeUtf8(Buffer.from('grüße €'))).toBe('grüße €')
    expect(decodeUtf8(bytes())).toBe('')
  })

  it('keeps a byte order mark as text, and leaves it out of a document', () => {
    const marked = Buffer.from('\ufeff{}')
    expect(decodeUtf8(marked)).toBe('\ufeff{}')
    expect(decodeUtf8Document(marked)).toBe('{}')
  })
})
