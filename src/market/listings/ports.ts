// The interface that handlers see of what is offered on the market. Types only.
import type { MarketDetail, MarketPage, MarketQuery } from '../../../schemas/market.ts'
import type { DetailQuery } from './detail.ts'

export interface Marketplace {
  /** @throws {GatewayError} input_invalid for a cursor of another query */
  search(query: MarketQuery): Promise<MarketPage>
  /** @throws {GatewayError} service_not_found; input_invalid for a cursor of another list */
  get(query: DetailQuery): Promise<MarketDetail>
}
