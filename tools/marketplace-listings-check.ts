import { z } from 'zod'
import { NewServiceId, RouteCheck } from '../schemas/market-seller.ts'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

export const marketplaceListingsCheck = defineTool({
  name: 'gateway.seller.check',
  toolset: 'market',
  title: 'Try a service as a buyer would',
  summary:
    'Sends your own examples to your upstream, unpaid, and judges each answer by your schema: what fails here would not be charged. Examples of ' +
    'POST, PUT, PATCH and DELETE are really sent.',
  brief:
    'Tries your examples at your upstream, unpaid. Those of POST, PUT, PATCH and DELETE are really sent.',
  input: z.strictObject({ service_id: NewServiceId }),
  output: z.strictObject({ ok: z.boolean(), routes: z.array(RouteCheck) }),
  price: free,
  caller: 'seller',
  effects: { readOnly: false, destructive: false, idempotent: false, openWorld: true },
  rest: { method: 'POST', path: '/v1/marketplace/seller/services/check', operationId: 'checkService' },
  maxDurationMs: 60_000,
  errors: ['seller_not_found', 'service_not_found', 'state_conflict', 'overloaded'],
  examples: [{ title: 'Every route', input: { service_id: 'weather' } }],
  handle: function marketplaceListingsCheck({ service_id }, { sellers, caller }) {
    return sellers.check(caller, service_id)
  },
})
