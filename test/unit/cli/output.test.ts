import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { describeProblem, formatRecord, formatTable, formatValue, showText } from '../../../src/cli/output.ts'

/** Any UTF-16 code unit, lone surrogates included. */
const codeUnit = fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code))

describe('tables and records', () => {
  it('aligns columns and shows nothing as a dash', () => {
    const rows = [
      { key_id: 'key_1', label: 'first', revoked_at: null },
      { key_id: 'key_22', label: '', revoked_at: '2026-01-01' },
    ]
    expect(formatTable(rows, ['key_id', 'label', 'revoked_at'])).toBe(
      ['KEY ID  LABEL  REVOKED AT', 'key_1   first  -', 'key_22  -      2026-01-01'].join('\n'),
    )
  })

  it('shows a record one field a line, lists joined', () => {
    expect(formatRecord({ id: 'cap_1', hosts: ['a.example', 'b.example'], uses: 0, extra: { a: 1 } })).toBe(
      ['id     cap_1', 'hosts  a.example b.example', 'uses   0', 'extra  {"a":1}'].join('\n'),
    )
  })

  it('lets nothing that a stranger named reach the terminal as a control character', () => {
    expect(formatValue('\u001b[31mred\u001b[0m\u202e\n')).toBe('?[31mred?[0m??')
    fc.assert(
      fc.property(fc.string({ unit: codeUnit }), (text) => {
        expect(formatValue(text)).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u)
      }),
    )
  })
})

describe('text that somebody decides by', () => {
  it.each<[string, string]>([
    ['line one\n  | two\tthree', 'line one\n  | two\tthree'],
    ['Gr\u00fcner Tee, \u8336, \u0634\u0627\u064a', 'Gr\u00fcner Tee, \u8336, \u0634\u0627\u064a'],
    ['\u001b[2Jcleared\r\u0007', '\\u{1b}[2Jcleared\\u{d}\\u{7}'],
    ['pay \u202ekcab\u202c', 'pay \\u{202e}kcab\\u{202c}'],
    ['in\u200bvis\u2060ible\u00ad', 'in\\u{200b}vis\\u{2060}ible\\u{ad}'],
    ['\u3164\ufe0f\u{e0041}\u2800', '\\u{3164}\\u{fe0f}\\u{e0041}\\u{2800}'],
    ['a\u00a0b\u2003c\u2028d', 'a\\u{a0}b\\u{2003}c\\u{2028}d'],
    ['\ud800', '\\u{d800}'],
  ])('%j is shown as %j', (text, shown) => {
    expect(showText(text)).toBe(shown)
  })
})

describe('describeProblem', () => {
  it('says what, why, which fields, when again, and the id to quote', () => {
    const text = describeProblem({
      type: 'http://127.0.0.1/problems/rate_limited',
      title: 'Too many requests',
      status: 429,
      code: 'rate_limited',
      detail: 'At most 3 calls a minute.',
      fields: [{ pointer: '/limit', message: 'too big' }],
      retry_after_seconds: 7,
      request_id: 'req_1',
    })
    expect(text).toBe(
      [
        'Too many requests (rate_limited, 429)',
        '  At most 3 calls a minute.',
        '  /limit: too big',
        '  try again in 7 s',
        '  request id req_1',
      ].join('\n'),
    )
  })
})
