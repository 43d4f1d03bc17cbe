import { expect, it } from 'vitest'
import { findMisfits } from '../../../../src/market/calls/misfits.ts'

const schema = {
  $defs: { Small: { type: 'integer', maximum: 9 } },
  type: 'object',
  properties: {
    limit: { $ref: '#/$defs/Small' },
    word: { type: 'string', pattern: '^(a+)+$' },
    'a/b': { type: 'string' },
  },
  required: ['word'],
  additionalProperties: false,
}

it('names what is missing, what is not known and what does not fit, by pointers', () => {
  expect(findMisfits(schema, { limit: 10, other: 1, 'a/b': 2 }, '/body')).toEqual([
    { pointer: '/body/word', message: 'is required' },
    { pointer: '/body/limit', message: 'does not fit' },
    { pointer: '/body/other', message: 'is not known' },
    { pointer: '/body/a~1b', message: 'does not fit' },
  ])
})

it('names nothing where all fits, and leaves patterns to the verdict', () => {
  expect(findMisfits(schema, { limit: 9, word: 'b' })).toEqual([])
  expect(findMisfits(true, { limit: 9 })).toEqual([])
  expect(findMisfits(schema, 'word')).toEqual([])
})

it('names eight at most, of thirty-two members', () => {
  const many = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`m${i}`, i]))
  expect(findMisfits(schema, { word: 'a', ...many })).toHaveLength(8)
})
