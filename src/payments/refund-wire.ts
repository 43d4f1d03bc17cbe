// A refund as answers show it: to its payer, and with everything to the operator.
import type { z } from 'zod'
import { formatAtomic } from '../../schemas/money.ts'
import type { SignedReceipt } from '../../schemas/receipt.ts'
import type { OperatorRefund, RefundRecord } from '../../schemas/refund.ts'
import type { Refund } from '../store/ports.ts'

const moment = (millis: number) => new Date(millis).toISOString()

/** What the payer is told: neither the operator's reason nor its reference. */
export const toRefundRecord = (
  refund: Refund,
  receipt: SignedReceipt | null,
): z.output<typeof RefundRecord> => ({
  refund_id: refund.id,
  state: refund.state,
  amount_atomic: refund.amount,
  amount: formatAtomic(BigInt(refund.amount)),
  transaction: refund.transaction,
  receipt,
  created_at: moment(refund.createdAt),
  finished_at: refund.finishedAt === null ? null : moment(refund.finishedAt),
})

/** What the operator is told. */
export const toOperatorRefund = (
  refund: Refund,
  receipt: SignedReceipt | null,
): z.output<typeof OperatorRefund> => ({
  ...toRefundRecord(refund, receipt),
  claim_id: refund.claimId,
  reference: refund.reference,
  reason: refund.reason,
  network: refund.network,
  asset: refund.asset,
  to: refund.payer,
  from: refund.sender,
  credits_taken_back: refund.credits,
  failure: refund.failure,
  sent_until: moment(refund.validBefore),
})

/** Atomic units that are back with the payer. */
export const refundedOf = (refunds: readonly Pick<Refund, 'state' | 'amount'>[]): bigint =>
  refunds.reduce((sum, { state, amount }) => (state === 'settled' ? sum + BigInt(amount) : sum), 0n)
