import { z } from 'zod'
import { ClaimId, OperatorRefund } from '../schemas/refund.ts'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

export const paymentsRefund = defineTool({
  name: 'gateway.payments.refund',
  toolset: 'operator',
  title: 'Refund a payment',
  summary:
    'Sends a settled payment for a tool of this gateway back to its payer, all of it or a part, as a transfer in the same asset. ' +
    'Never more than was paid, and to nobody else. Credits that it bought are taken back with it. The reference makes it ' +
    'safe to repeat. For the administrator.',
  brief: 'Sends a settled payment back to its payer, whole or in part. The reference makes a repeat safe.',
  input: z.strictObject({
    claim_id: ClaimId,
    amount_atomic: z
      .string()
      .regex(/^[1-9]\d{0,77}$/)
      .optional()
      .describe('Atomic units; all by default'),
    reason: z.string().trim().min(1).max(200).describe('For your records'),
    reference: z.string().trim().min(1).max(200).describe('Yours, such as a ticket; refunded once'),
  }),
  output: OperatorRefund.extend({
    repeated: z.boolean().describe('True when this reference was refunded before: nothing more is sent'),
  }),
  price: free,
  caller: 'admin',
  needsFreshSignIn: true,
  effects: { readOnly: false, destructive: true, idempotent: true, openWorld: true },
  rest: {
    method: 'POST',
    path: '/v1/payments/{claim_id}/refunds',
    operationId: 'refundPayment',
    status: 201,
  },
  errors: ['key_required', 'admin_required', 'payment_not_found', 'state_conflict', 'payments_unavailable'],
  examples: [
    {
      title: 'Half of a payment',
      input: {
        claim_id: 'clm_00000000000000000000000000000000000',
        amount_atomic: '5000',
        reason: 'the page was empty',
        reference: 'ticket 4711',
      },
    },
  ],
  handle: async function paymentsRefund({ claim_id, amount_atomic, reason, reference }, { refunds, caller }) {
    const { accountId } = caller
    const { refund, repeated } = await refunds.refund({
      claimId: claim_id,
      amount: amount_atomic,
      reason,
      reference,
      accountId,
    })
    return { ...(await refunds.show(refund)), repeated }
  },
})
