// Composition of what reads public pages: outcomes, paid web fetch and discovery.
import type { Registry } from '../core/registry.ts'
import { createPlainSender } from '../discovery/adapters/plain-http.ts'
import { createDiscovery, type DiscoveryParts } from '../discovery/index.ts'
import type { OpenEgress } from '../egress/index.ts'
import { createTargets } from '../outbound/targets.ts'
import { type AnalysisTimes, createAnalyserPool } from '../outcomes/adapters/pool.ts'
import type { GatherLimits } from '../outcomes/sources/gather.ts'
import { createOutcomes } from '../outcomes/index.ts'
import { createQuotes } from '../payments/quotes.ts'
import { createWebFetch } from '../webfetch/index.ts'
import type { Platform } from './platform.ts'
import type { Lifetime } from './lifetime.ts'
import type { Payments } from './payments.ts'

/** What a page is read and analysed in; in milliseconds. */
export interface ReadingTimes {
  readonly sources?: Partial<GatherLimits>
  readonly analyses?: AnalysisTimes
}

export type Reading = ReturnType<typeof openReading>

/** Composes what reads public pages: outcomes, paid web fetch and discovery. */
export function openReading(
  platform: Platform,
  payments: Pick<Payments, 'networks' | 'payTo' | 'router' | 'settledListings'>,
  { checkHost }: Pick<OpenEgress, 'checkHost'>,
  registry: Registry,
  soldOnMarket: DiscoveryParts['soldOnMarket'],
  lifetime: Lifetime,
  times: ReadingTimes = {},
) {
  const { config, isSandbox, signer, now } = platform
  const { networks, payTo, router } = payments
  const { baseUrl, siteUrl } = platform.addresses
  const { verifyOwn } = signer
  const outbound = { ...platform, payTo, baseUrl, siteUrl, checkHost }

  const analyser = createAnalyserPool(times.analyses)
  lifetime.onClose(() => analyser.close())
  const outcomes = createOutcomes({
    targets: createTargets({ ...outbound, allowSandboxName: isSandbox }),
    sender: platform.sender,
    analyser,
    quotes: createQuotes({ signer, verifyOwn, payTo, baseUrl, isSandbox, now }),
    baseUrl,
    rules: { ports: config.egressPorts, allowSandboxName: isSandbox },
    feedSources: config.feedSources,
    robots: config.robots,
    about: `${siteUrl}/reader`,
    limits: times.sources,
    now,
  })
  const webFetch = createWebFetch({ ...outbound, networks, router, verifyOwn })
  const discovery = createDiscovery({
    ...outbound,
    plainSender: createPlainSender(),
    registry,
    networks,
    settled: payments.settledListings,
    soldOnMarket,
  })
  lifetime.onClose(() => discovery.close())
  return { analyser, outcomes, webFetch, discovery }
}
