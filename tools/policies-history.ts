import { z } from 'zod'
import { pageInput, pageOutput } from '../schemas/egress.ts'
import { PolicyId, PolicyRevisionRecord } from '../schemas/policy.ts'
import { free } from '../src/core/price.ts'
import { toRevisionRecord } from '../src/policies/wire.ts'
import { defineTool } from './services.ts'

export const policiesHistory = defineTool({
  name: 'gateway.policies.history',
  toolset: 'operator',
  title: 'Who changed a policy, and when',
  summary:
    'The texts that stood in a policy, newest first, without the texts: gateway.policies.revision has those.',
  input: z.strictObject({ policy: PolicyId, ...pageInput }),
  output: z.strictObject({ revisions: z.array(PolicyRevisionRecord), ...pageOutput }),
  price: free,
  caller: 'admin',
  effects: { readOnly: true, idempotent: true, openWorld: false },
  doors: ['rest'],
  rest: { method: 'GET', path: '/v1/policies/{policy}/history', operationId: 'listPolicyRevisions' },
  errors: ['key_required', 'admin_required'],
  examples: [{ title: 'The latest', input: { policy: 'egress', limit: 20 } }],
  handle: async function policiesHistory({ policy, ...page }, { policies }) {
    const { items, next } = await policies.history(policy, page)
    return { revisions: items.map(toRevisionRecord), next }
  },
})
