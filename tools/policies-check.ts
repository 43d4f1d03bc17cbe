import { z } from 'zod'
import { PolicyDryRun, PolicyId, policyReading, PolicySource } from '../schemas/policy.ts'
import { free } from '../src/core/price.ts'
import { toDryRun, toStatement } from '../src/policies/wire.ts'
import { defineTool } from './services.ts'

export const policiesCheck = defineTool({
  name: 'gateway.policies.check',
  toolset: 'operator',
  title: 'Try a policy without effect',
  summary:
    'Says whether a text is a valid policy, what it does in words, and what it would have said of the last 100 decisions on record. ' +
    'Nothing is kept, sent or changed; what is on no record is named.',
  input: z.strictObject({ policy: PolicyId, text: PolicySource }),
  output: z.strictObject({
    ...policyReading,
    dry_run: PolicyDryRun.nullable().describe('Null where the text is not valid'),
  }),
  price: free,
  caller: 'admin',
  effects: { readOnly: true, idempotent: true, openWorld: false },
  doors: ['rest'],
  rest: { method: 'POST', path: '/v1/policies/{policy}/check', operationId: 'checkPolicy' },
  errors: ['key_required', 'admin_required'],
  examples: [
    {
      title: 'What denying a host would change',
      input: { policy: 'egress', text: '{"denied_hosts": ["example.com"]}' },
    },
  ],
  handle: async function policiesCheck({ policy, text }, { policies, caller }) {
    const { problems, statements, dryRun } = await policies.check({
      policy,
      text,
      accountId: caller.accountId,
    })
    return {
      policy,
      problems: [...problems],
      statements: statements.map(toStatement),
      dry_run: dryRun && toDryRun(dryRun),
    }
  },
})
