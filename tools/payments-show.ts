import { z } from 'zod'
import { Timestamp } from '../schemas/http.ts'
import { KnownClaimId, PaymentEvent, PaymentRecord } from '../schemas/payment-record.ts'
import { OperatorRefund } from '../schemas/refund.ts'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

/** The whole life of a payment. */
export const PaymentLife = z.strictObject({
  payment: PaymentRecord,
  bound_to: z.strictObject({
    requirement_digest: z.string().describe('Of the terms that it accepted'),
    request_digest: z.string().describe('Of the request that it pays for'),
    buyer_known_by: z
      .enum(['challenge', 'identifier', 'signature'])
      .describe('What opens its result: a secret in the payment, else a signature of the wallet'),
  }),
  settlement: z.strictObject({
    block: z.int().nullable().describe('Where its chain has it'),
    confirmations_needed: z.int(),
    may_still_settle: z.boolean().describe('It failed, and its authorization has not expired: it is watched'),
  }),
  result: z
    .strictObject({
      sha256: z.string(),
      kept_until: Timestamp.nullable().describe('Null: not kept any more'),
    })
    .nullable()
    .describe('What it buys, never its content'),
  receipt: z
    .strictObject({
      receipt_id: z.string(),
      withdrawn_at: Timestamp.nullable().describe('Its chain took the settlement back'),
      replaced_by: z.string().nullable(),
    })
    .nullable(),
  settlement_fee: z
    .strictObject({ paid_by: z.enum(['allowance', 'credits']), month: z.string() })
    .nullable()
    .describe('What a settlement for another seller was paid with'),
  refunded_atomic: z.string().describe('Atomic units that are back with the payer'),
  refundable_atomic: z.string().describe('Atomic units that may still be refunded'),
  refunds: z.array(OperatorRefund).describe('Oldest first'),
  closed: z
    .strictObject({
      was: z.enum(['pending', 'unknown']),
      reason: z.string(),
      closed_by: z.string(),
      closed_at: Timestamp,
    })
    .nullable()
    .describe('An operator closed it by hand'),
  events: z.array(PaymentEvent).describe('What happened to it, oldest first'),
})

export const paymentsShow = defineTool({
  name: 'gateway.payments.show',
  toolset: 'operator',
  title: 'Show the life of a payment',
  summary:
    'Everything that is known of one payment: what it was bound to, who settled it and in which block, its receipt, whether its result is ' +
    'still kept, refunds, what a settlement for another seller cost, and all that happened in order. For the administrator.',
  input: z.strictObject({ claim_id: KnownClaimId }),
  output: PaymentLife,
  price: free,
  caller: 'admin',
  doors: ['rest'],
  effects: { readOnly: true, idempotent: true, openWorld: false },
  rest: { method: 'GET', path: '/v1/payments/{claim_id}/record', operationId: 'showPayment' },
  errors: ['key_required', 'admin_required', 'payment_not_found'],
  examples: [{ title: 'One payment', input: { claim_id: 'clm_00000000000000000000000000000000000' } }],
  handle: async function paymentsShow({ claim_id }, { paymentRecords }) {
    const { refunds, events, ...life } = await paymentRecords.show(claim_id)
    return { ...life, refunds: [...refunds], events: [...events] }
  },
})
