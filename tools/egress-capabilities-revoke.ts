import { z } from 'zod'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

export const egressCapabilitiesRevoke = defineTool({
  name: 'gateway.egress.capabilities.revoke',
  title: 'Revoke a capability',
  summary: 'Ends a capability and everything narrowed from it, at once. Repeating it changes nothing.',
  input: z.strictObject({ capability_id: z.string().min(1).max(64) }),
  output: z.strictObject({
    capability_id: z.string(),
    revoked: z.int().min(0).describe('How many became revoked by this call, narrowed ones included'),
  }),
  price: free,
  caller: 'operator',
  effects: { readOnly: false, destructive: true, idempotent: true, openWorld: false },
  rest: {
    method: 'POST',
    path: '/v1/egress/capabilities/{capability_id}/revoke',
    operationId: 'revokeEgressCapability',
  },
  errors: ['key_required', 'capability_not_found'],
  examples: [{ title: 'End it', input: { capability_id: 'cap_0000000000000000000000000000000000' } }],
  handle: async function egressCapabilitiesRevoke({ capability_id }, { egress, caller }) {
    const { revoked } = await egress.revokeCapability(caller.accountId, capability_id)
    return { capability_id, revoked }
  },
})
