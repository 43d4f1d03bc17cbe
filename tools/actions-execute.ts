import { z } from 'zod'
import { answerFrom } from '../schemas/answer-from.ts'
import { ActionReply, ActionRequest, MAX_WAIT_SECONDS, waitSeconds } from '../schemas/actions.ts'
import { credits } from '../src/core/price.ts'
import { idempotencyKeyArgument } from '../schemas/egress.ts'
import { ATTEMPT_COST } from '../src/egress/wire.ts'
import { waitOf } from '../src/actions/until-decided.ts'
import { defineTool } from './services.ts'

export const actionsExecute = defineTool({
  name: 'gateway.actions.execute',
  toolset: 'egress',
  title: 'Execute a permit',
  summary:
    'Sends the one request that a permit was prepared for, with a credential the gateway holds, and returns the upstream ' +
    'answer as data. Needs the permit the operator gave you and exactly its request: another method, URL, header or body is ' +
    'refused. Works once: a repeat is a 409 that names the first attempt, or under the same `idempotency_key` the first answer. ' +
    'Nothing is ever retried. Where people still have to approve, `wait_seconds` waits for them and then sends.',
  brief:
    'Sends the one request that a permit allows, once; 1 credit. Anything else is refused; nothing is retried.',
  input: z.strictObject({
    permit: z.string().min(1).max(4096).describe('`permit` as prepared'),
    request: ActionRequest,
    wait_seconds: waitSeconds.optional().describe('Longest wait for people'),
    idempotency_key: idempotencyKeyArgument,
    answer_from: answerFrom.meta({ advertised: false }),
  }),
  output: ActionReply,
  price: credits(ATTEMPT_COST, { within: 'attempt' }),
  caller: 'anyone',
  effects: { readOnly: false, destructive: true, idempotent: false, openWorld: true },
  maxDurationMs: (MAX_WAIT_SECONDS + 60) * 1000,
  rest: { method: 'POST', path: '/v1/actions/execute', operationId: 'executeAction' },
  skill: {
    id: 'actions-execute',
    name: 'Execute a permit',
    tags: ['actions', 'permits', 'http'],
    examples: ['Use this permit to open the issue that was approved'],
  },
  errors: [
    'calls_spent',
    'budget_spent',
    'permit_invalid',
    'permit_used',
    'permit_pending',
    'permit_refused',
    'permit_expired',
    'permit_revoked',
    'permit_mismatch',
    'scope_denied',
    'target_blocked',
    'upstream_unreachable',
    'credential_unavailable',
    'outcome_ambiguous',
    'secret_reflected',
    'response_too_large',
    'response_unacceptable',
    'input_conflict',
    'idempotency_key_reused',
    'idempotency_key_in_use',
    'idempotency_answer_gone',
    'egress_paused',
  ],
  examples: [
    {
      title: 'The request of the permit, unchanged',
      input: {
        permit: 'replace-with-the-permit',
        request: {
          url: 'https://api.github.com/repos/acme/site/issues',
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: '{"title":"Broken link on the front page"}',
        },
      },
    },
  ],
  // A permit is used once, so the answer is read on only where a key keeps it.
  readOn: ({ idempotency_key }, { answer_kept }) =>
    idempotency_key === undefined || answer_kept === false
      ? undefined
      : (next) =>
          `Send the same call with the same idempotency_key and "answer_from": ${next}: nothing is sent or charged again.`,
  handle: async function actionsExecute({ answer_from: _part, wait_seconds, ...input }, context) {
    const { actions, charge } = context
    return actions.execute(input, charge, waitOf(wait_seconds, context))
  },
})
