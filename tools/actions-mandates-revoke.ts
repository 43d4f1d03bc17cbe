import { z } from 'zod'
import { mandateId, MandateRecord } from '../schemas/actions.ts'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

export const actionsMandatesRevoke = defineTool({
  name: 'gateway.actions.mandates.revoke',
  toolset: 'operator',
  title: 'Revoke a mandate',
  summary:
    'Ends a mandate and every permit under it that was not executed yet, at once and for good. Repeating it changes nothing.',
  brief: 'Ends a mandate and its unexecuted permits for good.',
  input: z.strictObject({ mandate_id: mandateId }),
  output: MandateRecord,
  price: free,
  caller: 'operator',
  effects: { readOnly: false, destructive: true, idempotent: true, openWorld: false },
  rest: {
    method: 'POST',
    path: '/v1/actions/mandates/{mandate_id}/revoke',
    operationId: 'revokeActionMandate',
  },
  errors: ['key_required', 'mandate_not_found'],
  examples: [{ title: 'End it', input: { mandate_id: 'mdt_0000000000000000000000000000000000' } }],
  handle: async function actionsMandatesRevoke({ mandate_id }, { actions, caller }) {
    return actions.revokeMandate(caller.accountId, mandate_id)
  },
})
