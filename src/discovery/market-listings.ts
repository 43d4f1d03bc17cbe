// Services of the marketplace as entries of ours: this gateway takes the payment for them, and their words are their sellers'.
import type { MarketService } from '../../schemas/market.ts'
import type { PaymentNetwork } from '../core/networks.ts'
import { toRequirements } from '../payments/requirements.ts'
import { type Entry, makeEntry } from './entry.ts'

export interface MarketListingParts {
  readonly networks: readonly PaymentNetwork[]
  readonly payTo: string | undefined
  /** RFC 3339, for what does not say since when it is offered. */
  readonly startedAt: string
}

const LIVE = 'eip155:8453'
const SCHEMA = 'https://json-schema.org/draft/2020-12/schema'

/** One entry for each route that is an address by itself; a path with a parameter is many. */
export function listMarketServices(
  services: readonly MarketService[],
  { networks, payTo, startedAt }: MarketListingParts,
): readonly Entry[] {
  const network = networks.find((one) => one.network === LIVE)
  if (payTo === undefined || !network) return []
  return services.flatMap((service) =>
    service.routes
      .filter(({ path }) => !path.includes('{'))
      .map((route) => {
        const query = route.input_schema
        const body = route.body_schema
        const input = {
          type: 'http',
          method: route.method,
          ...(route.example?.query && { queryParams: route.example.query }),
          ...(body && { bodyType: 'json', body: route.example?.body ?? {} }),
        }
        return makeEntry({
          resource: service.endpoint + route.path.slice(1),
          type: 'http',
          method: route.method,
          x402Version: 2,
          accepts: [toRequirements({ network, amountAtomic: BigInt(route.price_atomic), payTo })],
          lastUpdated: service.created_at ?? startedAt,
          description: service.description,
          mimeType: 'application/json',
          serviceName: service.name,
          tags: service.tags.slice(0, 5),
          extensions: {
            bazaar: {
              info: { input, output: { type: 'json' } },
              schema: {
                $schema: SCHEMA,
                type: 'object',
                properties: {
                  input: {
                    type: 'object',
                    properties: {
                      type: { type: 'string', const: 'http' },
                      method: { type: 'string', enum: [route.method] },
                      ...(query && { queryParams: query }),
                      ...(body && { bodyType: { type: 'string', enum: ['json'] }, body }),
                    },
                    required: ['type', 'method'],
                  },
                },
                required: ['input'],
              },
            },
            marketplace: {
              seller: service.seller,
              service_id: service.service_id,
              listing: service.discovery,
              words_of_seller: service.words_of_seller,
            },
          },
        })
      }),
  )
}
