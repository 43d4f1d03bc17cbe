import { expect, it } from 'vitest'
import { findSchemaProblem } from '../../../../src/market/sellers/schema-rules.ts'

const deep = (levels: number): unknown => (levels === 0 ? {} : { properties: { a: deep(levels - 1) } })

it.each([
  ['none at all', 'x'],
  [
    'a reference to elsewhere in a branch that no value takes',
    { anyOf: [true, { $ref: 'https://x.example/s' }] },
  ],
  ['a file', { $ref: 'other.json#/a' }],
  ['another base', { $id: 'https://x.example/', type: 'object' }],
  ['words that nobody judges', { properties: { a: { unevaluatedProperties: false } } }],
  ['look-around in a pattern', { patternProperties: { '(?=a)': {} } }],
  ['back references', { items: { pattern: String.raw`(a)\1` } }],
  ['a long pattern', { pattern: 'a'.repeat(300) }],
  ['many patterns', { allOf: Array.from({ length: 20 }, (_, i) => ({ pattern: `a{${i}}` })) }],
  ['too deep', deep(30)],
  ['too many', { anyOf: Array.from({ length: 700 }, () => ({})) }],
  ['too large', { description: 'x'.repeat(17_000) }],
  ['an old draft', { $schema: 'http://json-schema.org/draft-07/schema#' }],
  ['a list where a schema belongs', { not: [] }],
])('refuses a schema with %s', (_, schema) => {
  expect(findSchemaProblem(schema)).toEqual(expect.any(String))
})

it.each([
  ['an object', { type: 'object', properties: { n: { type: 'integer', minimum: 1 } }, required: ['n'] }],
  ['references of its own', { $defs: { a: { type: 'string', pattern: '^[A-Z]{4}$' } }, $ref: '#/$defs/a' }],
  [
    'a property called like a word',
    { properties: { $anchor: { type: 'string' }, pattern: { type: 'string' } } },
  ],
  ['just deep enough', deep(20)],
])('keeps %s', (_, schema) => {
  expect(findSchemaProblem(schema)).toBeUndefined()
})
