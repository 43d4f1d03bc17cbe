// How what is sold here is found before it is asked for: `/.well-known/x402`, and `x-payment-info` of an operation. Both say what the
// registry says; what a call really costs is in its 402.
import type { MarketService } from '../../schemas/market.ts'
import { formatAtomic } from '../../schemas/money.ts'
import type { Addresses } from '../core/config.ts'
import type { PaymentNetwork } from '../core/networks.ts'
import { isAlwaysPaid } from '../core/price.ts'
import type { AnyTool, Registry, RestRoute } from '../core/registry.ts'
import type { Entry } from '../discovery/entry.ts'
import { listMarketServices } from '../discovery/market-listings.ts'
import { listOwnTools } from '../discovery/own-listings.ts'
import { toTimestamp } from '../lib/timestamp.ts'

type Json = Record<string, unknown>

export interface SellingParts {
  readonly networks: readonly PaymentNetwork[]
  readonly payTo: string | undefined
  /** Unix time in ms. */
  readonly startedAt: number
  readonly isSandbox: boolean
}

/**
 * `GET /.well-known/x402`. `version` and `resources` are what catalogues read (x402scan's discovery document); `items` are the same
 * resources as `GET /discovery/resources` has them, with prices and input schemas.
 */
export function x402Manifest(registry: Registry, { baseUrl }: Addresses, selling: SellingParts): Json {
  const entries = listOwnTools({ registry, baseUrl, ...selling })
  return {
    version: 1,
    x402Version: 2,
    environment: selling.isSandbox ? 'sandbox' : 'production',
    resources: [...new Set(entries.map(({ resource }) => resource))],
    instructions: INSTRUCTIONS,
    openapi: `${baseUrl}/openapi.json`,
    facilitator: `${baseUrl}/facilitator`,
    items: entries.map(describeEntry),
  }
}

function describeEntry(entry: Entry): Json {
  const { resource, type, method, x402Version, accepts, lastUpdated, description, mimeType } = entry
  const { serviceName, tags, extensions } = entry
  const shown = { resource, type, method, x402Version, accepts, lastUpdated, description, mimeType }
  return { ...shown, serviceName, tags, extensions }
}

const INSTRUCTIONS =
  'Send a request to one of `resources`: the answer is a 402 that says the exact price. Sign one of its `accepts` and send the ' +
  'identical request again. No account is needed. What is listed here is a preview; the 402 is what counts.'

/** `x-payment-info` of an operation (agentcash discovery 1.0); undefined for what costs nothing, or credits. */
export function paymentInfoOf(tool: AnyTool, { fixed }: Pick<RestRoute, 'fixed'>): Json | undefined {
  const { price } = tool
  if (price.kind !== 'x402') return undefined
  const amount = formatAtomic(price.amountAtomic)
  // Readers leave aside what they do not know of a protocol, and the others learn that this is test money.
  const x402 = fixed?.['testnet'] === true ? { testnet: true } : {}
  return { price: { ...priceHintOf(tool, amount), currency: 'USD' }, protocols: [{ x402 }] }
}

function priceHintOf(tool: AnyTool, amount: string): Json {
  const { price } = tool
  if (price.kind !== 'x402') return {}
  if (price.upToAtomic !== undefined || !isAlwaysPaid(tool)) {
    const max = formatAtomic(price.upToAtomic ?? price.amountAtomic)
    return { mode: 'dynamic', min: isAlwaysPaid(tool) ? amount : formatAtomic(0n), max }
  }
  // A tool that is quoted says its price beforehand; of another whose plan prices each call there is only the usual one.
  const isExact = price.networksFrom === 'known' || tool.errors.includes('quote_invalid')
  return isExact ? { mode: 'fixed', amount } : { mode: 'dynamic' }
}

/** Services whose items stand in the manifest; the others are at `marketplace.services`. */
const MAX_SERVICES = 200

/** The manifest with what the market sells at this moment. Words of sellers are marked in their `extensions.marketplace`. */
export function withMarket(
  manifest: Json,
  services: readonly MarketService[],
  { baseUrl }: Addresses,
  selling: SellingParts,
): Json {
  const listed = listMarketServices(services.slice(0, MAX_SERVICES), {
    ...selling,
    startedAt: toTimestamp(selling.startedAt),
  })
  return {
    ...manifest,
    resources: [...new Set([...listOf(manifest['resources']), ...listed.map(({ resource }) => resource)])],
    items: [...listOf(manifest['items']), ...listed.map(describeEntry)],
    marketplace: { services: `${baseUrl}/v1/marketplace/services`, rest: `${baseUrl}/discovery/resources` },
  }
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
