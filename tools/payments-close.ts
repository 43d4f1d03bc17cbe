import { z } from 'zod'
import { KnownClaimId } from '../schemas/payment-record.ts'
import { free } from '../src/core/price.ts'
import { PaymentLife } from './payments-show.ts'
import { defineTool } from './services.ts'

export const paymentsClose = defineTool({
  name: 'gateway.payments.close',
  toolset: 'operator',
  title: 'Close a payment that nobody can decide',
  summary:
    'Ends a `pending` or `unknown` payment as failed, on your word: look at the facilitator or an explorer first. Only where no chain of this ' +
    'gateway can tell, and where its authorization has expired six hours ago (seven days after it was sent where it names no end), so that its ' +
    'money cannot move afterwards. The payment buys nothing any more. Audited with your reason, final. For the administrator.',
  input: z.strictObject({
    claim_id: KnownClaimId,
    reason: z
      .string()
      .trim()
      .min(3)
      .max(500)
      .regex(/^[^\p{Cc}\p{Cs}]*$/u, 'must be one line of text')
      .describe('How you know; kept with the payment'),
  }),
  output: PaymentLife,
  price: free,
  caller: 'admin',
  doors: ['rest'],
  isForPeople: true,
  needsFreshSignIn: true,
  effects: { readOnly: false, destructive: true, idempotent: false, openWorld: false },
  rest: { method: 'POST', path: '/v1/payments/{claim_id}/close', operationId: 'closePayment' },
  errors: ['key_required', 'admin_required', 'payment_not_found', 'state_conflict'],
  examples: [
    {
      title: 'Expired, and in no block',
      input: {
        claim_id: 'clm_00000000000000000000000000000000000',
        reason: 'not in the explorer, and the facilitator has no record of it',
      },
    },
  ],
  handle: async function paymentsClose({ claim_id, reason }, { paymentRecords, caller }) {
    const closed = await paymentRecords.close(claim_id, { reason, closedBy: caller.id })
    return { ...closed, refunds: [...closed.refunds], events: [...closed.events] }
  },
})
