import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { coerceText, readQuery } from '../../../src/core/query.ts'

describe('coerceText', () => {
  it.each([
    ['10', { type: 'integer' }, 10],
    ['-10', { type: 'integer' }, -10],
    ['1.5', { type: 'number' }, 1.5],
    ['10', { type: ['integer', 'null'] }, 10],
    ['10', { anyOf: [{ type: 'integer' }, { type: 'null' }] }, 10],
    ['true', { type: 'boolean' }, true],
    ['false', { type: 'boolean' }, false],
    // The nearest that stay text, for the schema to refuse.
    ['1e3', { type: 'integer' }, '1e3'],
    ['0x10', { type: 'integer' }, '0x10'],
    [' 10', { type: 'integer' }, ' 10'],
    ['', { type: 'number' }, ''],
    ['1234567890123456', { type: 'integer' }, '1234567890123456'],
    ['TRUE', { type: 'boolean' }, 'TRUE'],
    ['1', { type: 'boolean' }, '1'],
    ['10', { type: 'string' }, '10'],
    ['10', undefined, '10'],
  ])('%j under %j is %j', (text, schema, value) => {
    expect(coerceText(text, schema)).toBe(value)
  })
})

describe('readQuery', () => {
  const schema = {
    properties: {
      a: { type: 'string' },
      n: { type: 'integer' },
      list: { type: 'array', items: { type: 'integer' } },
    },
  }

  it.each([
    ['', {}],
    ['a=b', { a: 'b' }],
    ['a=b%20c+d', { a: 'b c d' }],
    ['a', { a: '' }],
    ['list=1&list=2', { list: [1, 2] }],
    ['other=1', { other: '1' }],
    ['toString=1', { toString: '1' }],
  ])('%j is %j', (query, value) => {
    expect(readQuery(query, schema)).toEqual(value)
  })

  it('refuses a single value that comes twice, known or not', () => {
    expect(() => readQuery('a=1&a=1', schema)).toThrow(/once/)
    expect(() => readQuery('x=1&x=2', schema)).toThrow(/once/)
  })

  it('gives back any text that was encoded', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const whole = text.toWellFormed()
        expect(readQuery(`a=${encodeURIComponent(whole)}`, schema)).toEqual({ a: whole })
      }),
    )
  })

  it('makes no prototype of a key', () => {
    const value = readQuery('__proto__=1', schema)
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
    expect(Object.hasOwn(value, '__proto__')).toBe(true)
  })
})
