// What sellers send and are shown: their own state, their hosts and their listings, whole.
import { z } from 'zod'
import { HttpMethod, Timestamp } from './http.ts'

const Address = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/)
  .describe('Account address 0x…; mixed case is its EIP-55 checksum')
const AtomicPrice = z
  .string()
  .regex(/^[1-9]\d{0,14}$/)
  .describe('Atomic units of USDC: 10000 is one cent')
const Schema = z.record(z.string(), z.unknown())
const HttpsUrl = z.string().min(9).max(2048).startsWith('https://')

export const NewSellerId = z
  .string()
  .min(3)
  .max(40)
  .regex(/^[a-z0-9-]+$/)
  .describe('Your id in addresses, for ever: a-z, 0-9, hyphens')
export const NewServiceId = z
  .string()
  .min(2)
  .max(64)
  .regex(/^[a-z0-9-]+$/)
  .describe('Id of your service: a-z, 0-9, hyphens')

export const sellerFields = {
  name: z.string().trim().min(1).max(80).describe('Name'),
  description: z.string().max(2000).describe('In your words'),
  payout_address: Address,
  contact: z.string().max(200).nullable().describe('Shown to the operator only; null: none'),
  webhook_url: HttpsUrl.nullable().describe(
    'https: events are sent there, signed (Standard Webhooks); null: none',
  ),
}

export const RouteInput = z.strictObject({
  path: z.string().min(1).max(256).startsWith('/').default('/').describe('`/` or `/quotes/{symbol}`'),
  method: HttpMethod.default('GET').describe('HTTP method'),
  summary: z.string().max(300).default('').describe('What it answers'),
  price_atomic: AtomicPrice,
  input_schema: Schema.nullable()
    .default(null)
    .describe('JSON Schema 2020-12 of query and path parameters, as one object; null: none is taken'),
  body_schema: Schema.nullable().default(null).describe('Of the JSON body; null: none is taken'),
  output_schema: Schema.nullable()
    .default(null)
    .describe('Of the answer: one that does not fit is not charged; null: any 2xx that is no error page'),
  example: z
    .strictObject({
      query: Schema.optional().describe('Query and path parameters'),
      body: z
        .unknown()
        .meta({ advertisedAs: { type: 'object', additionalProperties: true } })
        .optional()
        .describe('JSON body'),
    })
    .nullable()
    .default(null)
    .describe('A request that works: it is tried before the service is sold'),
  timeout_ms: z.int().min(500).max(30_000).default(10_000).describe('For your whole answer'),
  max_response_bytes: z.int().min(1024).max(1_048_576).default(262_144).describe('Largest answer'),
})
export type RouteInput = z.infer<typeof RouteInput>

const MAX_ROUTES = 32

export const listingFields = {
  name: z.string().trim().min(1).max(80).describe('Name'),
  description: z.string().max(4000).describe('For agents that choose; shown as your words'),
  tags: z.array(z.string().trim().toLowerCase().min(1).max(40)).max(10).describe('Words to find it by'),
  origin: HttpsUrl.describe('`https://api.example.com`: a host that you have proven'),
  base_path: z.string().max(200).describe('Put before the path of each route: `/v2`'),
  routes: z.array(RouteInput).min(1).max(MAX_ROUTES).describe('What is sold: one price each'),
  max_requests_per_minute: z.int().min(1).max(100_000).describe('Of all buyers together'),
  refund_policy: z.string().max(1000).nullable().describe('In your words'),
  terms_url: HttpsUrl.nullable().describe('https'),
  takes_test_money: z
    .boolean()
    .describe(
      'Whether it answers below /p/testnet/ for test money, which is free, while it is sold; drafts always do',
    ),
}

export const ListingEdit = z.strictObject({
  name: listingFields.name.optional(),
  description: listingFields.description.optional(),
  tags: listingFields.tags.optional(),
  origin: listingFields.origin.optional(),
  base_path: listingFields.base_path.optional(),
  routes: listingFields.routes.optional(),
  max_requests_per_minute: listingFields.max_requests_per_minute.optional(),
  refund_policy: listingFields.refund_policy.optional(),
  terms_url: listingFields.terms_url.optional(),
  takes_test_money: listingFields.takes_test_money.optional(),
})
export type ListingEdit = z.infer<typeof ListingEdit>

