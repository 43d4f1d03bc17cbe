import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { GatewayError } from '../../src/errors.ts'
import { MAX_JSON_DEPTH, parseJson } from '../../src/json.ts'

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
