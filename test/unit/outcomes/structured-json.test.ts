import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseLoosely } from '../../../src/outcomes/structured/loose-json.ts'

const read = (script: string) => {
  const result = parseLoosely(script)
  if (!result.ok) return result
  return { value: JSON.parse(JSON.stringify(result.value)) as unknown, repaired: result.repaired }
}

describe('parseLoosely', () => {
  it('reads valid JSON as it is, without a word about repairs', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        expect(parseLoosely(JSON.stringify(value))).toEqual({
          ok: true,
          value: JSON.parse(JSON.stringify(value)),
          repaired: [],
        })
      }),
    )
  })

  it.each<[name: string, script: string, value: unknown, repaired: string[]]>([
    ['a CDATA wrapper in a comment', '/*<![CDATA[*/{"a":1}/*]]>*/', { a: 1 }, ['wrapper']],
    ['a CDATA wrapper after slashes', '//<![CDATA[\n{"a":1}\n//]]>', { a: 1 }, ['wrapper']],
    ['a bare CDATA wrapper', '<![CDATA[[{"a":1}]]]>', [{ a: 1 }], ['wrapper']],
    ['an HTML comment', '<!--\n{"a":1}\n-->', { a: 1 }, ['wrapper']],
    ['a trailing comma', '{"a":[1,2,],}', { a: [1, 2] }, ['trailing_comma']],
    ['two objects in a row', '{"a":1}{"b":2}', [{ a: 1 }, { b: 2 }], ['several_values']],
    ['a line break inside a string', '{"a":"x\ny"}', { a: 'x\ny' }, ['control_character']],
    ['a missing comma', '{"a":1 "b":2}', { a: 1, b: 2 }, ['missing_comma']],
    ['a missing comma after a line', '{"a":"1"\n"b":"2"}', { a: '1', b: '2' }, ['missing_comma']],
    ['entities instead of quotes', '{&quot;a&quot;:&quot;x&quot;}', { a: 'x' }, ['html_entities']],
    ['single quotes', "{'a':'x'}", { a: 'x' }, ['quotes']],
    ['an inch that was not escaped', '{"a":"5" disk","b":1}', { a: '5" disk', b: 1 }, ['quotes']],
    ['names without quotes', '{a:1,b:"x"}', { a: 1, b: 'x' }, ['unquoted']],
    ['comments', '{"a":1,/* x */"b":2 // y\n}', { a: 1, b: 2 }, ['comment']],
    ['an escape that JSON has not', String.raw`{"a":"it\'s"}`, { a: "it's" }, ['bad_escape']],
    ['an end that is missing', '{"a":{"b":[1,2', { a: { b: [1, 2] } }, ['unterminated']],
    ['a value that is missing', '{"a":,"b":2}', { b: 2 }, ['trailing_comma']],
    ['a semicolon at the end', '{"a":1};', { a: 1 }, []],
    ['undefined', '{"a":undefined,"b":1}', { a: null, b: 1 }, ['unquoted']],
  ])('repairs %s and says so', (_name, script, value, repaired) => {
    expect(read(script)).toEqual({ value, repaired })
  })

  it.each<[script: string, reason: string]>([
    ['', 'empty'],
    ['  \n ', 'empty'],
    ['var x = 5', 'not_json'],
    ['<p>hello</p>', 'not_json'],
  ])('gives up on %j', (script, reason) => {
    expect(parseLoosely(script)).toEqual({ ok: false, reason })
  })

  it('keeps __proto__ a name like any other', () => {
    const result = parseLoosely('{"__proto__":{"polluted":1},"a":1,}')
    expect(result.ok && Object.keys(result.value as object)).toEqual(['__proto__', 'a'])
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false)
  })

  it('does not fall over anything that is nested, cut or made of brackets', () => {
    const hostile = fc.array(
      fc.constantFrom('{', '}', '[', ']', '"', ',', ':', 'a', '1', ' ', '\n', '\\', "'", '/', '*'),
    )
    fc.assert(
      fc.property(hostile, (parts) => {
        expect(typeof parseLoosely(parts.join('')).ok).toBe('boolean')
      }),
      { numRuns: 1000 },
    )
    for (const script of [
      '['.repeat(200_000),
      '{"a":'.repeat(100_000),
      '"'.repeat(500_000),
      `${'['.repeat(150)}${'}'.repeat(500_000)}`,
    ])
      expect(typeof parseLoosely(script).ok).toBe('boolean')
  })
})
