import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { OperatorJsonFault, parseOperatorJson } from '../../../src/lib/operator-json.ts'

const faultOf = (text: string): string => {
  try {
    return `no fault: ${JSON.stringify(parseOperatorJson(text))}`
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(OperatorJsonFault)
    return (thrown as Error).message
  }
}

describe('JSON that a person wrote', () => {
  it.each([
    ['{\n  "fee": 1,\n  "other": 2,\n  "fee": 3\n}', '"fee"', 2, 4],
    ['{"a":{"b":1,\n"b":2}}', '"b"', 1, 2],
    ['[{"a":1},{"a":1,\r\n "a":2}]', '"a"', 1, 2],
    ['{"a":1,"\\u0061":2}', '"a"', 1, 1],
    ['{"a"\n\n:1,"a"\n:2}', '"a"', 1, 3],
    ['{"__proto__":1,\n"__proto__":2}', '"__proto__"', 1, 2],
    ['{"":1,"":2}', '""', 1, 1],
    [`{"${'x'.repeat(99)}":1,"${'x'.repeat(99)}":2}`, `"${'x'.repeat(64)}…"`, 1, 1],
  ])('is refused with a member twice: %j', (text, name, first, second) => {
    expect(faultOf(text)).toBe(
      `has the member ${name} twice in one object, in lines ${first} and ${second}: remove one`,
    )
  })

  it.each([
    '{"a":{"a":{"a":1}},"b":[{"a":1},{"a":2}]}',
    '{"a":"\\"a\\":1","b":"{\\"a\\":1,\\"a\\":2}"}',
    '{"a\\"":1,"a":2,"A":3,"a ":4}',
    '["a","a",{"b":["b","b"]}]',
    '\uFEFF{"a":1}',
    'null',
  ])('is taken where each is there once: %s', (text) => {
    expect(parseOperatorJson(text)).toEqual(JSON.parse(text.replace('\uFEFF', '')))
  })

  it('takes whatever a program wrote', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), fc.constantFrom(0, 2, '\t'), (value, indent) => {
        const text = JSON.stringify(value, null, indent)
        expect(parseOperatorJson(text)).toEqual(JSON.parse(text))
      }),
    )
  })

  it('finds the second one wherever it is put', () => {
    const name = fc.string().filter((text) => text !== '__proto__')
    fc.assert(
      fc.property(fc.dictionary(name, fc.jsonValue(), { minKeys: 1 }), fc.nat(), (object, at) => {
        const members = Object.entries(object).map(
          ([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`,
        )
        const again = members[at % members.length]!
        expect(faultOf(`{${[...members, again].join(',\n')}}`)).toContain(
          `in lines ${members.indexOf(again) + 1} and ${members.length + 1}`,
        )
      }),
    )
  })

  it('says where it stops being JSON, and quotes none of it', () => {
    expect(faultOf('{\n "secret": hunter2 }')).toBe('is not JSON: look at line 2, column 12')
    expect(faultOf('{"secret": "hunter2"')).not.toContain('hunter2')
    expect(faultOf('')).toMatch(/^is not JSON/)
  })
})
