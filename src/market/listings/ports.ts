// The interface that handlers see of what is offered on the market. Types only.
import type {
  MarketConcentration,
  MarketDetail,
  MarketNetwork,
  MarketPage,
  MarketQuery,
  MarketService,
} from '../../../schemas/market.ts'
import type { SellerDay } from '../../store/ports.ts'
import type { ConcentrationQuery } from './concentration.ts'
import type { DetailQuery } from './detail.ts'

export interface Marketplace {
  /** @throws {GatewayError} input_invalid for a cursor of another query */
  search(query: MarketQuery): Promise<MarketPage>
  /** @throws {GatewayError} service_not_found; input_invalid for a cursor of another list */
  get(query: DetailQuery): Promise<MarketDetail>
  /** What is sold now, most payers first: at most 2,000. The same value until something of it changes. */
  sold(): Promise<readonly MarketService[]>
  /** How what was paid spreads over payers: as it was a second ago, or half a minute where they are many. */
  concentration(query: ConcentrationQuery): Promise<MarketConcentration>
  /** The last 30 days of all services of a seller together, oldest first; days without anything are left out. */
  sellerDays(sellerId: string, network: MarketNetwork): Promise<readonly SellerDay[]>
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
