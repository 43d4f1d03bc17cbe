import { describe, expect, it } from 'vitest'
import fc from 'fast-check'
import { bucketOf, percentileOf } from '../../../src/lib/histogram.ts'

const BOUNDS = [1, 10, 100]

describe('a histogram', () => {
  it.each([
    [0, 0],
    [1, 0],
    [1.01, 1],
    [100, 2],
    [101, 2],
  ])('puts %d into bucket %d', (value, bucket) => {
    expect(bucketOf(value, BOUNDS)).toBe(bucket)
  })

  it('has no percentile of nothing', () => {
    expect(percentileOf([0, 0, 0], BOUNDS, 0.5)).toBeNull()
  })

  it.each([
    [[1, 1, 0], 0.5, 1],
    [[1, 1, 0], 0.51, 10],
    [[19, 1, 0], 0.95, 1],
    [[18, 1, 1], 0.95, 10],
    [[0, 0, 1], 1, 100],
  ])('of %j says that %d lies under %d', (counts, share, bound) => {
    expect(percentileOf(counts, BOUNDS, share)).toBe(bound)
  })

  it('never names a bound below the true percentile, and none above its bucket', () => {
    const bounds = [1, 2, 5, 10, 25, 50, 100, 1000]
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 0, max: 1000, noNaN: true }), { minLength: 1, maxLength: 50 }),
        fc.constantFrom(0.01, 0.5, 0.95, 1),
        (values, share) => {
          const counts = bounds.map(() => 0)
          for (const value of values) counts[bucketOf(value, bounds)]!++
          const exact = values.toSorted((a, b) => a - b)[Math.ceil(values.length * share) - 1]!
          expect(percentileOf(counts, bounds, share)).toBe(bounds.find((bound) => exact <= bound))
        },
      ),
    )
  })
})
