// The public shape of a listing: the specification's members, in its order, and ours behind them.
import type { MarketFigures, MarketNetwork, MarketService } from '../../../schemas/market.ts'
import type { Addresses } from '../../core/config.ts'
import { toTimestamp, toTimestampOrNull } from '../../lib/timestamp.ts'
import type { FeeTerms, ListingRoute } from '../../store/ports.ts'
import { allocate } from '../fee.ts'
import { isSold, type Offer, whyNotTested } from './offer.ts'

export const LIVE: MarketNetwork = 'eip155:8453'
export const TEST: MarketNetwork = 'eip155:84532'

const CAPABILITIES: MarketService['capabilities'] = ['paid-http-api', 'signed-receipt', 'idempotent-payment']
const AUTHENTICATION =
  'An x402 v2 payment in Payment-Signature (v1: X-PAYMENT). No account and no key; the payer must be funded.'
const NO_INPUT = { type: 'object', properties: {}, additionalProperties: false }

/** @param network whose address the listing names: test money is taken below `/p/testnet/` */
export function describeOffer(
  offer: Offer,
  stats: MarketFigures,
  { baseUrl, siteUrl }: Pick<Addresses, 'baseUrl' | 'siteUrl'>,
  network: MarketNetwork,
): MarketService {
  const { document, fee, sellerId, serviceId } = offer
  const endpoint = endpointOf(offer, baseUrl, network)
  const self = `${baseUrl}/v1/marketplace/services/${sellerId}/${serviceId}`
  const route = priceRoute(document.routes)
  const untested = network === TEST && isSold(offer) ? whyNotTested(offer) : null
  const sold = isSold(offer) && untested === null
  return {
    seller: sellerId,
    service_id: serviceId,
    name: document.name,
    description: document.description,
    price: priceOf(route),
    route_pricing:
      document.routes.length < 2
        ? []
        : document.routes.map((one) => ({
            method: one.method,
            path: one.path,
            price: priceOf(one),
            allocation: allocationOf(one, fee),
          })),
    platform_fee: policyOf(fee),
    allocation: allocationOf(route, fee),
    payout_destination: offer.payoutDestination,
    payout_mode: offer.payoutMode,
    endpoint,
    allowed_methods: [...new Set(document.routes.map(({ method }) => method))],
    input_schema: { ...(route.inputSchema ?? NO_INPUT) },
    capabilities: [...CAPABILITIES],
    availability: sold ? 'available' : 'unavailable',
    status: offer.state,
    unavailable_reason: sold ? null : (untested ?? offer.stateReason ?? `The service is ${offer.state}.`),
    max_requests_per_minute: document.maxRequestsPerMinute,
    created_at: toTimestampOrNull(offer.createdAt),
    authentication: AUTHENTICATION,
    curl: curlOf(route, endpoint),
    discovery: self,
    version: offer.version,
    tags: [...document.tags],
    words_of_seller: !offer.isOurs,
    routes: document.routes.map(describeRoute),
    stats,
    proof: offer.proof && {
      host: offer.proof.host,
      method: offer.proof.method,
      proven_at: toTimestamp(offer.proof.provenAt),
    },
    refund_policy: document.refundPolicy,
    terms_url: document.termsUrl,
    notes: [...offer.notes],
    links: {
      self,
      openapi: `${baseUrl}/p/${sellerId}/openapi.json`,
      llms: `${baseUrl}/p/${sellerId}/llms.txt`,
      figures_method: `${siteUrl}/marketplace/figures`,
    },
  }
}

/** With the slash: that is the canonical resource of the route `/`. */
export const endpointOf = (
  { sellerId, serviceId }: Pick<Offer, 'sellerId' | 'serviceId'>,
  baseUrl: string,
  network: MarketNetwork,
): string => `${baseUrl}/p/${network === TEST ? 'testnet/' : ''}${sellerId}/${serviceId}/`

/** Decides which price is named first: that of `/`, else the lowest. */
export function priceRoute(routes: readonly ListingRoute[]): ListingRoute {
  const [first, ...others] = routes
  if (!first) throw new Error('a listing has a route')
  return (
    routes.find(({ path }) => path === '/') ??
    others.reduce((best, one) => (BigInt(one.priceAtomic) < BigInt(best.priceAtomic) ? one : best), first)
  )
}

const priceOf = ({ priceAtomic }: ListingRoute): MarketService['price'] => ({
  amount_atomic: priceAtomic,
  currency: 'USDC',
  decimals: 6,
})

const policyOf = ({ bps, fixedAtomic, minimumAtomic }: FeeTerms): MarketService['platform_fee'] => ({
  bps,
  fixed_atomic: fixedAtomic,
  minimum_atomic: minimumAtomic,
  rounding: 'ceil_to_atomic_unit',
})

function allocationOf({ priceAtomic }: ListingRoute, fee: FeeTerms): MarketService['allocation'] {
  const { grossAtomic, platformFeeAtomic, sellerProceedsAtomic } = allocate(BigInt(priceAtomic), fee)
  return {
    gross_atomic: String(grossAtomic),
    platform_fee_atomic: String(platformFeeAtomic),
    seller_proceeds_atomic: String(sellerProceedsAtomic),
    policy: policyOf(fee),
  }
}

function describeRoute(route: ListingRoute): MarketService['routes'][number] {
  const { method, path, summary, priceAtomic, example } = route
  return {
    method,
    path,
    summary,
    price_atomic: priceAtomic,
    input_schema: route.inputSchema,
    body_schema: route.bodySchema,
    output_schema: route.outputSchema,
    example: example && { ...example },
    timeout_ms: route.timeoutMs,
  }
}

/** Values that a path or a query takes as they are; whatever else an example holds is left to the reader. */
const isPlain = (value: unknown): value is string | number | boolean =>
  ['string', 'number', 'boolean'].includes(typeof value)

interface ExampleOf extends Pick<ListingRoute, 'path'> {
  readonly example: { readonly query?: Readonly<Record<string, unknown>> | undefined } | null
}

/** The address of a route's example, with path parameters filled in. */
export function exampleUrl({ path, example }: ExampleOf, endpoint: string): string {
  const values = Object.entries(example?.query ?? {}).filter(([, value]) => isPlain(value))
  const inPath = new Set<string>()
  const filled = path.slice(1).replaceAll(/\{([^{}]+)\}/g, (whole, name: string) => {
    const value = values.find(([key]) => key === name)
    if (!value) return whole
    inPath.add(name)
    return encodeURIComponent(String(value[1]))
  })
  const query = new URLSearchParams(
    Object.fromEntries(
      values.filter(([name]) => !inPath.has(name)).map(([name, value]) => [name, String(value)]),
    ),
  ).toString()
  return endpoint + filled + (query === '' ? '' : `?${query}`)
}

/** Text inside single quotes of a POSIX shell, where nothing but the quote itself means anything. */
const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

function curlOf(route: ListingRoute, endpoint: string): string {
  const url = quoted(exampleUrl(route, endpoint))
  // A method that curl takes for HEAD waits for a body that never comes.
  const method = route.method === 'GET' ? '' : route.method === 'HEAD' ? ' -I' : ` -X ${route.method}`
  const body =
    route.example?.body === undefined
      ? ''
      : ` -H 'content-type: application/json' --data-raw ${quoted(JSON.stringify(route.example.body))}`
  return `curl -sS -i${method}${body} ${url}`
}
