import { z } from 'zod'
import { AttemptRecord, capabilityArgument } from '../schemas/egress.ts'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

export const egressAttemptsGet = defineTool({
  name: 'gateway.egress.attempts.get',
  toolset: 'egress',
  title: 'What became of an attempt',
  summary:
    'State, outcome, upstream status and charge of one outbound request. Call it after outcome_ambiguous, before you ' +
    'decide whether to send again. A capability sees its own attempts, a service key those of its account.',
  brief: 'State, outcome and charge of one attempt. Read it after outcome_ambiguous, before you send again.',
  input: z.strictObject({
    capability: capabilityArgument,
    attempt_id: z.string().min(1).max(64).describe('att_…'),
  }),
  output: AttemptRecord,
  price: free,
  caller: 'account',
  effects: { readOnly: true, idempotent: true, openWorld: false },
  rest: { method: 'GET', path: '/v1/egress/attempts/{attempt_id}', operationId: 'getEgressAttempt' },
  skill: {
    id: 'egress-attempts-get',
    name: 'What became of an attempt',
    tags: ['egress', 'attempts'],
    examples: ['Did that request go through?'],
  },
  errors: ['key_required', 'attempt_not_found'],
  examples: [{ title: 'One attempt', input: { attempt_id: 'att_0000000000000000000000000000000000' } }],
  handle: async function egressAttemptsGet({ attempt_id }, { egress, caller }) {
    return egress.getAttempt(caller, attempt_id)
  },
})
