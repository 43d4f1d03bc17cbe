import { z } from 'zod'
import { permitId, PermitRecord } from '../schemas/actions.ts'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

export const actionsRefuse = defineTool({
  name: 'gateway.actions.refuse',
  toolset: 'operator',
  title: 'Refuse a permit',
  summary: 'Ends a permit that waits for approval. Nothing is sent, and its mandate gets its share back.',
  brief: 'Ends a waiting permit; nothing is sent.',
  input: z.strictObject({ permit_id: permitId }),
  output: PermitRecord,
  price: free,
  caller: 'operator',
  roles: ['operator', 'approver'],
  effects: { readOnly: false, destructive: true, idempotent: false, openWorld: false },
  rest: { method: 'POST', path: '/v1/actions/permits/{permit_id}/refuse', operationId: 'refuseAction' },
  errors: ['key_required', 'permit_not_found', 'state_conflict', 'permit_expired'],
  examples: [
    { title: 'Do not let it go out', input: { permit_id: 'pmt_0000000000000000000000000000000000' } },
  ],
  handle: async function actionsRefuse({ permit_id }, { actions, caller }) {
    return actions.decide(caller, permit_id, 'refuse')
  },
})
