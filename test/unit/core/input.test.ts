import { describe, expect, it } from 'vitest'
import { hideNames } from '../../../src/commerce/secrets/places.ts'
import { z } from 'zod'
import { free } from '../../../src/core/price.ts'
import { GatewayError } from '../../../src/core/errors.ts'
import { parseInput } from '../../../src/core/input.ts'
import type { AnyTool } from '../../../src/core/registry.ts'
import { defineTool } from '../../../tools/services.ts'

const tool = defineTool({
  name: 'gateway.test',
  title: 't',
  toolset: 'web',
  summary: 's',
  input: z.strictObject({
    text: z.string().max(3),
    word: z.enum(['a', 'b']).default('a'),
    count: z.int().min(1).optional(),
    either: z.union([z.string().max(3), z.record(z.string(), z.unknown())]).optional(),
    list: z.array(z.string()).max(3).optional(),
    place: z
      .union([z.string(), z.strictObject({ url: z.string(), more: z.array(z.string()).max(1).optional() })])
      .optional(),
    inner: z.strictObject({ kind: z.enum(['x']) }).optional(),
    'sla/sh~': z.string().optional(),
  }),
  output: z.strictObject({}),
  price: free,
  caller: 'anyone',
  effects: { readOnly: true, idempotent: true, openWorld: false },
  rest: { method: 'POST', path: '/t', operationId: 't' },
  errors: [],
  examples: [],
  handle: async () => ({}),
}) as unknown as AnyTool

function refusalOf(input: unknown): GatewayError {
  try {
    parseInput(tool, input, { hideNames })
  } catch (thrown) {
    if (thrown instanceof GatewayError) return thrown
    throw thrown
  }
  throw new Error('was not refused')
}

describe('null at a member that may be left out', () => {
  const parse = (input: unknown, nullIsAbsent = true) => parseInput(tool, input, { hideNames, nullIsAbsent })

  it('is leaving it out where a model’s output is constrained', () => {
    const all = { text: 'a', word: null, count: null, either: null, list: null, place: null, inner: null }
    expect(parse(all)).toEqual({ text: 'a', word: 'a' })
    expect(all).toHaveProperty('count', null)
  })

  it('is leaving it out inside of other members, too', () => {
    expect(parse({ text: 'a', place: { url: 'u', more: null } })).toEqual({
      text: 'a',
      word: 'a',
      place: { url: 'u' },
    })
  })

  it('is refused where nobody constrains what is sent', () => {
    expect(() => parse({ text: 'a', count: null }, false)).toThrow('/count')
  })

  it('is refused as null where the member is needed, and in a list', () => {
    expect(() => parse({ text: null, count: null })).toThrow(
      '/text: Invalid input: expected string, received null',
    )
    expect(() => parse({ text: 'a', list: [null] })).toThrow('/list/0')
  })

  it('hides nothing else that is wrong', () => {
    expect(() => parse({ text: 'a', count: null, word: 'c' })).toThrow('/word')
    expect(() => parse({ text: 'a', count: null, other: null })).toThrow('/other')
  })
})

describe('parseInput', () => {
  it('fills defaults in', () => {
    expect(parseInput(tool, { text: 'abc' }, { hideNames })).toEqual({ text: 'abc', word: 'a' })
  })

  it.each<[string, unknown, string, string]>([
    ['a missing field', {}, 'input_missing_field', '/text'],
    ['a missing word of a list', { text: 'a', inner: {} }, 'input_missing_field', '/inner/kind'],
    ['a wrong type', { text: 1 }, 'input_wrong_type', '/text'],
    ['null for a string', { text: null }, 'input_wrong_type', '/text'],
    ['a number for a word of a list', { text: 'a', word: 1 }, 'input_wrong_type', '/word'],
    ['a type that no branch of a union takes', { text: 'a', either: 1 }, 'input_wrong_type', '/either'],
    ['a fraction for a count', { text: 'a', count: 1.5 }, 'input_wrong_type', '/count'],
    ['an input that is no object', 'x', 'input_wrong_type', ''],
    ['no input at all', undefined, 'input_wrong_type', ''],
    ['another word', { text: 'a', word: 'c' }, 'input_invalid', '/word'],
    ['a long string', { text: 'abcd' }, 'input_invalid', '/text'],
    ['a long string in a union', { text: 'a', either: 'abcd' }, 'input_invalid', '/either'],
    [
      'what is wrong inside a union',
      { text: 'a', place: { url: 'x', more: ['a', 'b'] } },
      'input_invalid',
      '/place/more',
    ],
    ['what is missing inside a union', { text: 'a', place: {} }, 'input_missing_field', '/place/url'],
    ['a wrong type inside a union', { text: 'a', place: { url: 1 } }, 'input_wrong_type', '/place/url'],
    [
      'an unknown property inside a union',
      { text: 'a', place: { url: 'x', b: 1 } },
      'input_unknown_property',
      '/place/b',
    ],
    ['a small count', { text: 'a', count: 0 }, 'input_invalid', '/count'],
    ['an unknown property', { text: 'a', foo: 1 }, 'input_unknown_property', '/foo'],
    ['a name that needs escaping', { text: 'a', 'sla/sh~': 1 }, 'input_wrong_type', '/sla~1sh~0'],
  ])('names %s', (_, input, code, pointer) => {
    const refusal = refusalOf(input)
    expect([refusal.code, refusal.extras.fields?.[0]?.pointer]).toEqual([code, pointer])
    expect(refusal.message).toContain(pointer || 'the input')
    expect(refusal.message).toContain('gateway.test')
  })

  it('says of a wrong type nothing else: text for a list is not too long a list', () => {
    expect(refusalOf({ text: 'a', list: 'https://a.example/' }).extras.fields).toEqual([
      { pointer: '/list', message: expect.stringContaining('expected array') },
    ])
  })

  it('lists every unknown property, at most twenty, with names cut short', () => {
    const many = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`p${i}`.padEnd(100, 'x'), 1]))
    const { fields } = refusalOf({ text: 'a', ...many }).extras
    expect(fields).toHaveLength(20)
    for (const { pointer } of fields!) expect(pointer.length).toBe(65)
  })

  it('never quotes a value', () => {
    const secret = 'hunter2hunter2'
    for (const input of [
      { text: secret },
      { text: 'a', word: secret },
      { text: 'a', either: secret },
      secret,
    ]) {
      const { message, extras } = refusalOf(input)
      expect(JSON.stringify([message, extras])).not.toContain(secret)
    }
  })

  it('is not fooled by names of the prototype', () => {
    expect(refusalOf(JSON.parse('{"__proto__":{"text":"a"}}')).code).toBe('input_missing_field')
    expect(refusalOf(JSON.parse('{"text":"a","constructor":1}')).code).toBe('input_unknown_property')
    expect(
      parseInput(tool, JSON.parse('{"text":"a","either":{"__proto__":{"text":"b"}}}'), { hideNames }),
    ).not.toHaveProperty('either.text')
  })
})
