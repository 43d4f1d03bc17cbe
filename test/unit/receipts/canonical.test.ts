// Our own serialisation of plain documents against the library's, which judges everything else.
import canonicalize from 'canonicalize'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toCanonicalJson } from '../../../src/receipts/types.ts'

const outcomeOf = (serialize: (value: unknown) => string | undefined, value: unknown) => {
  try {
    return serialize(value)
  } catch {
    return 'refused'
  }
}

describe('canonical JSON', () => {
  it('is what the library makes of any JSON document', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
        expect(outcomeOf(toCanonicalJson, value)).toBe(outcomeOf(canonicalize, value))
      }),
      { numRuns: 500 },
    )
  })

  it('is what the library makes of a document whose members stand in order already', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
        const ordered: unknown = JSON.parse(canonicalize(JSON.parse(JSON.stringify(value).toWellFormed()))!)
        expect(toCanonicalJson(ordered)).toBe(canonicalize(ordered))
        expect(toCanonicalJson([ordered, ordered])).toBe(canonicalize([ordered, ordered]))
      }),
      { numRuns: 500 },
    )
  })

  it('is what the library makes of anything else, or as refused', () => {
    fc.assert(
      fc.property(
        fc.object({
          withDate: true,
          withBoxedValues: true,
          withNullPrototype: true,
          withMap: true,
          withSparseArray: true,
          values: [fc.string({ unit: 'binary' }), fc.double(), fc.constant(undefined), fc.boolean()],
        }),
        (value) => {
          expect(outcomeOf(toCanonicalJson, value)).toBe(outcomeOf(canonicalize, value))
        },
      ),
      { numRuns: 500 },
    )
  })

  it.each([
    [{ b: 1, a: 2 }, '{"a":2,"b":1}'],
    [{ '10': 1, '9': 2, '': 3 }, '{"":3,"10":1,"9":2}'],
    [{ '\u{20ac}': 1, '\r': 2, '\u{1f600}': 3, '\ufb33': 4 }, '{"\\r":2,"€":1,"😀":3,"\ufb33":4}'],
    [[1e21, 1e-7, 0.1, -0, 333333333.3333333], '[1e+21,1e-7,0.1,0,333333333.3333333]'],
    [{ a: undefined, b: [null, true] }, '{"b":[null,true]}'],
    [{ a: { b: 1, c: { b: 2, a: 1 } } }, '{"a":{"b":1,"c":{"a":1,"b":2}}}'],
    [{ '9': 1, '10': 2 }, '{"10":2,"9":1}'],
    [JSON.parse('{"__proto__":1,"a":2}'), '{"__proto__":1,"a":2}'],
    [{ at: new Date(0) }, '{"at":"1970-01-01T00:00:00.000Z"}'],
  ])('%j is %s', (value, text) => {
    expect(toCanonicalJson(value)).toBe(text)
  })

  it.each([2, 32, 33, 600])('sorts %i names as the library does, asked twice', (count) => {
    const names = Array.from({ length: count }, (_, i) => `${(i * 7919) % count}-"${'x'.repeat(i % 70)}`)
    const document = Object.fromEntries(names.map((name, i) => [name, i]))
    for (let turn = 0; turn < 2; turn++) expect(toCanonicalJson(document)).toBe(canonicalize(document))
  })

  it.each([[NaN], [{ a: Infinity }], ['\ud800'], [{ a: 1, '\ud800': 1 }], [{ '\ud800': 1 }], [undefined]])(
    'refuses %j',
    (value) => {
      expect(() => toCanonicalJson(value)).toThrow()
    },
  )
})
