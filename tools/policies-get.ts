import { z } from 'zod'
import { PolicyId, PolicyState } from '../schemas/policy.ts'
import { free } from '../src/core/price.ts'
import { toPolicyState } from '../src/policies/wire.ts'
import { defineTool } from './services.ts'

export const policiesGet = defineTool({
  name: 'gateway.policies.get',
  toolset: 'operator',
  title: 'Read a policy',
  summary: 'One policy as the text that stands, with the revision that an update has to name, and in words.',
  input: z.strictObject({ policy: PolicyId }),
  output: PolicyState,
  price: free,
  caller: 'admin',
  effects: { readOnly: true, idempotent: true, openWorld: false },
  doors: ['rest'],
  rest: { method: 'GET', path: '/v1/policies/{policy}', operationId: 'getPolicy' },
  errors: ['key_required', 'admin_required'],
  examples: [{ title: 'Which hosts are denied', input: { policy: 'egress' } }],
  handle: async function policiesGet({ policy }, { policies }) {
    return toPolicyState(await policies.get(policy))
  },
})
