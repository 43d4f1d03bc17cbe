import { z } from 'zod'
import { PolicyId, PolicyRevisionRecord } from '../schemas/policy.ts'
import { GatewayError } from '../src/core/errors.ts'
import { free } from '../src/core/price.ts'
import { toRevisionRecord } from '../src/policies/wire.ts'
import { defineTool } from './services.ts'

export const policiesRevision = defineTool({
  name: 'gateway.policies.revision',
  toolset: 'operator',
  title: 'One change of a policy',
  summary: 'The text before and after one change of a policy, with who made it and why.',
  input: z.strictObject({
    policy: PolicyId,
    revision_id: z.string().min(1).max(64).describe('prv_…, of gateway.policies.history'),
  }),
  output: PolicyRevisionRecord.extend({
    before: z.string().nullable().describe('Null at the first look'),
    after: z.string(),
  }),
  price: free,
  caller: 'admin',
  effects: { readOnly: true, idempotent: true, openWorld: false },
  doors: ['rest'],
  rest: {
    method: 'GET',
    path: '/v1/policies/{policy}/history/{revision_id}',
    operationId: 'getPolicyRevision',
  },
  errors: ['key_required', 'admin_required', 'not_found'],
  examples: [
    {
      title: 'One of them',
      input: { policy: 'egress', revision_id: 'prv_0000000000000000000000000000000000' },
    },
  ],
  handle: async function policiesRevision({ policy, revision_id }, { policies }) {
    const found = await policies.find(policy, revision_id)
    if (!found) throw new GatewayError('not_found', 'This policy has no change of this id.')
    return { ...toRevisionRecord(found), before: found.before, after: found.after }
  },
})
