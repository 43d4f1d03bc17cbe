// What a seller reads before the first listing: as a page and as JSON, from the same words.
import type { Addresses } from '../core/config.ts'

export interface SellingStep {
  readonly title: string
  readonly words: string
  readonly method: 'GET' | 'POST'
  readonly url: string
  /** An example of what is sent. */
  readonly body?: Readonly<Record<string, unknown>>
}

const ORIGIN = 'https://api.acme-weather.com'

/** The way from nothing to a service that is sold, in order. */
export const sellingSteps = ({ baseUrl }: Pick<Addresses, 'baseUrl'>): readonly SellingStep[] => [
  {
    title: 'Register',
    words:
      'Name, description and the account that payouts go to. The answer holds a key of role `seller`, shown once; it goes ' +
      'along with every further request as `Authorization: Bearer`.',
    method: 'POST',
    url: `${baseUrl}/v1/marketplace/sellers`,
    body: {
      seller: 'acme-weather',
      name: 'Acme Weather',
      description: 'Forecasts for every town.',
      payout_address: '0x00000000000000000000000000000000000acade',
    },
  },
  {
    title: 'Claim the host of your API',
    words:
      'The answer is a challenge: a DNS TXT record or a well-known file, and a text that the payout account signs. The proof is ' +
      'looked at again every day.',
    method: 'POST',
    url: `${baseUrl}/v1/marketplace/seller/hosts`,
    body: { origin: ORIGIN },
  },
  {
    title: 'Have the proof looked at',
    words:
      'Once the record or the file is there. `ownership_proofs` has the signature of the text by the payout account, EIP-191 or ' +
      'ERC-1271, in hexadecimal.',
    method: 'POST',
    url: `${baseUrl}/v1/marketplace/seller/hosts/verify`,
    body: { origin: ORIGIN, ownership_proofs: ['0x00'] },
  },
  {
    title: 'List services from an OpenAPI document',
    words:
      'Prices come from `x-payment-info`, and from `default_price_atomic` where there is none; `document` takes the OpenAPI document itself instead of ' +
      '`url`. One by one: POST /v1/marketplace/seller/services.',
    method: 'POST',
    url: `${baseUrl}/v1/marketplace/seller/services/import`,
    body: { service_id: 'weather', origin: ORIGIN, url: `${ORIGIN}/openapi.json` },
  },
  {
    title: 'Submit',
    words:
      'Your example is tried against your own schema. A first listing may need approval by the operator; until then it is called ' +
      'with test money, below /p/testnet/.',
    method: 'POST',
    url: `${baseUrl}/v1/marketplace/seller/services/submit`,
    body: { service_id: 'weather' },
  },
  {
    title: 'See money and calls',
    words:
      'Your statement, with every sale, refund and payout, is GET /v1/marketplace/seller/statement with your key. Payouts are ' +
      'public: each with its transfer and a receipt.',
    method: 'GET',
    url: `${baseUrl}/v1/marketplace/payouts`,
  },
]

/** `seller_onboarding` for a program. */
export const sellingDocument = (addresses: Pick<Addresses, 'baseUrl'>): Record<string, unknown> => ({
  title: 'Sell an HTTP API to agents',
  register: { method: 'POST', url: `${addresses.baseUrl}/v1/marketplace/sellers` },
  steps: sellingSteps(addresses),
  openapi: `${addresses.baseUrl}/openapi.json`,
  services: `${addresses.baseUrl}/v1/marketplace/services`,
  rules: SELLING_RULES,
})

export const SELLING_RULES: readonly string[] = [
  'A buyer pays the gateway; the ledger owes you the price less the fee, and payouts are USDC transfers with a public proof.',
  'A call that fails, times out or does not fit your own schema is not charged, and counts against the service.',
  'The fee is min(amount, max(minimum, ceil(amount x bps / 10000) + fixed)); an offer that is open keeps its price.',
  'Figures are computed from receipts and from our own looks. Payments of your own addresses, and of wallets that they fund, do not count.',
  'Your words are shown as the words of a seller.',
]

export interface FigureMethod {
  readonly figure: string
  readonly words: string
}

/** How each figure comes about. docs/guides/market-figures.md says the same at length, and a test holds the two together. */
export const FIGURE_METHODS: readonly FigureMethod[] = [
  {
    figure: 'settled_calls',
    words:
      'Payments that settled for a call of the service, each with a receipt, since the listing began. Those of `excluded` do not count.',
  },
  { figure: 'unique_payers', words: 'Different paying addresses among them.' },
  { figure: 'repeat_payers', words: 'Those of the payers that paid at least twice.' },
  { figure: 'volume_atomic', words: 'What those calls cost together, before refunds.' },
  {
    figure: 'excluded.self_payments',
    words: "Paid from the payout address, or from any address that was the seller's before.",
  },
  {
    figure: 'excluded.funded_by_seller',
    words:
      "Paid from a wallet that got USDC from one of the seller's addresses, directly or by way of one wallet.",
  },
  {
    figure: 'excluded.one_funder',
    words:
      'Paid from wallets of which ten or more that paid this seller got USDC from one and the same wallet. Accounts that fund everybody, ' +
      "which the operator names, are no such wallet, and how many make a ring is the operator's to say.",
  },
  {
    figure: 'concentration.largest_payer_share',
    words:
      'What the payer paid that paid most, divided by the volume. Near 1, the figures are those of one buyer.',
  },
  {
    figure: 'last_30_days.success_rate',
    words:
      'Settled calls, divided by settled calls and failures that are the fault of the service. Null where there were none.',
  },
  {
    figure: 'last_30_days.failures',
    words: 'Calls that were paid for and not charged, by what was wrong with the answer of the service.',
  },
  {
    figure: 'last_30_days.p50_ms',
    words:
      'From the request to the upstream to its last byte, of settled calls: the upper bound of the histogram bucket that holds the middle.',
  },
  { figure: 'last_30_days.p95_ms', words: 'As p50, of the 95th percentile.' },
  {
    figure: 'last_30_days.refunds',
    words: 'Refunds that were sent back as transfers, and their sum in `refunded_atomic`.',
  },
  {
    figure: 'uptime_30_days',
    words:
      "Unpaid looks at the seller's host by us that were answered at all, with any status below 500, divided by all looks.",
  },
  {
    figure: 'ratings',
    words: 'One for each paid call, by whoever paid. Those of excluded payers are shown and do not count.',
  },
  {
    figure: 'days_since_proof',
    words: 'Since the record or file and the signature of the payout address were last seen.',
  },
  {
    figure: 'challenge_score',
    words:
      "What POST /v1/test says of the 402 that the seller's own endpoint answers an unpaid request with, where it answers so.",
  },
]
