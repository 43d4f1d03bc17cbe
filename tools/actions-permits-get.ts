import { z } from 'zod'
import { permitId, PermitRecord } from '../schemas/actions.ts'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

export const actionsPermitsGet = defineTool({
  name: 'gateway.actions.permits.get',
  toolset: 'operator',
  title: 'Read a permit',
  summary:
    'State of one permit and the attempt it was executed by; while it waits for approval also, in `summary`, exactly what ' +
    'will be sent. Never the permit itself.',
  brief: 'One permit; while it waits, `summary` is exactly what will be sent.',
  input: z.strictObject({ permit_id: permitId }),
  output: PermitRecord,
  price: free,
  caller: 'operator',
  effects: { readOnly: true, idempotent: true, openWorld: false },
  rest: { method: 'GET', path: '/v1/actions/permits/{permit_id}', operationId: 'getActionPermit' },
  errors: ['key_required', 'permit_not_found'],
  examples: [{ title: 'One permit', input: { permit_id: 'pmt_0000000000000000000000000000000000' } }],
  handle: async function actionsPermitsGet({ permit_id }, { actions, caller }) {
    return actions.getPermit(caller.accountId, permit_id)
  },
})
