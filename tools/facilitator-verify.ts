import { exampleRequest, FacilitatorRequest } from '../schemas/facilitator.ts'
import { free } from '../src/core/price.ts'
import { VerifyResponse } from '../schemas/x402.ts'
import { defineTool } from './services.ts'

export const facilitatorVerify = defineTool({
  name: 'gateway.facilitator.verify',
  toolset: 'payments',
  title: 'Verify an x402 payment',
  summary:
    'Checks a payment that one of your buyers presented: shape, pinned asset, amount, window, signature, and the state of ' +
    'the chain. Changes nothing and claims nothing. A bad payment is refused with the check that failed.',
  brief:
    'Checks the payment of a buyer of yours: asset, amount, window, signature, state of the chain. Changes nothing.',
  input: FacilitatorRequest,
  output: VerifyResponse,
  price: free,
  caller: 'anyone',
  effects: { readOnly: true, idempotent: true, openWorld: true },
  rest: { method: 'POST', path: '/verify', operationId: 'verifyPayment' },
  maxBodyBytes: 64 * 1024,
  errors: ['payment_invalid', 'payment_blocked', 'key_required', 'payments_unavailable', 'no_route'],
  examples: [{ title: 'A payment as a seller got it', input: exampleRequest }],
  handle: function facilitatorVerify(input, { facilitator, caller }) {
    return facilitator.verify(input, caller)
  },
})
