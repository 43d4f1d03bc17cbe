import { exampleRequest, FacilitatorRequest } from '../schemas/facilitator.ts'
import { credits } from '../src/core/price.ts'
import { SettleResponse } from '../schemas/x402.ts'
import { SETTLE_COST } from '../src/payments/facilitator.ts'
import { defineTool } from './services.ts'

export const facilitatorSettle = defineTool({
  name: 'gateway.facilitator.settle',
  toolset: 'payments',
  title: 'Settle an x402 payment',
  summary:
    'Verifies a payment, settles it once through the best live facilitator and answers when the chain shows the transfer, ' +
    'with a signed receipt. A payment that was settled before is refused. The allowance is counted by the month, per ' +
    'account (service key), or without one per payTo, payer and network; then a payment must not be too small either.',
  brief:
    'Verifies and settles the payment of a buyer of yours, once, and answers with a signed receipt when the chain shows it.',
  input: FacilitatorRequest,
  output: SettleResponse,
  price: credits(SETTLE_COST, { after: 'allowance' }),
  caller: 'anyone',
  effects: { readOnly: false, destructive: true, idempotent: false, openWorld: true },
  rest: { method: 'POST', path: '/settle', operationId: 'settlePayment' },
  // The payment that it settles is nobody's to read later.
  reply: 'message',
  maxBodyBytes: 64 * 1024,
  errors: [
    'payment_invalid',
    'payment_blocked',
    'settlement_replayed',
    'key_required',
    'settlement_unknown',
    'payments_unavailable',
    'no_route',
  ],
  examples: [{ title: 'A payment as a seller got it', input: exampleRequest }],
  handle: async function facilitatorSettle(input, { facilitator, caller, charge, progress }) {
    return facilitator.settle(input, caller, charge, () =>
      progress({ done: 2, message: 'The payment is with a facilitator; its chain decides' }),
    )
  },
})
