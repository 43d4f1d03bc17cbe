import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createSchemaChecker, validateBySchema } from '../../../src/lib/json-schema.ts'

const DRAFT = 'https://json-schema.org/draft/2020-12/schema'

const CASES: readonly (readonly [object | boolean, readonly unknown[]])[] = [
  [{ type: 'integer', minimum: 1, exclusiveMaximum: 5 }, [0, 1, 4, 5, 2.5, '2', null]],
  [{ type: ['string', 'null'], minLength: 2, maxLength: 3 }, ['a', 'ab', 'abcd', '😀😀', null, 1]],
  [{ const: { a: [1, { b: null }] } }, [{ a: [1, { b: null }] }, { a: [1, {}] }, []]],
  [{ enum: [1, 'a', null] }, [1, 'a', null, 2, {}]],
  [
    { required: ['a'], properties: { a: { type: 'string' } }, additionalProperties: false },
    [{ a: '' }, { a: 1 }, {}, { a: '', b: 1 }],
  ],
  [
    { patternProperties: { '^x-': { type: 'number' } }, additionalProperties: { type: 'string' } },
    [{ 'x-a': 1, b: 's' }, { 'x-a': 's' }, { b: 1 }],
  ],
  [
    {
      prefixItems: [{ type: 'string' }],
      items: { type: 'number' },
      minItems: 1,
      maxItems: 3,
      uniqueItems: true,
    },
    [['a', 1], [], ['a', 1, 1], ['a', 'b'], ['a', 1, 2, 3]],
  ],
  [{ contains: { const: 1 }, minContains: 2 }, [[1, 1], [1], []]],
  [{ anyOf: [{ type: 'string' }, { minimum: 3 }], not: { const: 'no' } }, ['a', 3, 2, 'no']],
  [{ oneOf: [{ minimum: 3 }, { multipleOf: 2 }] }, [3, 4, 2, 1]],
  [{ allOf: [{ minimum: 3 }, { maximum: 5 }] }, [2, 4, 6]],
  [
    {
      if: { properties: { a: { const: 1 } }, required: ['a'] },
      // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
      then: { required: ['b'] },
      else: { required: ['c'] },
    },
    [{ a: 1, b: 1 }, { a: 1 }, { c: 1 }, {}],
  ],
  [
    {
      dependentRequired: { a: ['b'] },
      dependentSchemas: { c: { minProperties: 2 } },
      propertyNames: { maxLength: 1 },
    },
    [{ a: 1 }, { a: 1, b: 1 }, { c: 1 }, { aa: 1 }],
  ],
  [
    { $defs: { n: { type: 'object', properties: { next: { $ref: '#/$defs/n' } } } }, $ref: '#/$defs/n' },
    [{ next: { next: {} } }, { next: 1 }],
  ],
  [{ $ref: '#/$defs/a~1b%20c', $defs: { 'a/b c': { type: 'string' } } }, ['a', 1]],
  [{ pattern: '^[a-z]+$' }, ['abc', 'ABC', 5]],
  [{ pattern: '^(a+)+$' }, [`${'a'.repeat(40)}`, `${'a'.repeat(20)}!`]],
  [{ pattern: String.raw`^[\w-]+@\p{L}+\.(?:com|org)$` }, ['a-b@cé.org', 'a@b.net', '']],
  [{ pattern: '^.$' }, ['😀', 'ab']],
  [{ properties: { a: false, b: true } }, [{ a: 1 }, { b: 1 }]],
]

