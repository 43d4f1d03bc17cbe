import { z } from 'zod'
import { CapabilityRecord, pageInput, pageOutput } from '../schemas/egress.ts'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

export const egressCapabilitiesList = defineTool({
  name: 'gateway.egress.capabilities.list',
  toolset: 'operator',
  title: 'List capabilities',
  summary: 'Issued capabilities, newest first, with scope, uses and expiry. Never a token.',
  brief: 'Capabilities, newest first; never a token.',
  input: z.strictObject({
    credential_id: z.string().min(1).max(64).optional().describe('Only those on this credential'),
    ...pageInput,
  }),
  output: z.strictObject({ capabilities: z.array(CapabilityRecord), ...pageOutput }),
  price: free,
  caller: 'operator',
  effects: { readOnly: true, idempotent: true, openWorld: false },
  rest: { method: 'GET', path: '/v1/egress/capabilities', operationId: 'listEgressCapabilities' },
  errors: ['key_required'],
  examples: [{ title: 'The latest', input: { limit: 20 } }],
  handle: async function egressCapabilitiesList({ credential_id, limit, before }, { egress, caller }) {
    const filter = { credentialId: credential_id }
    const { items, next } = await egress.listCapabilities(caller.accountId, filter, { limit, before })
    return { capabilities: items, next }
  },
})
