// How an input is published: in the words that every model API takes, without what is accepted for other clients' sake.
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { advertise, advertiseTwice, describeOutput } from '../../../src/core/advertised-schema.ts'

const member = (schema: z.ZodType, use?: 'list') => {
  const { inputSchema, listedSchema } = advertiseTwice(z.strictObject({ member: schema }))
  const { properties } = (use === 'list' ? listedSchema : inputSchema) as {
    properties: Record<string, unknown>
  }
  return properties['member']
}

describe('a published schema', () => {
  it('closes a strict object and names what is required', () => {
    expect(advertise(z.strictObject({ a: z.string(), b: z.boolean().optional() }))).toEqual({
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'boolean' } },
      required: ['a'],
      additionalProperties: false,
    })
  })

  it.each([
    [
      'names of a map are not judged',
      z.record(z.string().max(9), z.string()),
      { type: 'object', additionalProperties: { type: 'string' } },
    ],
    [
      'anything beside them is `true`',
      z.record(z.string(), z.unknown()),
      { type: 'object', additionalProperties: true },
    ],
    ['a literal is a choice of one', z.literal('a'), { type: 'string', enum: ['a'] }],
    [
      'numbers to choose from are bounds',
      z.union([z.literal(1), z.literal(2)]).meta({ advertisedAs: { enum: [1, 2] } }),
      { type: 'integer', minimum: 1, maximum: 2 },
    ],
    ['an open bound of an integer is a closed one', z.int().positive(), { type: 'integer', minimum: 1 }],
    ['the bounds of the double are not said', z.int(), { type: 'integer' }],
    ['an address has no format', z.url(), { type: 'string' }],
    [
      'base64 has no encoding',
      z.base64().max(40),
      { type: 'string', pattern: expect.any(String), maxLength: 40 },
    ],
    ['a time is a format and no expression', z.iso.datetime(), { type: 'string', format: 'date-time' }],
    ['an expression that looks around is left out', z.string().regex(/^(?=a)b$/), { type: 'string' }],
    ['a short one stays', z.string().regex(/^[a-z]+$/), { type: 'string', pattern: '^[a-z]+$' }],
    [
      'an expression of 101 characters is left out',
      z.string().regex(new RegExp('a'.repeat(101))),
      { type: 'string' },
    ],
    ['null by default is leaving it out', z.string().nullable().default(null), { type: 'string' }],
    [
      'null that says something stays, alone beside the value',
      z.string().nullable().describe('x'),
      { anyOf: [{ type: 'string', description: 'x' }, { type: 'null' }] },
    ],
    [
      'a choice of objects is `anyOf`',
      z.discriminatedUnion('t', [
        z.strictObject({ t: z.literal('a') }),
        z.strictObject({ t: z.literal('b') }),
      ]),
      { anyOf: [expect.objectContaining({ type: 'object' }), expect.objectContaining({ type: 'object' })] },
    ],
  ])('%s', (_, schema, expected) => {
    expect(member(schema)).toEqual(expected)
  })

  it('leaves out what is accepted and not advertised, at every depth', () => {
    const inner = z.strictObject({
      url: z.string().optional(),
      uri: z.string().optional().meta({ advertised: false }),
    })
    expect(Object.keys((member(inner) as { properties: object }).properties)).toEqual(['url'])
  })

  it('requires what could only be left out for something that is not advertised', () => {
    const url = z.string().optional().meta({ advertised: 'required' })
    expect(advertise(z.strictObject({ url })).required).toEqual(['url'])
  })

  it('publishes the narrower form under the member’s own description', () => {
    const intent = z.union([z.string(), z.record(z.string(), z.unknown())])
    const asText = intent
      .meta({ advertisedAs: { type: 'string' } })
      .optional()
      .describe('In words')
    expect(member(asText)).toEqual({ type: 'string', description: 'In words' })
  })

  it('does not take a member of that name for a mark', () => {
    const named = z.strictObject({ advertised: z.boolean(), listedAs: z.string() })
    expect(Object.keys((member(named) as { properties: object }).properties)).toEqual([
      'advertised',
      'listedAs',
    ])
    expect(describeOutput(named)).toHaveProperty('properties.advertised')
  })
})

describe('in a list of tools', () => {
  it('counts no characters and runs no expression', () => {
    expect(member(z.string().min(1).max(9).regex(/^a/).describe('x'), 'list')).toEqual({
      type: 'string',
      description: 'x',
    })
  })

  it('keeps what a model can keep to', () => {
    expect(member(z.int().min(2).max(30).default(30), 'list')).toEqual({
      type: 'integer',
      minimum: 2,
      maximum: 30,
      default: 30,
    })
    expect(member(z.array(z.string().describe('each')).min(1).max(3).describe('all'), 'list')).toEqual({
      type: 'array',
      description: 'all',
      items: { type: 'string' },
      maxItems: 3,
    })
    expect(member(z.array(z.string()).max(11), 'list')).not.toHaveProperty('maxItems')
    expect(member(z.enum(['a', 'b']), 'list')).toEqual({ type: 'string', enum: ['a', 'b'] })
  })

  it('says no bound and no default that anybody supposes', () => {
    expect(member(z.int().min(1).max(1_000_000), 'list')).toEqual({ type: 'integer' })
    expect(member(z.boolean().default(false), 'list')).toEqual({ type: 'boolean' })
    expect(member(z.array(z.string()).default([]), 'list')).toEqual({
      type: 'array',
      items: { type: 'string' },
    })
  })

  it('does not say that an object is closed, as all of ours are', () => {
    expect(advertiseTwice(z.strictObject({})).listedSchema).toEqual({ type: 'object', properties: {} })
    expect(member(z.looseObject({}), 'list')).toHaveProperty('additionalProperties', true)
    expect(advertiseTwice(z.looseObject({})).listedSchema).not.toHaveProperty('additionalProperties')
  })

  it('leaves out what few calls want, and lays shorter words over long ones', () => {
    expect(member(z.string().optional().meta({ listed: false }), 'list')).toBeUndefined()
    expect(member(z.string().optional().meta({ listed: false }))).toEqual({ type: 'string' })
    const long = z
      .int()
      .max(9)
      .describe('At length')
      .meta({ listedAs: { description: 'Short' } })
    expect(member(long, 'list')).toEqual({ type: 'integer', description: 'Short', maximum: 9 })
    expect(member(long)).toMatchObject({ description: 'At length' })
  })

  it('has the short form where there is one, and documents the whole', () => {
    const deep = z
      .strictObject({ a: z.string() })
      .meta({ listedAs: { type: 'object', additionalProperties: true } })
    expect(member(deep, 'list')).toEqual({ type: 'object', additionalProperties: true })
    expect(member(deep)).toHaveProperty('properties.a')
  })
})

it('describes an answer as it is, without the marks of an input', () => {
  const answer = z.strictObject({ at: z.url(), a: z.string().meta({ advertised: false }), n: z.literal(6) })
  expect(describeOutput(answer).properties).toEqual({
    at: { type: 'string', format: 'uri' },
    a: { type: 'string' },
    n: { type: 'number', const: 6 },
  })
})

it('is worked out once for a schema, however many registries have its tool', () => {
  const schema = z.strictObject({ a: z.string() })
  expect(describeOutput(schema)).toBe(describeOutput(schema))
  expect(advertiseTwice(schema)).toBe(advertiseTwice(schema))
  expect(describeOutput(z.strictObject({ b: z.string() }))).not.toBe(describeOutput(schema))
})
