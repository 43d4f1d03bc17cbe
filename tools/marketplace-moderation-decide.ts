import { z } from 'zod'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

export const marketplaceModerationDecide = defineTool({
  name: 'gateway.moderation.decide',
  toolset: 'operator',
  title: 'Approve, suspend or reinstate',
  summary:
    'Approves a service that waits, suspends one (or with no service_id the whole seller), or lets it be sold again. The seller is told, with ' +
    'the reason.',
  brief: 'Approves, suspends or reinstates a service, or a whole seller, who reads the reason.',
  input: z.strictObject({
    seller: z.string().min(1).max(40).describe('Seller id'),
    service_id: z.string().min(1).max(64).optional().describe('By default the whole seller'),
    version: z.int().min(1).optional().describe('As you looked at it'),
    decision: z.enum(['approve', 'suspend', 'reinstate']).describe('What happens'),
    reason: z.string().trim().min(1).max(500).describe('The seller reads it'),
  }),
  output: z.strictObject({ decided: z.literal(true) }),
  price: free,
  caller: 'admin',
  effects: { readOnly: false, destructive: true, idempotent: false, openWorld: false },
  rest: { method: 'POST', path: '/v1/marketplace/moderation', operationId: 'decideModeration' },
  errors: ['seller_not_found', 'service_not_found', 'state_conflict'],
  examples: [
    {
      title: 'Let it be sold',
      input: { seller: 'acme-weather', service_id: 'weather', decision: 'approve', reason: 'Looked at.' },
    },
  ],
  handle: async function marketplaceModerationDecide(
    { seller, service_id, version, decision, reason },
    { sellers },
  ) {
    await sellers.decide({ seller, serviceId: service_id, version }, decision, reason)
    return { decided: true as const }
  },
})
