import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { allocate } from '../../../src/market/fee.ts'

const terms = (bps: number, fixedAtomic = 0, minimumAtomic = 0) => ({ bps, fixedAtomic, minimumAtomic })

describe('the platform fee', () => {
  it.each([
    ['the feed digest: 3 % of 0.1 USDC', 100_000n, terms(300), 3_000n],
    ['rounds up to a whole atomic unit', 1n, terms(1), 1n],
    ['rounds nothing where it is whole already', 10_000n, terms(1), 1n],
    ['adds the fixed part to the share', 10_000n, terms(300, 50), 350n],
    ['is at least the minimum', 10_000n, terms(300, 0, 1_000), 1_000n],
    ['is the share where that is more than the minimum', 100_000n, terms(300, 0, 2_999), 3_000n],
    ['is never more than the price', 500n, terms(300, 0, 1_000), 500n],
    ['is nothing where nothing is asked', 100_000n, terms(0), 0n],
  ])('%s', (_title, gross, fee, expected) => {
    expect(allocate(gross, fee)).toEqual({
      grossAtomic: gross,
      platformFeeAtomic: expected,
      sellerProceedsAtomic: gross - expected,
    })
  })

  it('and the proceeds sum to the price, and neither is below zero', () => {
    const amount = fc.bigInt({ min: 0n, max: 10n ** 15n })
    const part = fc.integer({ min: 0, max: 1_000_000 })
    fc.assert(
      fc.property(amount, fc.integer({ min: 0, max: 10_000 }), part, part, (gross, bps, fixed, minimum) => {
        const made = allocate(gross, terms(bps, fixed, minimum))
        expect(made.platformFeeAtomic + made.sellerProceedsAtomic).toBe(gross)
        expect(made.platformFeeAtomic >= 0n && made.sellerProceedsAtomic >= 0n).toBe(true)
      }),
    )
  })
})
