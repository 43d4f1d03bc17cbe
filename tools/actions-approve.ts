import { z } from 'zod'
import { permitId, PermitRecord } from '../schemas/actions.ts'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

export const actionsApprove = defineTool({
  name: 'gateway.actions.approve',
  toolset: 'operator',
  title: 'Approve a permit',
  summary:
    'Lets a permit that waits for approval be executed, for 300 seconds from now. Read its `summary` first: it is exactly ' +
    'what will be sent. For a person to decide, once.',
  brief: 'Lets a waiting permit go out, within 300 seconds. Read its `summary` first: a person decides.',
  input: z.strictObject({ permit_id: permitId }),
  output: PermitRecord,
  price: free,
  caller: 'operator',
  isForPeople: true,
  roles: ['operator', 'approver'],
  effects: { readOnly: false, destructive: true, idempotent: false, openWorld: false },
  rest: {
    method: 'POST',
    path: '/v1/actions/permits/{permit_id}/approve',
    operationId: 'approveAction',
  },
  errors: [
    'key_required',
    'approval_refused',
    'fresh_sign_in_required',
    'permit_not_found',
    'state_conflict',
    'permit_expired',
    'permit_revoked',
  ],
  examples: [{ title: 'Let it go out', input: { permit_id: 'pmt_0000000000000000000000000000000000' } }],
  handle: async function actionsApprove({ permit_id }, { actions, caller }) {
    return actions.decide(caller, permit_id, 'approve')
  },
})
