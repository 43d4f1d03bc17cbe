import { z } from 'zod'
import { listingFields, NewServiceId, OwnListing } from '../schemas/market-seller.ts'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

export const marketplaceListingsCreate = defineTool({
  name: 'gateway.seller.create',
  toolset: 'market',
  title: 'Draft a service',
  summary:
    'Drafts a service: its routes with prices and schemas, and where its upstream is. Drafts take test money below /p/testnet/. Prices are at ' +
    'least the fee. Check it, then submit it.',
  brief: 'Drafts a service: routes with prices and schemas. Check it, then submit it.',
  input: z.strictObject({
    service_id: NewServiceId,
    name: listingFields.name,
    description: listingFields.description.default(''),
    tags: listingFields.tags.default([]),
    origin: listingFields.origin,
    base_path: listingFields.base_path.default(''),
    routes: listingFields.routes,
    max_requests_per_minute: listingFields.max_requests_per_minute.default(60),
    refund_policy: listingFields.refund_policy.default(null),
    terms_url: listingFields.terms_url.default(null),
    takes_test_money: listingFields.takes_test_money.default(false),
  }),
  output: OwnListing,
  price: free,
  caller: 'seller',
  effects: { readOnly: false, destructive: false, idempotent: false, openWorld: false },
  rest: {
    method: 'POST',
    path: '/v1/marketplace/seller/services',
    operationId: 'createService',
    status: 201,
  },
  errors: ['seller_not_found', 'state_conflict', 'target_blocked'],
  examples: [
    {
      title: 'One route',
      input: {
        service_id: 'weather',
        name: 'Weather now',
        description: 'Temperature and wind at an airport.',
        origin: 'https://api.acme-weather.com',
        routes: [
          {
            path: '/now/{airport}',
            price_atomic: '5000',
            input_schema: {
              type: 'object',
              properties: { airport: { type: 'string', pattern: '^[A-Z]{4}$' } },
              required: ['airport'],
              additionalProperties: false,
            },
            example: { query: { airport: 'EDDF' } },
          },
        ],
      },
    },
  ],
  handle: function marketplaceListingsCreate({ service_id, ...listing }, { sellers, caller }) {
    return sellers.create(caller, service_id, listing)
  },
})
