// Says who is not paid, before anything is written, and what a refused transfer means. What is not paid stays owed.
import type { PaymentNetwork } from '../../core/networks.ts'
import { ChainError } from '../../payments/chain-ports.ts'
import type { Seller } from '../../store/ports.ts'

/** Stable words; docs/guides/selling.md says what a seller does about each. */
export type HoldReason =
  | 'seller_unknown'
  | 'seller_suspended'
  | 'recipient_is_the_token'
  | 'recipient_is_the_gateway'
  | 'recipient_is_nobody'
  | 'recipient_refused_by_token'
  | 'transfer_refused'
  | 'transfer_needs_too_much_gas'
  | 'payout_account_short'
  | 'chain_unanswered'
  | 'payout_interrupted'

const NOBODY = /^0x0{39}[0-9a-f]$/

/** @param own addresses that the gateway's money leaves from or comes to, lower-case */
export function findHold(
  seller: Pick<Seller, 'state' | 'payoutAddress'> | undefined,
  network: PaymentNetwork,
  own: ReadonlySet<string>,
): HoldReason | undefined {
  if (!seller) return 'seller_unknown'
  if (seller.state === 'suspended') return 'seller_suspended'
  const address = seller.payoutAddress.toLowerCase()
  if (address === network.asset.address.toLowerCase()) return 'recipient_is_the_token'
  if (own.has(address)) return 'recipient_is_the_gateway'
  // The zero address, and those of the chain's own precompiled contracts: nobody has a key of theirs.
  return NOBODY.test(address) ? 'recipient_is_nobody' : undefined
}

/** @param refusal what the token says against the transfer; null where it would take it */
export function readRefusal(refusal: string | null): HoldReason | undefined {
  if (refusal === null) return undefined
  if (/out of gas/i.test(refusal)) return 'transfer_needs_too_much_gas'
  if (/exceeds balance/i.test(refusal)) return 'payout_account_short'
  return /blacklist/i.test(refusal) ? 'recipient_refused_by_token' : 'transfer_refused'
}

/** Whether the chain gave no answer at all: it is no fault of the seller that was asked about. */
export const isSilence = (thrown: unknown): boolean =>
  thrown instanceof ChainError && (thrown.reason === 'timeout' || thrown.reason === 'unreachable')

/** What it means that a payout could not be begun; the log has the rest. */
export const readFailure = (thrown: unknown): HoldReason =>
  thrown instanceof ChainError ? 'chain_unanswered' : 'payout_interrupted'
