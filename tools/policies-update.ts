import { z } from 'zod'
import { PolicyId, PolicySource, PolicyState } from '../schemas/policy.ts'
import { free } from '../src/core/price.ts'
import { toPolicyState } from '../src/policies/wire.ts'
import { defineTool } from './services.ts'

export const policiesUpdate = defineTool({
  name: 'gateway.policies.update',
  toolset: 'operator',
  title: 'Put a policy in force',
  summary:
    'Puts another text in the place of the one that was read, whole and at once, and writes down who did and why. Refused with ' +
    'state_conflict where somebody changed it meanwhile, here or by hand: nothing is written then.',
  input: z.strictObject({
    policy: PolicyId,
    text: PolicySource,
    revision: z.string().min(1).max(100).describe('`revision` of the text that was read'),
    note: z.string().max(500).default('').describe('Why; shown in the history'),
  }),
  output: PolicyState,
  price: free,
  caller: 'admin',
  needsFreshSignIn: true,
  effects: { readOnly: false, destructive: true, idempotent: false, openWorld: false },
  doors: ['rest'],
  rest: { method: 'POST', path: '/v1/policies/{policy}', operationId: 'updatePolicy' },
  errors: ['key_required', 'admin_required', 'state_conflict'],
  examples: [
    {
      title: 'Deny a host to everybody',
      input: {
        policy: 'egress',
        text: '{"denied_hosts": ["example.com"], "paused": false}',
        revision: 'replace-with-the-revision-that-was-read',
        note: 'Reported by the security team',
      },
    },
  ],
  handle: async function policiesUpdate(input, { policies }) {
    return toPolicyState(await policies.update(input))
  },
})