describe('a schema of a stranger', () => {
  it.each(CASES)('%j judges as a full validator does', (schema, values) => {
    const judge = new Ajv2020({ strict: false }).compile(schema)
    for (const value of values)
      expect([value, validateBySchema(schema, value).ok]).toEqual([value, judge(value)])
  })

  it('judges any small schema and value as a full validator does', () => {
    const leaf = fc.constantFrom<object>(
      { type: 'string' },
      { type: 'integer' },
      { const: 1 },
      { enum: ['a', null] },
      { minimum: 0 },
      { maxLength: 1 },
      {},
    )
    const { schema } = fc.letrec<{ schema: object }>((tie) => ({
      schema: fc.oneof(
        { depthSize: 'small' },
        leaf,
        fc.record({
          type: fc.constant('object'),
          properties: fc.dictionary(fc.constantFrom('a', 'b'), tie('schema')),
          required: fc.subarray(['a', 'b']),
        }),
        fc.record({ items: tie('schema'), minItems: fc.nat(2) }),
        fc.record({ anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }) }),
        fc.record({ not: tie('schema') }),
      ),
    }))
    const ajv = new Ajv2020({ strict: false })
    fc.assert(
      fc.property(schema, fc.jsonValue({ maxDepth: 3 }), (one, value) => {
        expect(validateBySchema(one, value).ok).toBe(ajv.validate(one, value))
      }),
      { numRuns: 500 },
    )
  })

  it.each<[string, unknown]>([
    ['points to another place', { $ref: 'https://169.254.169.254/schema.json' }],
    ['points to another file', { properties: { a: { $ref: 'other.json#/a' } } }],
    ['points to nothing', { $ref: '#/$defs/none' }],
    ['takes a name of its own elsewhere', { $id: 'https://evil.example.com/' }],
    ['is of another draft', { $schema: 'http://json-schema.org/draft-07/schema#' }],
    ['uses words that are not known here', { unevaluatedProperties: false }],
    ['is no schema', [1]],
    ['has a word of the wrong type', { required: 'a' }],
    ['has a pattern that is none', { properties: { a: { pattern: '(' } } }],
    ['looks around', { properties: { a: { pattern: '(?=x)' } } }],
    ['refers back', { properties: { a: { pattern: String.raw`(x)\1` } } }],
  ])('that %s is refused unread', (_, schema) => {
    expect(validateBySchema(schema, { a: 'x' })).toEqual({ ok: false, reason: 'unsupported' })
  })

  const nested = (levels: number): object =>
    levels === 0 ? {} : { allOf: [nested(levels - 1), nested(levels - 1)] }
  it.each<[string, object, unknown]>([
    ['never ends', { $ref: '#' }, 1],
    ['doubles with every level', nested(20), 1],
    [
      'goes through itself twice',
      {
        $defs: {
          a: { anyOf: [{ $ref: '#/$defs/b' }, { $ref: '#/$defs/b' }] },
          b: { not: { $ref: '#/$defs/a' } },
        },
        $ref: '#/$defs/a',
      },
      1,
    ],
    [
      'counts a long text again and again',
      { allOf: Array.from({ length: 300 }, () => ({ minLength: 1 })) },
      'x'.repeat(2_000),
    ],
    [
      'has a pattern of many states for a long text',
      { pattern: String.raw`\p{L}{1,900}\p{Lu}` },
      'a'.repeat(20_000),
    ],
    ['has a pattern that is long', { pattern: 'a?'.repeat(200) }, 'a'],
    [
      'asks for many patterns',
      { propertyNames: { pattern: 'a' } },
      Object.fromEntries(Array.from({ length: 40 }, (_v, i) => [`a${i}`, 1])),
    ],
    ['compares a long list with itself', { uniqueItems: true }, Array.from({ length: 2_000 }, (_v, i) => i)],
  ])('that %s is given up soon', (_, schema, value) => {
    expect(validateBySchema({ $schema: DRAFT, ...schema }, value)).toEqual({ ok: false, reason: 'costly' })
  })

  it('that makes others backtrack for ever is judged in time linear in the text', () => {
    const text = `${'a'.repeat(10_000)}!`
    expect(validateBySchema({ pattern: '^(a+)+$' }, text)).toEqual({ ok: false, reason: 'invalid' })
  })
})

describe('a schema that judges many values', () => {
  const texts = (count: number) => Array.from({ length: count }, (_v, i) => `a${i}`)

  it('says the same as one that judges one', () => {
    const schema = { type: 'array', items: { type: 'string', pattern: '^a' }, maxItems: 3 }
    const { check } = createSchemaChecker(schema)
    for (const value of [[], ['a'], ['b'], texts(4), 7])
      expect(check(value)).toEqual(validateBySchema(schema, value))
  })

  it('uses a pattern as often as there is work left, for it is compiled once', () => {
    const schema = { type: 'array', items: { type: 'string', pattern: '^a' } }
    expect(validateBySchema(schema, texts(40))).toEqual({ ok: false, reason: 'costly' })
    expect(createSchemaChecker(schema).check(texts(40))).toEqual({ ok: true })
    expect(createSchemaChecker(schema).check(texts(40), 50)).toEqual({ ok: false, reason: 'costly' })
  })

  it('matches patterns for no longer than one that judges one value', () => {
    const { check } = createSchemaChecker({ type: 'array', items: { pattern: String.raw`\p{L}{1,200}` } })
    expect(
      check(
        Array.from({ length: 500 }, () => 'a'.repeat(200)),
        1e9,
      ),
    ).toEqual({ ok: false, reason: 'costly' })
  })

  it('has few patterns of its own', () => {
    const properties = Object.fromEntries(texts(17).map((name) => [name, { pattern: `^${name}` }]))
    const value = Object.fromEntries(texts(17).map((name) => [name, name]))
    expect(createSchemaChecker({ properties }).check(value)).toEqual({ ok: false, reason: 'costly' })
  })
})
