import { exampleRequest, FacilitatorRequest } from '../schemas/facilitator.ts'
import { allowance } from '../schemas/money.ts'
import { SettleResponse } from '../schemas/x402.ts'
import { defineTool } from './services.ts'

export const facilitatorSettle = defineTool({
  name: 'gateway.facilitator.settle',
  title: 'Settle an x402 payment',
  summary:
    'Verifies a payment, settles it once through the best live facilitator and answers when the chain shows the transfer, ' +
    'with a signed receipt. A payment that was settled before is refused. The allowance is counted by the month, per ' +
    'account (service key) or per payTo.',
  input: FacilitatorRequest,
  output: SettleResponse,
  price: allowance(1),
  caller: 'anyone',
  effects: { readOnly: false, destructive: false, idempotent: false, openWorld: true },
  rest: { method: 'POST', path: '/settle', operationId: 'settlePayment' },
  maxBodyBytes: 64 * 1024,
  errors: [
    'payment_invalid',
    'payment_blocked',
    'settlement_replayed',
    'settlement_unknown',
    'credits_required',
    'payments_unavailable',
    'no_route',
  ],
  examples: [{ title: 'A payment as a seller got it', input: exampleRequest }],
  handle: (input, { facilitator, caller }) => facilitator.settle(input, caller),
})
