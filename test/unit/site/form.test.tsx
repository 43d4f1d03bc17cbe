// Forms made from schemas: what is filled in is what is sent, for every input that there is.
import fc from 'fast-check'
import { renderToString } from 'preact-render-to-string'
import { describe, expect, it } from 'vitest'
import { createRegistry } from '../../../src/core/registry.ts'
import { FormFields } from '../../../src/doors/site/components/form/fields.tsx'
import { type FieldFault, readForm } from '../../../src/doors/site/components/form/read.ts'
import type { Schema } from '../../../src/doors/site/components/form/schema.ts'
import { formTexts } from '../../../src/doors/site/texts/form.ts'
import { tools } from '../../../tools/index.ts'
import { submittedBy } from '../../support/submitted-form.ts'

const registry = createRegistry(tools)
const t = formTexts.en

const draw = (schema: Schema, value: Record<string, unknown>, faults: readonly FieldFault[] = []) =>
  renderToString(
    <FormFields
      schema={schema}
      value={value}
      faults={faults}
      t={t}
      id="try"
      hidden={[]}
      secret={['secret']}
    />,
  )
const roundTrip = (schema: Schema, value: Record<string, unknown>) =>
  readForm(submittedBy(draw(schema, value)), schema, t)

const examples = registry.tools.flatMap(({ tool, inputSchema }) =>
  tool.examples.map(({ title, input }) => ({ name: `${tool.name}: ${title}`, inputSchema, input })),
)

describe('a form filled with an example of its tool', () => {
  it.each(examples)('gives exactly that back: $name', ({ inputSchema, input }) => {
    expect(roundTrip(inputSchema, input as Record<string, unknown>)).toEqual({ input, faults: [] })
  })

  it('has a control for each member that the schema names', () => {
    for (const { tool, inputSchema } of registry.tools) {
      const html = draw(inputSchema, {})
      for (const name of Object.keys((inputSchema['properties'] ?? {}) as object))
        expect(html, tool.name).toMatch(new RegExp(`(?:name="(?:\\w+:)?/${name}["/]|<code>${name}</code>)`))
    }
  })
})

describe('a form', () => {
  const schema: Schema = {
    type: 'object',
    properties: {
      text: { type: 'string' },
      long: { type: 'string', maxLength: 9000 },
      number: { type: 'number' },
      whole: { type: 'integer' },
      yes: { type: 'boolean', default: false },
      choice: { type: 'string', enum: ['a', 'b'] },
      lines: { type: 'array', items: { type: 'string' } },
      boxes: { type: 'array', items: { type: 'string', enum: ['GET', 'POST', 'PUT'] } },
      headers: { type: 'object', additionalProperties: { type: 'string' } },
      open: { type: 'object', properties: {}, additionalProperties: true },
      maybe: { anyOf: [{ type: 'string' }, { type: 'null' }] },
      inner: {
        type: 'object',
        properties: {
          url: { type: 'string' },
          deep: { type: 'object', properties: { n: { type: 'integer' } } },
        },
        required: ['url'],
      },
    },
    required: ['text'],
  }

  it('leaves out what is empty', () => {
    expect(roundTrip(schema, {})).toEqual({ input: {}, faults: [] })
  })

  it.each<[string, Record<string, unknown>]>([
    ['false, which is not the same as nothing said', { yes: false }],
    ['an empty text', { text: '' }],
    ['a text of several lines where a line is usual', { text: 'a\nb' }],
    ['carriage returns', { text: 'a\r\nb', long: '\r' }],
    ['a text that begins with a line break', { long: '\na' }],
    ['a number in a text', { text: '1' }],
    ['a large number', { whole: 1e21, number: -0.5 }],
    ['choices out of their order', { boxes: ['PUT', 'GET'] }],
    ['an unknown choice', { choice: 'c', boxes: ['PATCH'] }],
    ['an empty list', { lines: [], boxes: [] }],
    ['a list with empty lines', { lines: ['', 'a'] }],
    ['a row called __proto__', { headers: JSON.parse('{"__proto__":"x","constructor":"y"}') as object }],
    ['rows with spaces and quotes', { headers: { ' a ': ' "b" ', c: '' } }],
    ['rows without a name', { headers: { '': 'x' } }],
    ['null where it may be', { maybe: null }],
    ['an empty object', { inner: {}, open: {} }],
    ['members that the schema does not name', { target: 'x', uri: [1] }],
    ['members of a part that the schema does not name', { inner: { url: 'x', more: 1 } }],
    ['parts of parts', { inner: { deep: { n: 3 } } }],
    ['values of wrong types', { text: 1, lines: 'x', headers: [], inner: 'x', yes: 'true' }],
    ['markup', { text: '"><script>alert(1)</script>', long: '</textarea><script>alert(1)</script>' }],
  ])('shows %s, and gives it back', (_what, value) => {
    expect(roundTrip(schema, value)).toEqual({ input: value, faults: [] })
  })

  it('gives any JSON back', () => {
    const members = Object.keys(schema['properties'] as object)
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom(...members, 'other'), fc.jsonValue({ maxDepth: 3 })),
        (value) => {
          expect(roundTrip(schema, value).input).toEqual(JSON.parse(JSON.stringify(value)))
        },
      ),
      { numRuns: 60 },
    )
  })

  it('turns texts into the types of the schema, and leaves the gateway to refuse what is none', () => {
    const entries = new URLSearchParams('/whole=12&/number=x&/yes=true&/text=12')
    expect(readForm(entries, schema, t).input).toEqual({ whole: 12, number: 'x', yes: true, text: '12' })
  })

  it('ignores names that the schema does not know', () => {
    const entries = new URLSearchParams(
      '/__proto__/x=1&/constructor/prototype/x=1&/inner/nothing=1&json:/zzz={}&submit=1',
    )
    expect(readForm(entries, schema, t)).toEqual({ input: {}, faults: [] })
    expect(({} as Record<string, unknown>)['x']).toBeUndefined()
  })

  it('says where JSON is none', () => {
    expect(readForm([['json:/open', '{"a"']], schema, t).faults).toEqual([
      { pointer: '/open', message: t.notJson },
    ])
    expect(readForm([['rest:', '[1]']], schema, t).faults).toEqual([{ pointer: '', message: t.notJson }])
  })

  it('shows a fault at its field, and tells who hears the page', () => {
    const html = draw(schema, { lines: ['x'] }, [{ pointer: '/lines/0', message: 'is no address' }])
    expect(html).toMatch(
      /<textarea id="try\/lines" aria-describedby="try\/lines-hint try\/lines-fault" aria-invalid="true"/,
    )
    expect(html).toMatch(/id="try\/lines-fault"[^>]*>.*<code>\/0<\/code>.*is no address/)
  })

  it('opens the fold that holds a fault', () => {
    expect(draw(schema, {})).not.toContain('<details class="more-fields" open')
    expect(draw(schema, {}, [{ pointer: '/choice', message: 'x' }])).toContain(
      '<details class="more-fields" open',
    )
  })

  it('hides a secret from who looks on', () => {
    const html = draw({ properties: { secret: { type: 'string' } } }, {})
    expect(html).toContain('type="password"')
    expect(html).toContain('autocomplete="off"')
  })
})
