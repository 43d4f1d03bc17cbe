import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { describe, expect, it } from 'vitest'
import { sampleOf } from '../../../src/documents/sample.ts'
import { createRegistry } from '../../../src/core/registry.ts'
import { tools } from '../../../tools/index.ts'

const ajv = new Ajv2020({ strict: false })
addFormats.default(ajv)

describe('a sample value', () => {
  it.each(createRegistry(tools).tools.map((entry) => [entry.tool.name, entry] as const))(
    'fits the output schema of %s',
    (_name, { outputSchema }) => {
      const validate = ajv.compile(outputSchema)
      expect(validate(sampleOf(outputSchema)), JSON.stringify(validate.errors)).toBe(true)
    },
  )

  it.each([
    [{ const: 1 }, 1],
    [{ type: 'string', default: 'x' }, 'x'],
    [{ enum: ['a', 'b'] }, 'a'],
    [{ anyOf: [{ type: 'null' }, { type: 'integer', minimum: 3 }] }, 3],
    [{ type: ['string', 'null'], pattern: '^/' }, '/'],
    [{ type: 'array', items: { type: 'boolean' } }, [false]],
    [{ type: 'object', properties: { a: { type: 'number' }, b: {} }, required: ['a'] }, { a: 0 }],
    [{ $ref: '#/$defs/a', $defs: { a: { type: 'string', format: 'uri' } } }, 'https://example.com/'],
    [{ type: 'string', minLength: 9 }, 'api.example.com'],
  ])('of %j is %j', (schema, value) => {
    expect(sampleOf(schema)).toEqual(value)
  })

  it('of a schema that contains itself ends', () => {
    const tree = { $defs: { node: { type: 'array', items: { $ref: '#/$defs/node' } } }, $ref: '#/$defs/node' }
    expect(JSON.stringify(sampleOf(tree)).length).toBeLessThan(200)
  })
})
