import { z } from 'zod'
import { Timestamp } from '../schemas/http.ts'
import { free } from '../src/core/price.ts'
import { NormalisedFetch, QuoteRequest } from '../schemas/web-fetch.ts'
import { defineTool } from './services.ts'

const Quote = z.strictObject({
  quote_id: z.string(),
  quote: z.string().describe('Compact JWS (EdDSA); send it as X-Gateway-Quote with the very same request'),
  issued_at: Timestamp,
  expires_at: Timestamp,
  valid_for_seconds: z.int(),
  notice: z.string().optional().describe('In a sandbox: that this is test money'),
  tool: z.string(),
  request: NormalisedFetch,
  request_digest: z.string().describe('Base64url SHA-256 over the RFC 8785 form of `request`'),
  terms: z.looseObject({
    scheme: z.string(),
    network: z.string(),
    asset: z.string(),
    amount_atomic: z.string(),
    amount: z.string(),
    pay_to: z.string().nullable(),
  }),
  economics: z.record(z.string(), z.unknown()),
  how_to_pay: z.looseObject({ method: z.string(), url: z.string() }),
})

/** A promise of the price; the 402 of a fetch carries one by itself. */
export const pricingQuote = defineTool({
  name: 'gateway.pricing.quote',
  toolset: 'payments',
  title: 'Quote a web fetch',
  summary:
    'A signed quote for one exact web fetch, valid for 300 seconds: price, network, who is paid, how to pay. Free, and ' +
    'optional: the fetch itself answers the first request with a quote. The target is not contacted.',
  brief:
    'Signed quote for one exact web fetch, valid for 300 seconds. Free and optional: an unpaid fetch answers with one.',
  input: QuoteRequest,
  output: Quote,
  price: free,
  caller: 'anyone',
  effects: { readOnly: true, idempotent: true, openWorld: false },
  rest: { method: 'POST', path: '/v1/pricing/quote', operationId: 'quoteWebFetch' },
  errors: [
    'input_conflict',
    'target_invalid',
    'target_blocked',
    'payments_unavailable',
    'tool_unavailable',
    'egress_paused',
  ],
  examples: [
    { title: 'A page', input: { url: 'https://example.com/', method: 'GET', testnet: false } },
    { title: 'With test money', input: { url: 'https://example.com/', method: 'GET', testnet: true } },
  ],
  maxBodyBytes: 64 * 1024,
  handle: async function pricingQuote(input, { webFetch }) {
    return (await webFetch.quote(input)) as z.infer<typeof Quote>
  },
})
