import { z } from 'zod'
import { NewServiceId, OwnListing } from '../schemas/market-seller.ts'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

export const marketplaceListingsStep = defineTool({
  name: 'gateway.seller.step',
  toolset: 'market',
  title: 'Offer, pause or end a service',
  summary:
    '`submit` offers a draft (the first one may wait for the operator), `pause` stops selling, `resume` goes on, `retire` ends it for ever. ' +
    'Nothing is sold from a host that is not proven or that does not answer your example.',
  brief: 'Offers, pauses, resumes or ends a service.',
  input: z.strictObject({
    service_id: NewServiceId,
    step: z.enum(['submit', 'pause', 'resume', 'retire']).describe('What happens'),
    reason: z.string().max(500).optional().describe('Of a pause: buyers are shown it'),
  }),
  output: OwnListing,
  price: free,
  caller: 'seller',
  effects: { readOnly: false, destructive: true, idempotent: false, openWorld: true },
  rest: [
    { method: 'POST', path: '/v1/marketplace/seller/services/step', operationId: 'stepService' },
    ...(['submit', 'pause', 'resume', 'retire'] as const).map((step) => ({
      method: 'POST' as const,
      path: `/v1/marketplace/seller/services/${step}`,
      operationId: `${step}Service`,
      fixed: { step },
    })),
  ],
  maxDurationMs: 60_000,
  errors: [
    'seller_not_found',
    'service_not_found',
    'state_conflict',
    'target_blocked',
    'overloaded',
    'input_conflict',
  ],
  examples: [{ title: 'Offer it', input: { service_id: 'weather', step: 'submit' } }],
  handle: function marketplaceListingsStep({ service_id, step, reason }, { sellers, caller }) {
    return sellers.step(caller, service_id, step, reason)
  },
})
