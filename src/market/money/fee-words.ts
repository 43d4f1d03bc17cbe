// Explains the platform's share of a price, step by step.
import type { z } from 'zod'
import type { FeeExplained } from '../../../schemas/market-money.ts'
import type { FeeTerms } from '../../store/ports.ts'
import { allocate } from '../fee.ts'

export function explainFee(grossAtomic: bigint, terms: FeeTerms): z.output<typeof FeeExplained> {
  const { bps, fixedAtomic, minimumAtomic } = terms
  const { platformFeeAtomic, sellerProceedsAtomic } = allocate(grossAtomic, terms)
  const share = allocate(grossAtomic, { bps, fixedAtomic: 0, minimumAtomic: 0 }).platformFeeAtomic
  const sum = share + BigInt(fixedAtomic)
  const least = sum > BigInt(minimumAtomic) ? sum : BigInt(minimumAtomic)
  return {
    gross_atomic: grossAtomic.toString(),
    platform_fee_atomic: platformFeeAtomic.toString(),
    seller_proceeds_atomic: sellerProceedsAtomic.toString(),
    policy: {
      bps,
      fixed_atomic: fixedAtomic,
      minimum_atomic: minimumAtomic,
      rounding: 'ceil_to_atomic_unit',
    },
    steps: [
      `ceil(${grossAtomic} x ${bps} / 10000) = ${share}`,
      `${share} + ${fixedAtomic} fixed = ${sum}`,
      `max(${minimumAtomic}, ${sum}) = ${least}`,
      `min(${grossAtomic}, ${least}) = ${platformFeeAtomic} for the platform`,
      `${grossAtomic} - ${platformFeeAtomic} = ${sellerProceedsAtomic} for the seller`,
    ],
    notes: [
      'The terms of a call are those of its 402: they hold for that payment, whatever changes later.',
      'A call that fails is not charged, so that no fee is taken either.',
    ],
  }
}
