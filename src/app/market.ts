// Composition of the market.
import { createMarketplace } from '../market/listings/index.ts'
import type { Payments } from './payments.ts'
import type { Platform } from './platform.ts'

/** Composes what handlers reach of the market. */
export function openMarket(platform: Pick<Platform, 'addresses'>, { payTo }: Pick<Payments, 'payTo'>) {
  return { marketplace: createMarketplace({ ...platform, payTo }) }
}
