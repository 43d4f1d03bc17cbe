import { z } from 'zod'
import { PermitEvidence, permitId } from '../schemas/actions.ts'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

export const actionsPermitsEvidence = defineTool({
  name: 'gateway.actions.permits.evidence',
  toolset: 'operator',
  title: 'Read what was approved',
  summary:
    'The request that people approved, byte for byte, as it was kept sealed with the permit, and who approved it. Its digest is ' +
    'computed anew: it is that of the permit, of its receipt and of the audit log.',
  brief: 'The approved request as it was kept, and who approved it.',
  input: z.strictObject({ permit_id: permitId }),
  output: PermitEvidence,
  price: free,
  caller: 'operator',
  // People ask what they approved, and programs that audit them.
  doors: ['rest'],
  effects: { readOnly: true, idempotent: true, openWorld: false },
  rest: {
    method: 'GET',
    path: '/v1/actions/permits/{permit_id}/evidence',
    operationId: 'getActionPermitEvidence',
  },
  errors: ['key_required', 'permit_not_found', 'not_found'],
  examples: [{ title: 'What was approved', input: { permit_id: 'pmt_0000000000000000000000000000000000' } }],
  handle: async function actionsPermitsEvidence({ permit_id }, { actions, caller }) {
    return actions.evidence(caller.accountId, permit_id)
  },
})
