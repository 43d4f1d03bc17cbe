// Documents about the gateway, generated from the registry: what a tool file says is what every document says.
import type { MarketService } from '../../schemas/market.ts'
import { WEB_FETCH } from '../../schemas/web-fetch.ts'
import type { Config } from '../core/config.ts'
import type { Addresses } from '../core/config.ts'
import { GatewayError } from '../core/errors.ts'
import type { Provider } from '../egress/providers/index.ts'
import type { CapabilityFacts } from '../outcomes/descriptors.ts'
import type { Registry } from '../core/registry.ts'
import { catalogueOf, describeCapabilities } from './catalogue.ts'
import { actionsManifest, actionsPricing } from './actions.ts'
import { egressManifest, egressPricing, egressProviders } from './egress.ts'
import { protocolManifest } from './protocols.ts'
import { describeWebFetch } from './web-fetch.ts'
import { type SellingParts, withMarket, x402Manifest } from './x402.ts'

export interface DocumentParts {
  readonly registry: Registry
  readonly addresses: Addresses
  readonly config: Pick<Config, 'serviceKeyCredits'>
  /** Live outcomes; those of src/outcomes/descriptors.ts. */
  readonly capabilities: readonly CapabilityFacts[]
  readonly providers: readonly Provider[]
  /** Whether somebody is paid for what is sold here, on a network with a chain behind it. */
  readonly isPayable?: boolean
  /** On which networks, and to whom, it is paid; nothing is for sale without. */
  readonly selling?: SellingParts
}

/** Everything is generated once, at start, from the registry and the addresses. */
export function createDocuments(parts: DocumentParts) {
  const { registry, addresses, providers } = parts
  const webFetch = registry.find(WEB_FETCH)
  const catalogueParts = {
    webFetch,
    isPayable: parts.isPayable ?? true,
    execute: registry.find('gateway_execute'),
    capabilities: parts.capabilities,
    addresses,
  }
  const catalogue = catalogueOf(catalogueParts)
  const described = [
    ...describeCapabilities(catalogueParts),
    ...(webFetch ? [describeWebFetch(webFetch, addresses)] : []),
  ]
  const descriptors = new Map(described.map((entry) => [entry['id'], entry]))
  const protocols = protocolManifest(registry, addresses)
  const manifest = egressManifest(addresses, providers)
  const pricing = egressPricing(addresses, parts.config)
  const actions = actionsManifest(registry, addresses)
  const actionPrices = actionsPricing(addresses, parts.config)
  const presets = egressProviders(addresses, providers)
  const selling = parts.selling ?? { networks: [], payTo: undefined, startedAt: 0, isSandbox: false }
  const x402 = x402Manifest(registry, addresses, selling)

  return {
    catalogue: () => catalogue,
    /** @throws {GatewayError} not_found */
    capability(id: string) {
      const descriptor = descriptors.get(id)
      if (!descriptor)
        throw new GatewayError(
          'not_found',
          `No capability has this id. Use one of: ${[...descriptors.keys()].join(', ')}.`,
        )
      return descriptor
    },
    protocols: () => protocols,
    actionsManifest: () => actions,
    actionsPricing: () => actionPrices,
    egressManifest: () => manifest,
    egressPricing: () => pricing,
    egressProviders: () => presets,
    x402: (onMarket: readonly MarketService[] = []) => withMarket(x402, onMarket, addresses, selling),
  }
}
