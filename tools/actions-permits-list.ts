import { z } from 'zod'
import { PermitRecord, PermitState } from '../schemas/actions.ts'
import { pageInput, pageOutput } from '../schemas/egress.ts'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

export const actionsPermitsList = defineTool({
  name: 'gateway.actions.permits.list',
  toolset: 'operator',
  title: 'List permits',
  summary:
    'Permits, newest first. Filter by state, for example `pending_approval` for what waits for a decision; a body of more ' +
    'than 4 KiB is shown only where one permit is read by its id.',
  brief: 'Permits, newest first; `pending_approval` ones wait for a decision.',
  input: z.strictObject({
    state: PermitState.exclude(['revoked']).optional().describe('Only those in this state'),
    ...pageInput,
  }),
  output: z.strictObject({ permits: z.array(PermitRecord), ...pageOutput }),
  price: free,
  caller: 'operator',
  effects: { readOnly: true, idempotent: true, openWorld: false },
  rest: { method: 'GET', path: '/v1/actions/permits', operationId: 'listActionPermits' },
  errors: ['key_required'],
  examples: [
    { title: 'The latest', input: { limit: 20 } },
    { title: 'What waits for a decision', input: { state: 'pending_approval' } },
  ],
  handle: async function actionsPermitsList({ state, limit, before }, { actions, caller }) {
    const { items, next } = await actions.listPermits(caller.accountId, { state }, { limit, before })
    return { permits: items, next }
  },
})
