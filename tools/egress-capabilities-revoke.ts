import { z } from 'zod'
import { capabilityArgument } from '../schemas/egress.ts'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

export const egressCapabilitiesRevoke = defineTool({
  name: 'gateway.egress.capabilities.revoke',
  toolset: 'egress',
  title: 'Revoke a capability',
  summary:
    'Ends a capability and everything narrowed from it, at once. Repeating it changes nothing. The holder of a capability may end ' +
    'its own (`self`) and what was narrowed from it: do that when your task is done.',
  brief: 'Ends a capability and all narrowed from it. With your own, send `self` when your task is done.',
  input: z.strictObject({
    capability: capabilityArgument,
    capability_id: z.string().min(1).max(64).describe('cap_…, or `self`'),
  }),
  output: z.strictObject({
    capability_id: z.string(),
    revoked: z.int().min(0).describe('How many became revoked by this call, narrowed ones included'),
  }),
  price: free,
  caller: 'account',
  effects: { readOnly: false, destructive: true, idempotent: true, openWorld: false },
  rest: {
    method: 'POST',
    path: '/v1/egress/capabilities/{capability_id}/revoke',
    operationId: 'revokeEgressCapability',
  },
  skill: {
    id: 'egress-capabilities-revoke',
    name: 'Revoke a capability',
    tags: ['egress', 'capabilities'],
    examples: ['I am done: end my own capability'],
  },
  errors: ['key_required', 'capability_invalid', 'capability_not_found'],
  examples: [
    { title: 'End it', input: { capability_id: 'cap_0000000000000000000000000000000000' } },
    { title: 'End your own', input: { capability_id: 'self' } },
  ],
  handle: async function egressCapabilitiesRevoke({ capability_id }, { egress, caller }) {
    const own = caller.kind === 'agent' ? caller.capability.id : undefined
    const id = capability_id === 'self' && own !== undefined ? own : capability_id
    const { revoked } = await egress.revokeCapability(caller.accountId, id, own)
    return { capability_id: id, revoked }
  },
})
