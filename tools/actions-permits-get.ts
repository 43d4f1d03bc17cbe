import { z } from 'zod'
import { MAX_WAIT_SECONDS, permitId, PermitRecord, waitSeconds } from '../schemas/actions.ts'
import { free } from '../src/core/price.ts'
import { waitOf } from '../src/actions/until-decided.ts'
import { defineTool } from './services.ts'

export const actionsPermitsGet = defineTool({
  name: 'gateway.actions.permits.get',
  toolset: 'operator',
  title: 'Read a permit',
  summary:
    'State of one permit and the attempt it was executed by; while it waits for approval also, in `summary`, exactly what ' +
    'will be sent. Never the permit itself. With `wait_seconds` it answers when people have decided, or when that time is over.',
  brief: 'One permit; while it waits, `summary` is exactly what will be sent.',
  input: z.strictObject({
    permit_id: permitId,
    wait_seconds: waitSeconds.optional().describe('Longest wait'),
  }),
  output: PermitRecord,
  price: free,
  caller: 'operator',
  effects: { readOnly: true, idempotent: true, openWorld: false },
  maxDurationMs: (MAX_WAIT_SECONDS + 10) * 1000,
  rest: { method: 'GET', path: '/v1/actions/permits/{permit_id}', operationId: 'getActionPermit' },
  errors: ['key_required', 'permit_not_found'],
  examples: [{ title: 'One permit', input: { permit_id: 'pmt_0000000000000000000000000000000000' } }],
  handle: async function actionsPermitsGet({ permit_id, wait_seconds }, context) {
    const { actions, caller } = context
    return actions.getPermit(caller.accountId, permit_id, waitOf(wait_seconds, context))
  },
})
