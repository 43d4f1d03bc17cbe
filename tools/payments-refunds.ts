import { z } from 'zod'
import { ClaimId, OperatorRefund } from '../schemas/refund.ts'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

export const paymentsRefunds = defineTool({
  name: 'gateway.payments.refunds',
  toolset: 'operator',
  title: 'List refunds of a payment',
  summary: 'What was, and is being, sent back of one payment, oldest first. For the administrator.',
  brief: 'Refunds of one payment, oldest first.',
  input: z.strictObject({ claim_id: ClaimId }),
  output: z.strictObject({ refunds: z.array(OperatorRefund) }),
  price: free,
  caller: 'admin',
  effects: { readOnly: true, idempotent: true, openWorld: false },
  rest: { method: 'GET', path: '/v1/payments/{claim_id}/refunds', operationId: 'listRefunds' },
  errors: ['key_required', 'admin_required'],
  examples: [{ title: 'One payment', input: { claim_id: 'clm_00000000000000000000000000000000000' } }],
  handle: async function paymentsRefunds({ claim_id }, { refunds }) {
    const found = await refunds.of(claim_id)
    return { refunds: await Promise.all(found.map((refund) => refunds.show(refund))) }
  },
})
