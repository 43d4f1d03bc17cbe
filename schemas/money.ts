import { z } from 'zod'

export const CreditsCharged = z.strictObject({
  charged: z.int().min(0),
  balance: z
    .int()
    .min(0)
    .nullable()
    .describe('Credits left on the account after this call; null where the caller may not see them'),
})

/** How long a signed quote holds. */
export const QUOTE_SECONDS = 300
/** Price of one credit in atomic USDC, unless the operator sets another. */
export const DEFAULT_CREDIT_PRICE_ATOMIC = 1000n

const DECIMALS = 6

/** 3000n -> "0.003000": display only, arithmetic stays on atomic units. */
export function formatAtomic(amount: bigint): string {
  const digits = amount.toString().padStart(DECIMALS + 1, '0')
  return `${digits.slice(0, -DECIMALS)}.${digits.slice(-DECIMALS)}`
}

/** The same of a difference: in some time more may be refunded than was paid. */
export const formatSignedAtomic = (amount: bigint): string =>
  amount < 0n ? `-${formatAtomic(-amount)}` : formatAtomic(amount)
