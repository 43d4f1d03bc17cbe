import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { GatewayError } from '../../../src/core/errors.ts'
import {
  assertPlain,
  decodeHeader,
  encodeHeader,
  MAX_HEADER_CHARACTERS,
} from '../../../src/payments/codec.ts'

const base64 = (text: string | Uint8Array) => Buffer.from(text as string).toString('base64')

function refusalOf(run: () => unknown): string {
  try {
    run()
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) throw thrown
    expect(thrown.code).toBe('payment_invalid')
    expect(thrown.status).toBe(400)
    return thrown.message
  }
  return 'accepted'
}

describe('headers of payments', () => {
  it.each<[string, string, RegExp]>([
    ['an empty header', '', /is empty/],
    [
      'base64url',
      Buffer.from([0xfb, 0xff, 0xfe]).toString('base64url'),
      /not base64\. Use the standard alphabet/,
    ],
    ['missing padding', 'eyJhIjoxfQ', /not base64/],
    ['padding in the middle', 'eyI9fQ==eyI9', /not base64/],
    ['a line break', 'eyJh\nIjoxfQ==', /not base64/],
    ['two headers that were joined', 'eyJhIjoxfQ==, eyJhIjoxfQ==', /not base64/],
    ['plain JSON', '{"a":1}', /not base64/],
    ['more than 8 KiB', 'A'.repeat(MAX_HEADER_CHARACTERS + 4), /larger than 8192/],
    ['broken UTF-8', base64(new Uint8Array([0x22, 0xc3, 0x28, 0x22])), /not UTF-8/],
    ['a byte order mark', base64('\ufeff{}'), /not valid JSON/],
    ['no JSON', base64('payment'), /not valid JSON/],
    ['NaN', base64('{"a":NaN}'), /not valid JSON/],
    ['two JSON texts', base64('{}{}'), /not valid JSON/],
    ['a trailing comma', base64('{"a":1,}'), /not valid JSON/],
    ['a number that is not finite', base64('{"a":1e400}'), /out of range/],
    ['nesting', base64(`${'['.repeat(17)}${']'.repeat(17)}`), /nested deeper than 16/],
    ['a member twice', base64('{"a":1,"a":2}'), /a member twice/],
    ['a member twice, deep down', base64('[{"x":{"a":1,"b":":","a":1}}]'), /a member twice/],
    ['a member twice, spelled differently', base64('{"a":1,"\\u0061":2}'), /a member twice/],
    ['half of a surrogate pair', base64('{"a":"\\ud800"}'), /surrogate/],
    ['half of a surrogate pair in a name', base64('{"\\udc00":1}'), /surrogate/],
    ['U+0000', base64('{"a":"b\\u0000c"}'), /U\+0000/],
    ['U+0000 in a name', base64('{"\\u0000":1}'), /U\+0000/],
    ['a member named __proto__', base64('{"__proto__":{"a":1}}'), /__proto__/],
    [
      'thousands of members',
      base64(`[${'0,'.repeat(2500)}0]`).slice(0, MAX_HEADER_CHARACTERS),
      /too many members/,
    ],
  ])('refuses %s', (_, header, words) => {
    expect(refusalOf(() => decodeHeader(header))).toMatch(words)
  })

  it('reads at the limits what it refuses beyond them', () => {
    expect(decodeHeader(base64(`${'['.repeat(16)}${']'.repeat(16)}`))).toHaveLength(1)
    const full = base64(`"${'a'.repeat((MAX_HEADER_CHARACTERS / 4) * 3 - 2)}"`)
    expect(full).toHaveLength(MAX_HEADER_CHARACTERS)
    expect(decodeHeader(full)).toHaveLength(6142)
  })

  it('keeps colons, quotes and backslashes in texts apart from members', () => {
    const value = { 'a:b': ':', 'c"': '":"', '\\': '\\":', d: [{ a: 1 }, { a: 1 }] }
    expect(decodeHeader(encodeHeader(JSON.stringify(value)))).toEqual(value)
  })

  it('gives back whatever it encodes', () => {
    const json = fc.jsonValue({ maxDepth: 5, stringUnit: 'binary' }).filter((value) => {
      const text = JSON.stringify(value)
      return !/__proto__|\\u0000/.test(text) && text.isWellFormed() && !/\\ud[89a-f]/i.test(text)
    })
    fc.assert(
      fc.property(json, (value) => {
        const text = JSON.stringify(value)
        fc.pre(text.length < 6000)
        expect(decodeHeader(encodeHeader(text))).toEqual(JSON.parse(text))
      }),
      { numRuns: 500 },
    )
  })

  it('answers any bytes with a value or payment_invalid', () => {
    const header = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 200 }),
      fc.uint8Array({ maxLength: 200 }).map(base64),
      fc.string({ maxLength: 100 }).map((text) => base64(`{"x402Version":2,"${text}":${text}}`)),
    )
    fc.assert(
      fc.property(header, (text) => void refusalOf(() => decodeHeader(text))),
      { numRuns: 600 },
    )
  })
})

describe('values that arrive parsed', () => {
  it.each<[string, unknown]>([
    ['undefined', { a: undefined }],
    ['a function', { a: () => 1 }],
    ['a bigint', [1n]],
    ['infinity', { a: Infinity }],
    ['too much text', { a: 'x'.repeat(65_537) }],
    ['many long names', Object.fromEntries(Array.from({ length: 70 }, (_, i) => ['x'.repeat(1000) + i, 1]))],
    ['too many items', Array.from({ length: 2001 }, () => 0)],
    ['a parsed __proto__', JSON.parse('{"__proto__":1}')],
  ])('refuses %s', (_, value) => {
    expect(refusalOf(() => assertPlain(value))).not.toBe('accepted')
  })

  it('refuses what contains itself', () => {
    const value: Record<string, unknown> = {}
    value['again'] = value
    expect(refusalOf(() => assertPlain(value))).toMatch(/nested deeper/)
  })

  it('counts members', () => {
    expect(assertPlain({ a: { b: 1, c: [{ d: null }, {}] }, e: true })).toBe(5)
  })
})
