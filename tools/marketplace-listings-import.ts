import { z } from 'zod'
import { listingFields, NewServiceId, OwnListing } from '../schemas/market-seller.ts'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

export const marketplaceListingsImport = defineTool({
  name: 'gateway.seller.import',
  toolset: 'market',
  title: 'Draft a service from an OpenAPI document',
  summary:
    'Makes a service of an OpenAPI 3.0 or 3.1 document in one call, or changes the one of this id: operations become routes, prices come from ' +
    'x-payment-info. Says what was left out and why.',
  brief: 'Drafts or changes a service from an OpenAPI document; prices from x-payment-info.',
  input: z.strictObject({
    service_id: NewServiceId,
    origin: listingFields.origin,
    url: z.string().max(2048).optional().describe('Of the document, on your proven host'),
    document: z.record(z.string(), z.unknown()).optional().describe('The document itself'),
    default_price_atomic: z
      .string()
      .regex(/^[1-9]\d{0,14}$/)
      .optional()
      .describe('For operations that name no price'),
    name: listingFields.name.optional(),
    description: listingFields.description.optional(),
    tags: listingFields.tags.optional(),
    base_path: listingFields.base_path.optional(),
    max_requests_per_minute: listingFields.max_requests_per_minute.optional(),
    refund_policy: listingFields.refund_policy.optional(),
    terms_url: listingFields.terms_url.optional(),
    takes_test_money: listingFields.takes_test_money.optional(),
  }),
  output: z.strictObject({
    service: OwnListing,
    imported: z.array(z.string()),
    skipped: z.array(z.strictObject({ operation: z.string(), reason: z.string() })),
    notes: z.array(z.string()),
  }),
  price: free,
  caller: 'seller',
  effects: { readOnly: false, destructive: false, idempotent: false, openWorld: true },
  rest: {
    method: 'POST',
    path: '/v1/marketplace/seller/services/import',
    operationId: 'importService',
    status: 201,
  },
  maxBodyBytes: 1_048_576,
  maxDurationMs: 60_000,
  errors: [
    'seller_not_found',
    'service_not_found',
    'state_conflict',
    'rate_limited',
    'target_blocked',
    'overloaded',
    'upstream_unreachable',
    'input_conflict',
    'json_invalid',
    'json_too_deep',
  ],
  examples: [
    {
      title: 'From your own host',
      input: {
        service_id: 'weather',
        origin: 'https://api.acme-weather.com',
        url: 'https://api.acme-weather.com/openapi.json',
      },
    },
  ],
  handle: async function marketplaceListingsImport(
    { service_id, origin, url, document, default_price_atomic, ...overrides },
    { sellers, caller },
  ) {
    const { listing, imported, skipped, notes } = await sellers.import(caller, {
      service_id,
      origin,
      url,
      document,
      default_price_atomic,
      overrides,
    })
    return { service: listing, imported: [...imported], skipped: [...skipped], notes: [...notes] }
  },
})
