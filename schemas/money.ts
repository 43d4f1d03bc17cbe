import { z } from 'zod'

/** How a tool is paid for. Amounts are whole credits or atomic units of USDC (6 decimals), never floats. */
export type Price =
  | {
      readonly kind: 'free'
      /** What a call costs once an allowance is used up. */
      readonly creditsBeyondAllowance?: number
      /** What some calls cost at once, in atomic USDC; `terms` say which. */
      readonly sometimes?: { readonly fromAtomic: bigint; readonly toAtomic: bigint }
    }
  | { readonly kind: 'credits'; readonly credits: number }
  /** The tool's `terms` say what a very call costs; this is the usual amount. */
  | { readonly kind: 'x402'; readonly amountAtomic: bigint }

export const free: Price = { kind: 'free' }
/** Free, unless the call asks for what costs between these. */
export const freeOr = (fromAtomic: bigint, toAtomic: bigint): Price => ({
  kind: 'free',
  sometimes: { fromAtomic, toAtomic },
})
/** Free up to an allowance, then credits. */
export const allowance = (creditsBeyondAllowance: number): Price => ({ kind: 'free', creditsBeyondAllowance })
export const credits = (count: number): Price => ({ kind: 'credits', credits: count })

export const x402 = (amountAtomic: bigint): Price => ({ kind: 'x402', amountAtomic })

export const CreditsCharged = z.object({
  charged: z.int().min(0),
  balance: z.int().min(0).describe('Credits left on the account after this call'),
})

/** How long a signed quote holds. */
export const QUOTE_SECONDS = 300
/** Of one credit, unless the operator says otherwise. */
export const DEFAULT_CREDIT_PRICE_ATOMIC = 1000n

const DECIMALS = 6

/** 3000n -> "0.003000": display only, arithmetic stays on atomic units. */
export function formatAtomic(amount: bigint): string {
  const digits = amount.toString().padStart(DECIMALS + 1, '0')
  return `${digits.slice(0, -DECIMALS)}.${digits.slice(-DECIMALS)}`
}
