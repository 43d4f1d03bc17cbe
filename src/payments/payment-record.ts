// A payment as its operator is shown it: in lists, files and pages.
import { formatAtomic } from '../../schemas/money.ts'
import type { PaymentRecord } from '../../schemas/payment-record.ts'
import { toTimestamp, toTimestampOrNull } from '../lib/timestamp.ts'
import type { PaymentClaim } from '../store/ports.ts'

/** Leaves out what tells a buyer from another: digests, and the identifier that opens a result. */
export const toPaymentRecord = (claim: PaymentClaim): PaymentRecord => ({
  claim_id: claim.id,
  state: claim.state,
  reason: claim.reason,
  origin: claim.origin,
  tool: claim.tool,
  method: claim.method,
  resource: claim.resource,
  network: claim.network,
  asset: claim.asset,
  amount_atomic: claim.amount,
  amount: formatAtomic(BigInt(claim.amount)),
  payer: claim.payer,
  pay_to: claim.payTo,
  nonce: claim.nonce,
  transaction: claim.transaction,
  upstream: claim.upstream,
  credits_bought: claim.purchase?.credits ?? null,
  account_id: claim.accountId ?? claim.purchase?.accountId ?? null,
  created_at: toTimestamp(claim.createdAt),
  submitted_at: toTimestampOrNull(claim.submittedAt),
  finished_at: toTimestampOrNull(claim.finishedAt),
  valid_before: toTimestampOrNull(claim.validBefore),
  receipt_id: claim.receiptId,
})
