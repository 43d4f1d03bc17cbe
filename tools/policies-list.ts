import { z } from 'zod'
import { PolicyState } from '../schemas/policy.ts'
import { free } from '../src/core/price.ts'
import { toPolicyState } from '../src/policies/wire.ts'
import { defineTool } from './services.ts'

export const policiesList = defineTool({
  name: 'gateway.policies.list',
  toolset: 'operator',
  title: 'List the policies of the installation',
  summary:
    'What the installation allows: the policies of egress, payments and transactions, each as the text that stands, in words, and with ' +
    'what is wrong with it where somebody broke it by hand.',
  input: z.strictObject({}),
  output: z.strictObject({ policies: z.array(PolicyState) }),
  price: free,
  caller: 'admin',
  effects: { readOnly: true, idempotent: true, openWorld: false },
  doors: ['rest'],
  rest: { method: 'GET', path: '/v1/policies', operationId: 'listPolicies' },
  errors: ['key_required', 'admin_required'],
  examples: [{ title: 'All of them', input: {} }],
  handle: async function policiesList(_, { policies }) {
    return { policies: (await policies.list()).map(toPolicyState) }
  },
})
