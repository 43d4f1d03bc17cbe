// The envelope of every outcome, whatever the capability.
import { z } from 'zod'
import { PreviewResult } from './extract-preview.ts'
import { FeedDigestResult } from './feed-digest.ts'
import { ProductOffersResult } from './product-offers.ts'
import { Receipt } from './receipt.ts'
import { Sha256 } from './sources.ts'
import { WebExtractionResult } from './web-extraction.ts'

export const OUTCOME_IDS = ['extract-preview', 'web-extraction', 'product-offers', 'feed-digest'] as const
export const OutcomeId = z.enum(OUTCOME_IDS)
export type OutcomeId = z.infer<typeof OutcomeId>

/** Characters of HTML that a preview reads: Unicode characters as JSON Schema counts them, not bytes. */
export const MAX_HTML_CHARACTERS = 12_288

const Verification = z.strictObject({
  algorithm: z.literal('sha-256'),
  encoding: z.literal('hex'),
  source_sha256: Sha256.nullable().describe(
    'Of the HTML in UTF-8, as sent (of `result.source.html` for a sample); null where sources were fetched: see `sources`',
  ),
  text_sha256: Sha256.nullable().describe(
    'Of `result.document.text` in UTF-8, also where `format` leaves it out; null where there are several: see `parts`',
  ),
  result_sha256: Sha256.describe('Of `result` as canonical JSON (RFC 8785)'),
  request_sha256: Sha256.describe(
    'Of `intent.request` as canonical JSON (RFC 8785). `request_digest` of quote and receipt is the same in base64url of ' +
      '`intent.request` with `capability` and the `network` of `cost` added',
  ),
  sources: z
    .array(z.strictObject({ url: z.string(), bytes: z.int().min(0), sha256: Sha256 }))
    .describe('Raw bytes of each source that was used, after decompression'),
  parts: z
    .array(z.strictObject({ pointer: z.string(), sha256: Sha256 }))
    .describe('JSON Pointers into `result`: the SHA-256 of the string found there, in UTF-8'),
  normaliser: z
    .string()
    .describe('Version of the rules that made the text; same rules and source, same digests'),
  deterministic: z
    .boolean()
    .describe(
      'Same request and same source bytes, same result, but for the times of this reading and what follows from them',
    ),
})
export type Verification = z.infer<typeof Verification>

const Cost = z.strictObject({
  amount_atomic: z.string(),
  amount: z.string().describe('Decimal with six places'),
  currency: z.literal('USDC'),
  decimals: z.literal(6),
  paid: z.boolean(),
  network: z.string().nullable().describe('CAIP-2; null where nothing is paid'),
  revenue: z.boolean().describe('False for test money and for what is free'),
  settlement: z
    .strictObject({
      scheme: z.literal('exact'),
      claim_id: z.string(),
      url: z.string().describe('State of the payment and stored result, for who shows the payment again'),
    })
    .nullable()
    .describe('The payment; its transaction is in `receipt` and in Payment-Response'),
})
export type Cost = z.infer<typeof Cost>

const UnderstoodIntent = z.strictObject({
  kind: z.enum(['demo', 'capability']),
  capability: OutcomeId,
  text: z.string().nullable().describe('The intent in words, when one was sent'),
  read_from: z.array(z.string()).describe('JSON Pointers of the input that decided it'),
  request: z
    .record(z.string(), z.unknown())
    .describe('The normalised request; supplied HTML stands as its digest'),
  ignored: z.array(z.string()).describe('JSON Pointers of input that this capability has no use for'),
  left_out: z
    .array(z.strictObject({ job: z.string(), name: z.string(), why: z.string(), nearest: OutcomeId }))
    .describe('Jobs that the words asked for besides, and that are not done here; the 402 said so, too'),
})

export const OutcomeResult = z.union([
  PreviewResult,
  WebExtractionResult,
  ProductOffersResult,
  FeedDigestResult,
])
export type OutcomeResult = z.infer<typeof OutcomeResult>

/** Answer of `gateway_execute`. */
export const Execution = z.strictObject({
  ok: z.literal(true),
  intent: UnderstoodIntent,
  capability: OutcomeId,
  result: OutcomeResult,
  verification: Verification,
  cost: Cost,
  receipt: Receipt.nullable().describe(
    'Null where nothing was charged. It names this answer: `result_sha256` in it is the hex SHA-256 of the answer as it was ' +
      'sent, as JSON without spaces and without this last member',
  ),
})
export type Execution = z.infer<typeof Execution>
