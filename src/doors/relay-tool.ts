// What the call path runs for a request of an unmodified program. It is in no registry, so that no list names it: what such programs send is
// no input of a tool, and what they get is the upstream's own answer.
import { z } from 'zod'
import { defineTool } from '../../tools/services.ts'
import { GatewayError } from '../core/errors.ts'
import { credits } from '../core/price.ts'
import { RELAY_ENDS } from '../egress/relay/ports.ts'

/** One request of a program that knows nothing of the gateway, reached through the doors of such programs alone. */
export const egressRelay = defineTool({
  name: 'gateway.egress.relay',
  toolset: 'egress',
  title: 'Pass on a request of an unmodified program',
  summary:
    'Sends the HTTP request of a program with a credential the gateway holds in the place of its placeholder, and passes the answer on ' +
    'while it arrives, searched for the credential.',

  input: z.strictObject({
    url: z.string().optional().describe('Where the program means the request to go'),
    credential: z.string().optional().describe('Label or id of the credential that a base URL names'),
  }),
  output: z.strictObject({
    attempt_id: z.string(),
    end: z.enum(RELAY_ENDS),
  }),
  passes: 'message',

  price: credits(1, { within: 'attempt' }),
  caller: 'capability',
  effects: { readOnly: false, destructive: true, idempotent: false, openWorld: true },
  rest: { method: 'POST', path: '/via/{credential}/{path}', operationId: 'egressRelay', isRaw: true },
  errors: [
    'not_found',
    'calls_spent',
    'budget_spent',
    'credits_required',
    'capability_required',
    'capability_invalid',
    'target_invalid',
    'header_forbidden',
    'input_invalid',
    'scope_denied',
    'target_blocked',
    'upstream_unreachable',
    'credential_unavailable',
    'outcome_ambiguous',
    'secret_reflected',
    'response_too_large',
    'response_unacceptable',
    'state_conflict',
    'idempotency_key_reused',
    'idempotency_key_in_use',
    'idempotency_answer_gone',
    'egress_paused',
  ],
  examples: [],

  handle: async function egressRelay(_input, { egress, caller, charge, exchange }) {
    if (!exchange) throw new GatewayError('not_found', 'Unmodified programs reach this, and nobody else.')
    return egress.relay(exchange, caller.capability, charge)
  },
})
