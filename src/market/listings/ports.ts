// The interface that handlers see of what is offered on the market. Types only.
import type { MarketPage, MarketQuery } from '../../../schemas/market.ts'

export interface Marketplace {
  /** @throws {GatewayError} input_invalid for a cursor of another query */
  search(query: MarketQuery): Promise<MarketPage>
}
