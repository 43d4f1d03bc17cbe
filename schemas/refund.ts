import { z } from 'zod'
import { Timestamp } from './http.ts'
import { Receipt } from './receipt.ts'

/** Id of a payment, as answers name it. */
export const ClaimId = z.string().min(1).max(64).describe('clm_…')

/** Money that goes back to the payer of a settled payment. */
export const RefundRecord = z.strictObject({
  refund_id: z.string(),
  state: z
    .enum(['recorded', 'submitted', 'settled', 'failed'])
    .describe(
      '`settled`: the chain has it. `failed`: nothing was sent back, and never will be. Others: on its way',
    ),
  amount_atomic: z.string().describe('Atomic units'),
  amount: z.string().describe('Decimal, for display'),
  transaction: z.string().nullable(),
  receipt: Receipt.nullable().describe('Once settled'),
  created_at: Timestamp,
  finished_at: Timestamp.nullable(),
})

/** The same for the operator. */
export const OperatorRefund = RefundRecord.extend({
  claim_id: z.string(),
  reference: z.string(),
  reason: z.string(),
  network: z.string().describe('CAIP-2 id'),
  asset: z.string(),
  to: z.string().describe('The payer of the payment: a refund goes to nobody else'),
  from: z.string().describe('The refund account of the gateway'),
  credits_taken_back: z.int().min(0).describe('Of a purchase of credits'),
  failure: z.string().nullable().describe('Stable word for why it failed'),
  sent_until: Timestamp.describe('What is in no block by then fails, and can be refunded anew'),
})
