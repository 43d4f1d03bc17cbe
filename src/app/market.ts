// Composition of the market.
import type { OpenEgress } from '../egress/index.ts'
import { createMarketCalls } from '../market/calls/index.ts'
import { createListings } from '../market/calls/listings.ts'
import type { OwnWork } from '../market/calls/ports.ts'
import { createCatalogue } from '../market/listings/catalogue.ts'
import { createMarketplace } from '../market/listings/index.ts'
import { OWN_SERVICE_ID } from '../market/own-listing.ts'
import { LIVE } from '../market/listings/shape.ts'
import { createProbes } from '../market/trust/probes.ts'
import { createTrustUpkeep } from '../market/trust/upkeep.ts'
import { createWashTrading } from '../market/trust/wash-trading.ts'
import { createRecount } from '../market/trust/recount.ts'
import { createRatings } from '../market/trust/ratings.ts'
import { createReadPublic } from '../market/sellers/read-public.ts'
import { createSellers } from '../market/sellers/index.ts'
import { createTryRoute } from '../market/sellers/try-route.ts'
import { createSellerUpkeep } from '../market/sellers/upkeep.ts'
import { createWebhooks } from '../market/sellers/webhooks.ts'
import { createTxtResolvers } from '../edge/adapters/txt.ts'
import { createTargets } from '../outbound/targets.ts'
import type { WebhookSender } from '../outbound/webhook.ts'
import { createRecorder } from '../market/trust/recorder.ts'
import type { Outcomes } from '../outcomes/ports.ts'
import { neverGone } from '../core/priced-run.ts'
import type { Lifetime } from './lifetime.ts'
import type { Payments } from './payments.ts'
import type { Platform } from './platform.ts'

/** Composes what handlers and doors reach of the market. */
export function openMarket(
  platform: Platform,
  {
    payTo,
    gate,
    chains,
    networks,
    ownAccounts,
    readMarket: readSettings,
  }: Pick<Payments, 'payTo' | 'gate' | 'chains' | 'networks' | 'ownAccounts' | 'readMarket'>,
  {
    egress,
    outcomes,
    webhooks: webhookSender,
  }: { readonly egress: OpenEgress; readonly outcomes: Outcomes; readonly webhooks: WebhookSender },
  lifetime: Lifetime,
) {
  const { config, log, store, isSandbox, now, deriveKey } = platform
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
  const target = { ports: config.egressPorts, allowSandboxName: isSandbox }
  const targets = createTargets({ ...platform, allowSandboxName: isSandbox, checkHost: egress.checkHost })
  const read = createReadPublic({
    ...platform,
    targets,
    egressPorts: config.egressPorts,
    allowSandboxName: isSandbox,
  })
  const sellers = createSellers({
    ...platform,
    settings: readSettings,
    proof: { txtResolvers: createTxtResolvers(config.dnsServers), read, allowSandboxName: isSandbox },
    read,
    tryRoute: createTryRoute({ ...platform, baseUrl, unrecorded: egress.unrecorded }),
    egress,
    payout: { networks, own: ownAccounts },
    payoutChain: chains.get('eip155:8453'),
    target,
    hasNoLimits: config.rateLimit === 0,
  })
  const webhooks = createWebhooks({ ...platform, post: webhookSender.post, sign: platform.signer.signText })
  const figures = createTrustUpkeep({
    ...platform,
    recount: createRecount(platform),
    washTrading: createWashTrading({
      ...platform,
      transfers: { incoming: async (account) => (await chains.get(LIVE)?.incomingTransfers(account)) ?? [] },
      ownAddresses: [...ownAccounts, ...(payTo === undefined ? [] : [payTo])].map((one) => one.toLowerCase()),
      async readRules() {
        const { trust } = await readSettings()
        return { sharedFunders: trust.shared_funders, ringSize: trust.ring_size }
      },
    }),
    probes: createProbes({
      ...platform,
      catalogue,
      recorder,
      targets,
      rules: target,
      readIntervalMs: async () => (await readSettings()).probes.interval_minutes * 60_000,
    }),
  })
  lifetime.onClose(() => figures.close())
  return {
    sellers,
    sellerUpkeep: createSellerUpkeep({ sellers, webhooks, log }),
    figures,
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
