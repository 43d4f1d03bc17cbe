import { z } from 'zod'
import { AttemptRecord, Reconciliation } from '../schemas/egress.ts'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

export const egressAttemptsReconcile = defineTool({
  name: 'gateway.egress.attempts.reconcile',
  toolset: 'operator',
  title: 'Decide an ambiguous attempt',
  summary:
    'Ends an attempt whose outcome nobody knew, on your word: look at the upstream first (its log, by the Idempotency-Key). `happened` lets the ' +
    'charge stand; `did_not_happen` gives the credit back, for the administrator. Signed, recorded with your reason, final. Never sends anything.',
  brief:
    'Ends an ambiguous attempt on your word, for good: look at the upstream first. `did_not_happen` gives the credit back (administrator).',
  input: z.strictObject({
    attempt_id: z.string().min(1).max(64).describe('att_…'),
    decision: Reconciliation.shape.decision.describe('What became of it'),
    reason: z
      .string()
      .trim()
      .min(3)
      .max(500)
      .regex(/^[^\p{Cc}\p{Cs}]*$/u, 'must be one line of text')
      .describe('How you know; stands in the receipt'),
  }),
  output: AttemptRecord,
  price: free,
  caller: 'operator',
  effects: { readOnly: false, destructive: false, idempotent: true, openWorld: false },
  // It gives credits back on somebody's word: never on that of the assistant that made the attempt.
  isForPeople: true,
  rest: {
    method: 'POST',
    path: '/v1/egress/attempts/{attempt_id}/reconcile',
    operationId: 'reconcileEgressAttempt',
  },
  errors: ['key_required', 'admin_required', 'attempt_not_found', 'state_conflict'],
  examples: [
    {
      title: 'The provider has it in its log',
      input: {
        attempt_id: 'att_0000000000000000000000000000000000',
        decision: 'happened',
        reason: 'the charge is on the dashboard under our idempotency key',
      },
    },
  ],
  handle: async function egressAttemptsReconcile({ attempt_id, ...decision }, { egress, caller }) {
    return egress.reconcileAttempt(caller, attempt_id, decision)
  },
})
