// Composition of the market.
import type { OpenEgress } from '../egress/index.ts'
import { createMarketCalls } from '../market/calls/index.ts'
import { createListings } from '../market/calls/listings.ts'
import type { OwnWork } from '../market/calls/ports.ts'
import { createCatalogue } from '../market/listings/catalogue.ts'
import { createMarketplace } from '../market/listings/index.ts'
import { OWN_SERVICE_ID } from '../market/own-listing.ts'
import { createRatings } from '../market/trust/ratings.ts'
import { createRecorder } from '../market/trust/recorder.ts'
import type { Outcomes } from '../outcomes/ports.ts'
import { neverGone } from '../core/priced-run.ts'
import type { Lifetime } from './lifetime.ts'
import type { Payments } from './payments.ts'
import type { Platform } from './platform.ts'

/** Composes what handlers and doors reach of the market. */
export function openMarket(
  platform: Platform,
  { payTo, gate, readMarket: readSettings }: Pick<Payments, 'payTo' | 'gate' | 'readMarket'>,
  { egress, outcomes }: { readonly egress: Pick<OpenEgress, 'unrecorded'>; readonly outcomes: Outcomes },
  lifetime: Lifetime,
) {
  const { config, store, isSandbox, now, deriveKey } = platform
  const { baseUrl } = platform.addresses
  const recorder = createRecorder(platform)
  lifetime.onClose(() => recorder.close())
  const readFee = async () => {
    const { fee } = await readSettings()
    return { bps: fee.bps, fixedAtomic: fee.fixed_atomic, minimumAtomic: fee.minimum_atomic }
  }
  const catalogue = createCatalogue({ ...platform, payTo, readFee })
  lifetime.onClose(() => catalogue.settled())
  const marketCalls = createMarketCalls({
    ...platform,
    baseUrl,
    recorder,
    unrecorded: egress.unrecorded,
    listings: createListings({ rows: store, readFee, now }),
    ownWork: { [OWN_SERVICE_ID]: digestFeeds(outcomes) },
    hasNoLimits: config.rateLimit === 0,
    rules: { ports: config.egressPorts, allowSandboxName: isSandbox },
    payerKey: deriveKey('market-payer'),
  })
  return {
    marketplace: createMarketplace({ ...platform, catalogue }),
    ratings: createRatings({ store, now, recorder, payments: gate, verifyOwn: platform.signer.verifyOwn }),
    marketCalls,
    catalogue,
    recorder,
    readSettings,
  }
}

/** The digest of `/v1/execute`, under the terms of the listing. */
const digestFeeds =
  (outcomes: Outcomes): OwnWork =>
  async ({ limit }) => {
    const { run } = outcomes.plan({ capability: 'feed-digest', limit })
    const { result, verification } = await run({ signal: neverGone })
    return { result, verification }
  }
