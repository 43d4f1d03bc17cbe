import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { GatewayError } from '../../../src/core/errors.ts'
import { hasRepeatedMember, MAX_JSON_DEPTH, parseJson } from '../../../src/lib/json.ts'

const nested = (depth: number, open = '[', close = ']') => open.repeat(depth) + close.repeat(depth)

function codeOf(text: string): string {
  try {
    parseJson(text)
    return 'ok'
  } catch (thrown) {
    return thrown instanceof GatewayError ? thrown.code : 'other'
  }
}

describe('parseJson', () => {
  it.each<[string, string, string]>([
    ['as deep as allowed', nested(MAX_JSON_DEPTH), 'ok'],
    ['one deeper', nested(MAX_JSON_DEPTH + 1), 'json_too_deep'],
    ['deep objects', `${'{"a":'.repeat(33)}1${'}'.repeat(33)}`, 'json_too_deep'],
    [
      'one deeper, neither kind of bracket alone',
      `${'[{"a":'.repeat(16)}[1]${'}]'.repeat(16)}`,
      'json_too_deep',
    ],
    ['as deep as allowed, of both kinds', `${'[{"a":'.repeat(16)}1${'}]'.repeat(16)}`, 'ok'],
    ['a hostile depth', '['.repeat(1_000_000), 'json_too_deep'],
    ['many siblings', `[${Array(1000).fill('[]').join()}]`, 'ok'],
    ['brackets in a string', JSON.stringify('['.repeat(100)), 'ok'],
    ['brackets after an escaped quote', JSON.stringify(`"${'['.repeat(100)}`), 'ok'],
    ['brackets after an escaped backslash', `["\\\\"${',['.repeat(40)}`, 'json_too_deep'],
    ['a closed bracket first', `${']'.repeat(50)}${nested(60)}`, 'json_invalid'],
    ['nothing', '', 'json_invalid'],
    ['half an object', '{"a":', 'json_invalid'],
    ['a comment', '{} // x', 'json_invalid'],
    ['a scalar', '1', 'ok'],
  ])('judges %s', (_, text, code) => {
    expect(codeOf(text)).toBe(code)
  })

  it('reads back whatever JSON can say', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 8 }), (value) => {
        expect(parseJson(JSON.stringify(value))).toEqual(JSON.parse(JSON.stringify(value)))
      }),
    )
  })

  it('throws nothing but its own codes on garbage, and never quotes it', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(['ok', 'json_invalid', 'json_too_deep']).toContain(codeOf(text))
      }),
    )
    expect(() => parseJson('hunter2')).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('hunter2') }),
    )
  })
})

describe('hasRepeatedMember', () => {
  it.each<[string, string, boolean]>([
    ['every member once', '{"a":1,"b":{"a":2},"c":[{"a":3},{"a":4}]}', false],
    ['one twice', '{"a":1,"a":1}', true],
    ['one twice, deep inside', '{"a":[{"b":{"c":1,"d":2,"c":3}}]}', true],
    ['one twice, spelled differently', '{"a":1,"\\u0061":2}', true],
    ['colons in texts and names', '{"a:b":"c:d","\\":":":\\":"}', false],
    ['__proto__ once', '{"__proto__":1}', false],
    ['__proto__ twice', '{"__proto__":1,"__proto__":2}', true],
    ['no object', '[1,"a:b",null]', false],
  ])('judges %s', (_, text, expected) => {
    expect(hasRepeatedMember(text, JSON.parse(text))).toBe(expected)
  })

  it('finds none in what JSON.stringify writes', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value)
        expect(hasRepeatedMember(text, JSON.parse(text))).toBe(false)
      }),
    )
  })
})
