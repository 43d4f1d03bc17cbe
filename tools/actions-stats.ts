import { z } from 'zod'
import { ActionStats } from '../schemas/actions.ts'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

export const actionsStats = defineTool({
  name: 'gateway.actions.stats',
  toolset: 'egress',
  title: 'Action counters',
  summary:
    'Permits, executions and credits counted since the first of them, in agreement with the ledger: of the whole ' +
    'installation, or of your account where a service key is sent.',
  brief: 'Permits, executions and credits counted, here or of your account.',
  input: z.strictObject({}),
  output: ActionStats,
  price: free,
  caller: 'anyone',
  effects: { readOnly: true, idempotent: true, openWorld: false },
  rest: { method: 'GET', path: '/v1/actions/stats', operationId: 'actionsStats' },
  errors: [],
  examples: [{ title: 'Read them', input: {} }],
  handle: async function actionsStats(_input, { actions, caller }) {
    return actions.stats(caller.kind === 'operator' ? caller.accountId : undefined)
  },
})
