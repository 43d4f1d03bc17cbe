import fc from 'fast-check'
import { expect, it } from 'vitest'
import { toTimestamp } from '../../../src/lib/timestamp.ts'

it('is the time in UTC with milliseconds, of whatever time was written before', () => {
  const time = fc.integer({ min: Date.UTC(-1, 0, 1), max: Date.UTC(10_001, 0, 1) })
  fc.assert(
    fc.property(fc.array(time, { minLength: 1 }), (times) => {
      const close = times.flatMap((one) => [one, one, one + 1, one + 10, one + 100, one - 1_000, one + 0.5])
      expect(close.map(toTimestamp)).toEqual(close.map((one) => new Date(one).toISOString()))
    }),
  )
})

it('refuses what is no time, as dates do', () => {
  expect(() => toTimestamp(Number.NaN)).toThrow(RangeError)
  expect(() => toTimestamp(Number.NaN)).toThrow(RangeError)
})
