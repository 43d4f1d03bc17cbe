import { ListingEdit, NewServiceId, OwnListing } from '../schemas/market-seller.ts'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

export const marketplaceListingsUpdate = defineTool({
  name: 'gateway.seller.update',
  toolset: 'market',
  title: 'Change a service',
  summary:
    'Changes the members that are given; the rest stays. Every change is a version with public prices, and an open offer keeps its price. What ' +
    'asks something else of your upstream is tried with your example first.',
  brief: 'Changes the members given; each change is a version with public prices.',
  input: ListingEdit.extend({ service_id: NewServiceId }),
  output: OwnListing,
  price: free,
  caller: 'seller',
  effects: { readOnly: false, destructive: false, idempotent: false, openWorld: true },
  rest: { method: 'POST', path: '/v1/marketplace/seller/services/update', operationId: 'updateService' },
  maxDurationMs: 60_000,
  errors: [
    'seller_not_found',
    'service_not_found',
    'state_conflict',
    'rate_limited',
    'target_blocked',
    'overloaded',
  ],
  examples: [{ title: 'Another limit', input: { service_id: 'weather', max_requests_per_minute: 120 } }],
  handle: function marketplaceListingsUpdate({ service_id, ...edit }, { sellers, caller }) {
    return sellers.update(caller, service_id, edit)
  },
})
