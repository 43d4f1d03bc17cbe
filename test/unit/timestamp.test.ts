import fc from 'fast-check'
import { expect, it } from 'vitest'
import { toTimestamp } from '../../src/timestamp.ts'

it('is the time in UTC with milliseconds, of whatever time was written before', () => {
  const time = fc.integer({ min: 0, max: Date.UTC(9999, 11, 31) })
  fc.assert(
    fc.property(fc.array(time, { minLength: 1 }), (times) => {
      const twice = times.flatMap((one) => [one, one])
      expect(twice.map(toTimestamp)).toEqual(twice.map((one) => new Date(one).toISOString()))
    }),
  )
})

it('refuses what is no time, as dates do', () => {
  expect(() => toTimestamp(Number.NaN)).toThrow(RangeError)
  expect(() => toTimestamp(Number.NaN)).toThrow(RangeError)
})
