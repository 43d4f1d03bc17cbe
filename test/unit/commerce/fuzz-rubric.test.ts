// Transactions with anything in them, and text that is none: the rubric reads all of it and throws at nothing.
import fc from 'fast-check'
import { describe, expect, inject, it } from 'vitest'
import { Transaction } from '../../../schemas/commerce.ts'
import { testTransaction } from '../../../src/commerce/rubric/report.ts'
import { SAMPLES } from '../../data/commerce/samples.ts'
import { change, membersOf, type Plain, type SampleSource, wire } from '../../support/commerce.ts'

const RUNS = Math.min(10 * inject('fuzzInputs'), 3000)
/** A hundred in the long tests. */
const REPEATS = Math.min(inject('fuzzInputs') / 10, 100)

it.each(Object.entries(SAMPLES))(
  'the report on %s is the same bytes however often it is made',
  (_name, sample) => {
    const texts = new Set(
      Array.from({ length: REPEATS }, () => JSON.stringify(testTransaction(wire(sample)))),
    )
    expect(texts.size).toBe(1)
  },
)

describe('a report of anything at all', () => {
  const places = Object.entries(SAMPLES).flatMap(([name, sample]) =>
    [...membersOf(sample as unknown as Plain)].map((at): [string, string] => [name, at]),
  )

  it('random JSON never throws, wherever it stands', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...places),
        fc.oneof(fc.jsonValue({ maxDepth: 4 }), fc.string({ unit: 'binary' }), fc.constant(null)),
        ([name, at], value) => {
          if (at === '/target') return
          let changed: SampleSource
          try {
            changed = change(SAMPLES[name]!, [{ op: 'set', at, value: value as Plain }])
          } catch {
            return
          }
          const sample = Transaction.safeParse(wire(changed))
          if (!sample.success) return
          const report = testTransaction(sample.data)
          expect(report.score).toBeGreaterThanOrEqual(0)
          expect(report.score).toBeLessThanOrEqual(100)
          expect(report.report_hash).toMatch(/^[\da-f]{64}$/)
        },
      ),
      { numRuns: RUNS },
    )
  })

  it('text of any kind as target, header or body never throws', () => {
    const text = fc.string({ unit: 'binary', maxLength: 200 })
    fc.assert(
      fc.property(
        text,
        fc.dictionary(text, fc.oneof(text, fc.array(text, { maxLength: 3 }))),
        text,
        (target, headers, body) => {
          expect(testTransaction({ target, headers, body }).structural).toBe(true)
        },
      ),
      { numRuns: RUNS },
    )
  })
})
