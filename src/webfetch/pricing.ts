// The pricing document (5.1.0), to the field tables of the specification; preflights and quotes say the same.
import { QUOTE_SECONDS } from '../../schemas/money.ts'
import {
  FetchMethod,
  FetchMode,
  FetchNetwork,
  MAX_BYTES,
  TIMEOUT_MS,
  URL_ALIASES,
  WEB_FETCH,
} from '../../schemas/web-fetch.ts'
import { CATALOGUE_VERSION } from '../core/config.ts'
import { type Economics, FORMULA, LEGACY_MARGIN } from './economics.ts'
import {
  type FetchNetworkId,
  inspectConfiguration,
  inspectRail,
  pinnedNetwork,
  railId,
  type RailParts,
} from './rails.ts'
import { PRODUCTION, TESTNET } from './shapes.ts'

export interface PricingParts extends RailParts {
  readonly baseUrl: string
  readonly economics: Economics
  readonly amountAtomic: bigint
}

export const FETCH_PATH = '/v1/tools/web.fetch'
export const TESTNET_FETCH_PATH = '/v1/tools/web.fetch/testnet'
export const QUOTE_PATH = '/v1/pricing/quote'
export const PREFLIGHT_PATH = '/v1/preflight'

/** The route that sells on this network: the test network has one of its own. */
export const pathOf = (network: FetchNetworkId) => (network === TESTNET ? TESTNET_FETCH_PATH : FETCH_PATH)

/** Asks the router what is alive: `configured` says what is true now. */
export async function pricingDocument(parts: PricingParts): Promise<Record<string, unknown>> {
  const { baseUrl } = parts
  const [production, test] = await Promise.all([inspectRail(parts, PRODUCTION), inspectRail(parts, TESTNET)])
  return {
    version: CATALOGUE_VERSION,
    currency: 'USDC',
    decimals: 6,
    free_tools: ['gateway.capabilities', 'gateway.preflight', 'gateway.pricing.quote'],
    preflight_endpoint: baseUrl + PREFLIGHT_PATH,
    tools: { [WEB_FETCH]: toolPrice(parts, production.ready, test.ready) },
    quote_endpoint: baseUrl + QUOTE_PATH,
    quote_ttl_seconds: QUOTE_SECONDS,
    quote_request: quoteRequest(baseUrl),
    paid_flow: paidFlow(baseUrl),
  }
}

function toolPrice(parts: PricingParts, isConfigured: boolean, isTestConfigured: boolean) {
  const { economics } = parts
  const amount = parts.amountAtomic.toString()
  const production = pinnedNetwork(PRODUCTION)
  const test = pinnedNetwork(TESTNET)
  return {
    available: economics.available && inspectConfiguration(parts, PRODUCTION).ready,
    payment_environment: 'production',
    formula: FORMULA,
    economics,
    legacy_margin_semantics: LEGACY_MARGIN,
    maximum_upstream_cost_usd_micros: economics.provider_cost_usd_micros,
    gateway_margin_usd_micros: economics.customer_price_usd_micros - economics.provider_cost_usd_micros,
    customer_price_usd_micros: economics.customer_price_usd_micros,
    amount_atomic: amount,
    network: PRODUCTION,
    asset: production.asset.address,
    payment_rails: [
      {
        id: railId(PRODUCTION),
        provider: 'x402',
        environment: 'production',
        network: PRODUCTION,
        asset: production.asset.address,
        configured: isConfigured,
      },
    ],
    testnet: {
      environment: 'test',
      revenue: test.revenue,
      network: TESTNET,
      asset: test.asset.address,
      amount_atomic: amount,
      configured: isTestConfigured,
      rail: railId(TESTNET),
    },
  }
}

const EXAMPLE_URL = 'https://example.com/'
const INNER = { url: EXAMPLE_URL, method: 'GET' }

/** The seven shapes, each ready to send. */
export const SHAPE_EXAMPLES: readonly Readonly<Record<string, unknown>>[] = [
  { ...INNER, testnet: false },
  { tool: WEB_FETCH, input: INNER, testnet: false },
  { name: WEB_FETCH, arguments: INNER, testnet: false },
  { tool_name: WEB_FETCH, parameters: INNER, network: PRODUCTION },
  { function: { name: WEB_FETCH, arguments: JSON.stringify(INNER) }, testnet: false },
  { command: `curl -X GET ${EXAMPLE_URL}`, testnet: false },
  { operation: { name: WEB_FETCH, arguments: { endpoint: EXAMPLE_URL, method: 'GET' } }, testnet: false },
]

const quoteRequest = (baseUrl: string) => ({
  method: 'POST',
  url: baseUrl + QUOTE_PATH,
  content_type: 'application/json',
  required: ['url'],
  url_aliases: URL_ALIASES,
  command_aliases: ['curl', 'command'],
  url_rules: 'A public HTTPS URL without credentials and without a fragment.',
  optional: {
    tool: { type: 'string', allowed: [WEB_FETCH], default: WEB_FETCH },
    method: { type: 'string', allowed: FetchMethod.options, default: 'GET' },
    timeout_ms: { type: 'integer', aliases: ['timeoutMs'], ...rangeOf(TIMEOUT_MS) },
    max_bytes: { type: 'integer', aliases: ['maxBytes'], ...rangeOf(MAX_BYTES) },
    mode: { type: 'string', allowed: FetchMode.options, default: 'auto' },
    testnet: { type: 'boolean', default: false, equivalent_to: { network: TESTNET } },
    network: { type: 'string', allowed: FetchNetwork.options, default: PRODUCTION },
  },
  shapes: SHAPE_EXAMPLES,
  ambiguous: 'The same thing may be said twice; two different values for one field are refused.',
})

const rangeOf = ({ min, max, default: value }: typeof TIMEOUT_MS | typeof MAX_BYTES) => ({
  minimum: min,
  maximum: max,
  default: value,
})

const paidFlow = (baseUrl: string) => ({
  protocol: 'x402 v2',
  endpoint: baseUrl + FETCH_PATH,
  testnet_endpoint: baseUrl + TESTNET_FETCH_PATH,
  account_required: false,
  payer_must_be_funded: true,
  steps: [
    `Optional and free: POST the request to ${PREFLIGHT_PATH}; the target is not contacted.`,
    `POST the request to ${FETCH_PATH}. The answer is 402 with a Payment-Required header and a signed quote in X-Gateway-Quote.`,
    'Sign one of the `accepts` of Payment-Required.',
    'Send the identical request again with Payment-Signature. X-Gateway-Quote may be sent along; if it is, it must be the one of this request.',
    'The answer is 200 with Payment-Response, the content, a signed receipt and signed evidence of the execution.',
  ],
  charged:
    'Any complete HTTP answer of the source, 3xx to 5xx included; with mode json only JSON. Otherwise nothing is charged.',
})
