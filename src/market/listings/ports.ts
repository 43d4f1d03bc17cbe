// The interface that handlers see of what is offered on the market. Types only.
import type { MarketDetail, MarketPage, MarketQuery, MarketService } from '../../../schemas/market.ts'
import type { DetailQuery } from './detail.ts'

export interface Marketplace {
  /** @throws {GatewayError} input_invalid for a cursor of another query */
  search(query: MarketQuery): Promise<MarketPage>
  /** @throws {GatewayError} service_not_found; input_invalid for a cursor of another list */
  get(query: DetailQuery): Promise<MarketDetail>
  /** What is sold now, most payers first: at most 2,000. The same value until something of it changes. */
  sold(): Promise<readonly MarketService[]>
  /** @throws {GatewayError} not_found */
  ofSeller(sellerId: string): Promise<SellerOffers>
}

/** A seller with what it sells now. */
export interface SellerOffers {
  readonly sellerId: string
  readonly name: string
  readonly description: string
  readonly isOurs: boolean
  readonly services: readonly MarketService[]
}
