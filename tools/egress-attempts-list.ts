import { z } from 'zod'
import { AttemptRecord, capabilityArgument, pageInput, pageOutput } from '../schemas/egress.ts'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

export const egressAttemptsList = defineTool({
  name: 'gateway.egress.attempts.list',
  toolset: 'egress',
  title: 'List outbound attempts',
  summary:
    'Attempts, newest first. A capability sees its own, a service key those of its account. ' +
    'Filter by state, for example `ambiguous` for what needs a decision.',
  brief: 'Your outbound attempts, newest first; `ambiguous` ones want a decision.',
  input: z.strictObject({
    capability: capabilityArgument,
    state: AttemptRecord.shape.state.optional().describe('Only those in this state'),
    ...pageInput,
  }),
  output: z.strictObject({ attempts: z.array(AttemptRecord), ...pageOutput }),
  price: free,
  caller: 'account',
  effects: { readOnly: true, idempotent: true, openWorld: false },
  rest: { method: 'GET', path: '/v1/egress/attempts', operationId: 'listEgressAttempts' },
  errors: ['key_required'],
  examples: [
    { title: 'The latest', input: { limit: 10 } },
    { title: 'What needs a decision', input: { state: 'ambiguous' } },
  ],
  handle: async function egressAttemptsList({ state, limit, before }, { egress, caller }) {
    const { items, next } = await egress.listAttempts(caller, { state }, { limit, before })
    return { attempts: items, next }
  },
})
