// A service as a list of the site has it: what people compare, without schemas.
import type {
  MarketConcentration,
  MarketFigures,
  MarketNetwork,
  MarketService,
} from '../../../../../schemas/market.ts'
import type { Marketplace } from '../../../../market/listings/ports.ts'

export interface ListedService extends Pick<
  MarketService,
  | 'seller'
  | 'service_id'
  | 'name'
  | 'description'
  | 'price'
  | 'tags'
  | 'allowed_methods'
  | 'endpoint'
  | 'availability'
  | 'unavailable_reason'
  | 'words_of_seller'
  | 'discovery'
> {
  readonly routes: number
  readonly stats: MarketFigures
  /** Null where nobody paid. */
  readonly concentration: MarketConcentration | null
}

/** @returns the services with how concentrated their payers are, which is asked only of those that anybody paid */
export const listServices = (
  services: readonly MarketService[],
  marketplace: Pick<Marketplace, 'concentration'>,
  network: MarketNetwork,
): Promise<readonly ListedService[]> =>
  Promise.all(
    services.map(async (service) => ({
      seller: service.seller,
      service_id: service.service_id,
      name: service.name,
      description: service.description,
      price: service.price,
      tags: service.tags,
      allowed_methods: service.allowed_methods,
      endpoint: service.endpoint,
      availability: service.availability,
      unavailable_reason: service.unavailable_reason,
      words_of_seller: service.words_of_seller,
      discovery: service.discovery,
      routes: service.routes.length,
      stats: service.stats,
      concentration:
        service.stats.unique_payers === 0
          ? null
          : await marketplace.concentration({
              sellerId: service.seller,
              serviceId: service.service_id,
              network,
            }),
    })),
  )

/** Calls that were paid and do not count, whatever the reason. */
export const excludedCalls = ({ excluded }: Pick<MarketFigures, 'excluded'>): number =>
  excluded.self_payments.calls + excluded.funded_by_seller.calls + excluded.one_funder.calls
