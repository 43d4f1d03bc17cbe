// Schemas as people read them: every word of a schema is said, and a stranger's stays text and stays small.
import { renderToString } from 'preact-render-to-string'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { tools } from '../../../tools/index.ts'
import { createRegistry } from '../../../src/core/registry.ts'
import { isObject } from '../../../src/lib/json.ts'
import { findSchemaProblem } from '../../../src/market/sellers/schema-rules.ts'
import { schemaGroups, type SchemaRow } from '../../../src/doors/site/components/schema/rows.ts'
import { SchemaTable } from '../../../src/doors/site/components/schema-table.tsx'
import { schemaTexts } from '../../../src/doors/site/texts/schema.ts'
import { cpuMs } from '../../support/cpu-time.ts'

const rowsOf = (schema: z.ZodType | Record<string, unknown>): readonly SchemaRow[] =>
  schemaGroups(
    schema instanceof z.ZodType
      ? (z.toJSONSchema(schema, { io: 'input' }) as Record<string, unknown>)
      : schema,
    schemaTexts.en,
  ).flatMap(({ rows }) => rows)
const rowOf = (member: z.ZodType): SchemaRow => rowsOf(z.object({ member }))[0]!

describe('a field', () => {
  it.each([
    [z.string().max(300), 'text', ['at most 300 characters']],
    [z.string().min(1).max(300).optional(), 'text', ['1 to 300 characters']],
    [z.url(), 'web address', []],
    [z.int().min(1).max(131_072), 'whole number', ['1 to 131,072']],
    [z.int(), 'whole number', []],
    [z.array(z.string()).max(3), 'list of text', ['at most 3 entries']],
    [z.record(z.string(), z.string()), 'any names, each with text', []],
    [z.union([z.string(), z.boolean()]), 'text or true or false', []],
    [z.string().length(5).nullable(), 'text or null', ['exactly 5 characters']],
  ])('says its type and its limits: %#', (schema, type, limits) => {
    expect(rowOf(schema)).toMatchObject({ name: 'member', type, limits })
  })

  it('says what must be there, what it is without a word, and which values there are', () => {
    const [needed, usual, chosen] = rowsOf(
      z.object({ needed: z.string(), usual: z.int().default(7), chosen: z.enum(['a', 'b']).optional() }),
    )
    expect(needed?.isRequired).toBe(true)
    expect(usual).toMatchObject({ isRequired: false, byDefault: '7' })
    expect(chosen).toMatchObject({ isRequired: false, values: ['"a"', '"b"'], type: 'text' })
  })

  it('holds the fields of objects, of the entries of lists, and of each form of several', () => {
    const inner = z.object({ deep: z.boolean() })
    expect(rowOf(inner).groups).toMatchObject([{ label: 'Its fields', rows: [{ name: 'deep' }] }])
    expect(rowOf(z.array(inner)).groups).toMatchObject([{ label: 'Fields of each entry' }])
    expect(rowOf(inner.nullable()).groups).toMatchObject([{ label: 'Its fields' }])
    expect(rowOf(z.union([inner, z.object({ other: z.string() })])).groups.map(({ label }) => label)).toEqual(
      ['Form 1', 'Form 2'],
    )
  })
})

describe('every tool', () => {
  it.each(createRegistry(tools).tools.map((entry) => [entry.tool.name, entry] as const))(
    '%s has each of its fields in the tables',
    (_name, { inputSchema, outputSchema }) => {
      for (const schema of [inputSchema, outputSchema]) {
        const { properties } = schema
        if (!isObject(properties)) continue
        const html = renderToString(
          <SchemaTable schema={schema} page={{ language: 'ar' }} label="x" kind="input" />,
        )
        for (const name of Object.keys(properties)) expect(html).toContain(`<code dir="ltr">${name}</code>`)
        expect(html).not.toMatch(/undefined|\[object|NaN/)
      }
    },
  )
})

describe("a stranger's schema", () => {
  const draw = (schema: Record<string, unknown>) =>
    renderToString(<SchemaTable schema={schema} page={{ language: 'en' }} label="x" kind="input" isForeign />)

  it('is text, whatever it holds', () => {
    const html = draw({
      properties: {
        '<script>': {
          description: '<img src=x onerror=alert(1)>',
          pattern: '<b>',
          default: '</code><b>',
          enum: ['<i>'],
        },
        ['\u202Eevil']: { type: 'string' },
      },
    })
    expect(html).not.toMatch(/<(?:script|img|b|i)\b/)
    expect(html).toContain('U+202E')
  })

  it('that contains itself ends', () => {
    const loop: Record<string, unknown> = { properties: { again: { $ref: '#' } } }
    expect(draw(loop).length).toBeLessThan(50_000)
    expect(draw({ properties: { x: { $ref: '#/nowhere/__proto__' } } })).toContain('any value')
  })

  it.each<[string, Record<string, unknown>]>([
    ['lists of itself', { type: 'array', items: { $ref: '#' } }],
    ['a map of itself', { additionalProperties: { $ref: '#' } }],
    ['forms of itself', { anyOf: [{ $ref: '#' }, { properties: { a: { $ref: '#' } } }] }],
    [
      'a field of many forms of itself',
      { properties: { a: { anyOf: Array.from({ length: 60 }, () => ({ $ref: '#' })) } } },
    ],
    ['forms that have two forms each, sixteen times', doubling(16)],
    ['forms that have two forms each, a hundred times', doubling(100)],
    ['long words that every row repeats', repeating()],
  ])('costs no more for %s', (_what, schema) => {
    expect(findSchemaProblem(schema)).toBeUndefined()
    const took = cpuMs(() => expect(draw(schema).length).toBeLessThan(150_000))
    expect(took).toBeLessThan(1000)
  })

  it('that is wide and deep is cut, and says so', () => {
    const wide = (depth: number): Record<string, unknown> => ({
      properties: Object.fromEntries(
        Array.from({ length: 12 }, (_, at) => [`f${at}`, depth === 0 ? {} : wide(depth - 1)]),
      ),
    })
    const html = draw(wide(3))
    expect(html.match(/<tr/g)?.length).toBeLessThan(2000)
    expect(html).toContain('The rest is in the JSON Schema.')
  })
})

/** Small as a text, and as large as two to the `times` where each form is followed. */
function doubling(times: number): Record<string, unknown> {
  const forms = Array.from({ length: times }, (_form, at) => {
    const next = { $ref: `#/$defs/a${at + 1}` }
    return [`a${at}`, { anyOf: [next, next] }]
  })
  return {
    $defs: { ...Object.fromEntries(forms), [`a${times}`]: { properties: { x: { type: 'string' } } } },
    $ref: '#/$defs/a0',
  }
}

function repeating(): Record<string, unknown> {
  const names = Array.from({ length: 300 }, (_name, at) => [`p${at}`, { $ref: '#/$defs/e' }])
  return {
    $defs: { e: { enum: Array(60).fill('v'.repeat(100)) } },
    properties: Object.fromEntries(names),
  }
}