const State = z.enum(['draft', 'pending', 'active', 'paused', 'suspended', 'retired'])

/** A listing as its seller and the operator see it. */
export const OwnListing = z.strictObject({
  seller: z.string(),
  service_id: z.string(),
  version: z.int(),
  state: State,
  state_reason: z.string().nullable(),
  paused_by: z.enum(['seller', 'proof']).nullable(),
  approved_at: Timestamp.nullable(),
  checked_version: z.int().nullable().describe('The version whose examples your upstream answered last'),
  checked_at: Timestamp.nullable(),
  name: z.string(),
  description: z.string(),
  tags: z.array(z.string()),
  origin: z.string(),
  base_path: z.string(),
  routes: z.array(
    z.strictObject({
      path: z.string(),
      method: HttpMethod,
      summary: z.string(),
      price_atomic: z.string(),
      input_schema: Schema.nullable(),
      body_schema: Schema.nullable(),
      output_schema: Schema.nullable(),
      example: z.strictObject({ query: Schema.optional(), body: z.unknown().optional() }).nullable(),
      timeout_ms: z.int(),
      max_response_bytes: z.int(),
    }),
  ),
  max_requests_per_minute: z.int(),
  has_credential: z
    .boolean()
    .describe('Whether a credential of yours goes along to the upstream; never shown'),
  refund_policy: z.string().nullable(),
  terms_url: z.string().nullable(),
  takes_test_money: z.boolean(),
  endpoint: z.string(),
  test_endpoint: z
    .string()
    .describe('Takes test money on eip155:84532 of drafts, and of what is sold where you allow it'),
  created_at: Timestamp,
  updated_at: Timestamp,
})
export type OwnListing = z.infer<typeof OwnListing>

export const OwnershipProofs = z
  .array(
    z
      .string()
      .max(8194)
      .regex(/^0x[0-9a-fA-F]+$/),
  )
  .max(16)
  .describe('Signatures of origins by the payout account, as x402scan takes them')

export const OwnHost = z.strictObject({
  host: z.string(),
  origin: z.string(),
  state: z.enum(['claimed', 'proven', 'lapsed']),
  challenge: z.string(),
  dns: z
    .strictObject({ name: z.string(), type: z.literal('TXT'), value: z.string() })
    .describe('Either this …'),
  well_known: z.strictObject({ url: z.string(), line: z.string() }).describe('… or this'),
  sign: z
    .strictObject({ message: z.string(), by: z.string() })
    .describe('Sign with the payout account: EIP-191 personal_sign, or a contract by ERC-1271'),
  method: z.enum(['dns', 'well_known']).nullable(),
  signature_kind: z.enum(['eip191', 'erc1271']).nullable(),
  proven_at: Timestamp.nullable(),
  checked_at: Timestamp.nullable(),
  failures: z.int(),
  problem: z.string().nullable(),
})
export type OwnHost = z.infer<typeof OwnHost>

export const OwnSeller = z.strictObject({
  seller: z.string(),
  name: z.string(),
  description: z.string(),
  payout_address: z.string(),
  contact: z.string().nullable(),
  webhook_url: z.string().nullable(),
  state: z.enum(['active', 'suspended']),
  state_reason: z.string().nullable(),
  version: z.int(),
  created_at: Timestamp,
  payout_notes: z.array(z.string()).describe('What was found out about the payout address'),
})
export type OwnSeller = z.infer<typeof OwnSeller>

export const RouteCheck = z.strictObject({
  method: z.string(),
  path: z.string(),
  ok: z.boolean(),
  status: z.int().nullable(),
  duration_ms: z.int().nullable(),
  problem: z.string().nullable(),
})
export type RouteCheck = z.infer<typeof RouteCheck>
