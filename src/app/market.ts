// Composition of the market.
import { type CatalogueSource, createCatalogue } from '../market/listings/catalogue.ts'
import { createMarketplace } from '../market/listings/index.ts'
import { OWN_FEE } from '../market/own-listing.ts'
import { createRecorder } from '../market/trust/recorder.ts'
import type { Lifetime } from './lifetime.ts'
import type { Payments } from './payments.ts'
import type { Platform } from './platform.ts'

/** Composes what handlers and doors reach of the market. */
export function openMarket(platform: Platform, { payTo }: Pick<Payments, 'payTo'>, lifetime: Lifetime) {
  const recorder = createRecorder(platform)
  lifetime.onClose(() => recorder.close())
  const nobody: CatalogueSource = {
    listListingsSince: () => Promise.resolve([]),
    listSellersSince: () => Promise.resolve([]),
    listProofsSince: () => Promise.resolve([]),
  }
  const catalogue = createCatalogue({
    ...platform,
    store: { ...platform.store, ...nobody },
    payTo,
    readFee: () => Promise.resolve(OWN_FEE),
  })
  lifetime.onClose(() => catalogue.settled())
  return { marketplace: createMarketplace({ ...platform, catalogue }), catalogue, recorder }
}
