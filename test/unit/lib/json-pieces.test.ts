import { describe, expect, it } from 'vitest'
import { longJson, PIECE_CHARS } from '../../../src/lib/json-pieces.ts'

const written = (value: unknown) => Buffer.concat([...(longJson(value) ?? [])]).toString()

describe('JSON in pieces', () => {
  it.each([
    ['quotes and backslashes', '"\\\n\u0000é€'],
    ['characters of two halves', '😀'],
    ['characters of two halves, the other way round', 'a😀'],
    ['halves alone', '\ud83d'],
    ['what looks like more JSON', '","b":["'],
  ])('is the same as in one, of %s', (_what, part) => {
    const text = part.repeat(Math.ceil((PIECE_CHARS * 2.5) / part.length))
    for (const value of [
      text,
      { body: text },
      {
        upstream: { status: 200, headers: { a: '1' }, body: text, gone: undefined },
        other: [1, null],
        last: text,
      },
    ])
      expect(written(value) === JSON.stringify(value)).toBe(true)
  })

  it('is of pieces that are short', () => {
    const pieces = [...(longJson({ body: '\0'.repeat(1 << 20) }) ?? [])]
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThanOrEqual(PIECE_CHARS * 6)
  })

  it('looks for a long text three levels deep', () => {
    const text = 'a'.repeat(PIECE_CHARS + 1)
    const value = { a: { b: { c: text } } }
    expect(written(value) === JSON.stringify(value)).toBe(true)
    expect(longJson({ above: value })).toBeUndefined()
  })

  it('leaves a value without a long text alone, as it is', () => {
    const value = Object.freeze({ a: 'a'.repeat(PIECE_CHARS), b: Object.freeze({ c: [1, 'x'] }) })
    expect(longJson(value)).toBeUndefined()
    expect(longJson('a')).toBeUndefined()
    expect(longJson(null)).toBeUndefined()
  })

  it('does not change the value that it writes', () => {
    const body = 'a'.repeat(PIECE_CHARS + 1)
    const value = { upstream: { body } }
    expect(written(value)).toBe(JSON.stringify(value))
    expect(value).toEqual({ upstream: { body } })
  })
})
