// The platform's share of a price. Rounded up to a whole atomic unit, never more than the price itself.
import type { FeeTerms } from '../store/ports.ts'

const BPS = 10_000n

export interface Allocation {
  readonly grossAtomic: bigint
  readonly platformFeeAtomic: bigint
  readonly sellerProceedsAtomic: bigint
}

/**
 * fee = min(amount, max(minimum, ceil(amount x bps / 10000) + fixed)). Source: specification, "Marketplace service listing".
 * @param grossAtomic atomic units that the buyer pays, 0 or more
 */
export function allocate(grossAtomic: bigint, terms: FeeTerms): Allocation {
  const share = (grossAtomic * BigInt(terms.bps) + BPS - 1n) / BPS + BigInt(terms.fixedAtomic)
  const least = BigInt(terms.minimumAtomic)
  const wanted = share > least ? share : least
  const platformFeeAtomic = wanted < grossAtomic ? wanted : grossAtomic
  return { grossAtomic, platformFeeAtomic, sellerProceedsAtomic: grossAtomic - platformFeeAtomic }
}
