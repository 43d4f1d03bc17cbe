import { z } from 'zod'
import { Timestamp } from '../schemas/http.ts'
import { ChainFinding, KnownClaimId, PaymentRecord, PaymentState } from '../schemas/payment-record.ts'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

export const paymentsReconcile = defineTool({
  name: 'gateway.payments.reconcile',
  toolset: 'operator',
  title: 'Ask what became of a payment',
  summary:
    'Asks the chain of a payment that is not decided now, instead of in the next round, writes what it shows, and says what was found and ' +
    'what to do next. Nothing is sent but what this gateway had settled before and its chain took back. For the administrator.',
  input: z.strictObject({ claim_id: KnownClaimId }),
  output: z.strictObject({
    payment: PaymentRecord,
    was: PaymentState,
    chain: ChainFinding.nullable().describe('What its chain shows now; null where nobody had to be asked'),
    says: z.string().describe('What was found, and what to do next'),
    closable_from: Timestamp.nullable().describe('When it may be closed by hand; null: never'),
  }),
  price: free,
  caller: 'admin',
  doors: ['rest'],
  effects: { readOnly: false, destructive: false, idempotent: true, openWorld: true },
  rest: { method: 'POST', path: '/v1/payments/{claim_id}/reconcile', operationId: 'reconcilePayment' },
  errors: ['key_required', 'admin_required', 'payment_not_found'],
  examples: [{ title: 'One payment', input: { claim_id: 'clm_00000000000000000000000000000000000' } }],
  handle: async function paymentsReconcile({ claim_id }, { paymentRecords }) {
    return paymentRecords.reconcile(claim_id)
  },
})
