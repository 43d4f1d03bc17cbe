// The `pricing` object of a catalogue entry, to the field table of the specification.
import { formatAtomic, QUOTE_SECONDS } from '../../schemas/money.ts'

const DECIMALS = 6

/** @param delivered what the outcome contains */
export function priceOf(amountAtomic: bigint, delivered: string): Record<string, unknown> {
  const paid = amountAtomic > 0n
  return {
    amount_atomic: amountAtomic.toString(),
    amount: formatAtomic(amountAtomic),
    currency: 'USDC',
    decimals: DECIMALS,
    unit: 'bounded execution',
    exact: true,
    includes_fallback: true,
    delivered,
    payment: paid ? 'x402 v2: the payer must be funded; no account is needed' : null,
    quote_expires_seconds: paid ? QUOTE_SECONDS : null,
  }
}
