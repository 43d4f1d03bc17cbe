import { z } from 'zod'
import { credits } from '../src/core/price.ts'
import { GatewayError } from '../src/core/errors.ts'
import { ATTEMPT_COST } from '../src/egress/wire.ts'
import { defineTool } from './services.ts'

/** A merchant's own address, reached through the gateway. What is sent and what comes back are the message itself. */
export const edgeForward = defineTool({
  name: 'gateway.edge.forward',
  toolset: 'commerce',
  title: 'Send a transaction to a merchant through the edge',
  summary:
    'Forwards the request (POST; GET, PUT, PATCH and DELETE where the record of the merchant lists them) to ' +
    'https://{merchant-host}/{path} byte for byte and returns the answer of the merchant as it ' +
    'came: status, headers, body. Only for hosts that authorized this gateway in their DNS; the account of the merchant pays ' +
    '1 credit, whoever asks. Authorization, payment and signature headers (x402, MPP, ACP, UCP, AP2) pass untouched; cookies ' +
    'do not, and a token or permit of this gateway is refused. What POST /v1/inspect denies for contradicting itself, for card ' +
    'data or for a secret is not forwarded (transaction_blocked). An Idempotency-Key is added where there is none and the method is not GET. ' +
    'X-Gateway-Attempt tells answers of the merchant from those of the gateway; X-Gateway-Receipt and X-Gateway-Evidence ' +
    'are signed. Nothing is retried: after outcome_ambiguous ask the merchant before you send again.',

  input: z.strictObject({
    'merchant-host': z
      .string()
      .describe('Host name of the merchant, with its port where that is not 443. Lower case, no escapes'),
    path: z
      .string()
      .describe('The rest of the address with its slashes, and a query behind it: forwarded as it is'),
  }),
  output: z.strictObject({
    status: z.int().min(200).max(599),
    headers: z.array(z.array(z.string())),
    body: z.unknown().describe('Bytes'),
  }),
  passes: 'message',

  price: credits(ATTEMPT_COST, { within: 'attempt' }),
  caller: 'anyone',
  effects: { readOnly: false, destructive: true, idempotent: false, openWorld: true },
  rest: { method: 'POST', path: '/edge/{merchant-host}/{path}', operationId: 'edgeForward' },
  errors: [
    'target_invalid',
    'header_forbidden',
    'method_not_allowed',
    'edge_not_authorized',
    'target_blocked',
    'transaction_blocked',
    'upstream_unreachable',
    'outcome_ambiguous',
    'response_too_large',
    'response_unacceptable',
    'egress_paused',
  ],
  examples: [
    {
      title: 'Complete a checkout at a merchant',
      input: { 'merchant-host': 'shop.example.com', path: 'checkout_sessions/cs_123/complete' },
    },
  ],

  handle: async function edgeForward(_input, { edge, message, charge }) {
    if (!message) throw new GatewayError('not_found', 'This is reached at /edge/{merchant-host}/{path} only.')
    const { status, headers, body } = await edge.forward(message, charge)
    return { status, headers: headers.map((pair) => [...pair]), body }
  },
})
