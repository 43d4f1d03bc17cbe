// Wire shapes of x402 discovery (GET /discovery/resources and /discovery/search), and what this gateway adds to them.
import { z } from 'zod'
import { Timestamp } from './http.ts'

const DEFAULT_LIMIT = 20
const MAX_LIMIT = 100

const filters = {
  type: z.string().min(1).max(16).optional().describe('`http` or `mcp`'),
  payTo: z.string().min(1).max(128).optional().describe('Only what pays this address'),
  scheme: z.string().min(1).max(64).optional().describe('Such as `exact`'),
  network: z.string().min(1).max(64).optional().describe('Such as `eip155:8453` or `base`'),
  extensions: z
    .string()
    .min(1)
    .max(256)
    .optional()
    .meta({ listed: false })
    .describe('Extension keys that must be present, separated by commas, e.g. `bazaar`'),
  source: z
    .string()
    .min(1)
    .max(512)
    .optional()
    .meta({ listed: false })
    .describe('Only what this catalogue lists, as `sources` names it; `own` for this gateway'),
  maxUsdc: z
    .string()
    .regex(/^\d{1,9}(?:\.\d{1,6})?$/)
    .optional()
    .meta({ listed: false })
    .describe('Only what costs at most this much USDC, such as `0.01`'),
  limit: z
    .int()
    .min(1)
    .max(MAX_LIMIT)
    .default(DEFAULT_LIMIT)
    .describe('Most entries')
    .meta({ listedAs: { default: null } }),
  cursor: z.string().min(1).max(512).optional().describe('`pagination.cursor` before'),
}

const full = z
  .boolean()
  .optional()
  .describe('Items whole; without it MCP and A2A give them in brief')
  .meta({ listedAs: { description: 'Items whole' } })

export const DiscoveryListQuery = z.strictObject({
  ...filters,
  full,
  offset: z
    .int()
    .min(0)
    .max(1_000_000)
    .optional()
    .meta({ listed: false })
    .describe('How many to skip; a cursor is the stable way'),
})
export type DiscoveryListQuery = z.infer<typeof DiscoveryListQuery>

export const DiscoverySearchQuery = z.strictObject({
  query: z.string().trim().min(1).max(200).describe('A few words'),
  ...filters,
  full,
})
export type DiscoverySearchQuery = z.infer<typeof DiscoverySearchQuery>
export type DiscoveryFilters = Omit<DiscoverySearchQuery, 'query' | 'limit' | 'cursor' | 'full'>

const SeenTerms = z.strictObject({
  scheme: z.string(),
  network: z.string(),
  asset: z.string(),
  amount: z.string(),
  payTo: z.string(),
})
export type SeenTerms = z.infer<typeof SeenTerms>

export const LIVENESS_STATES = ['alive', 'changed', 'dead', 'unknown'] as const
export const Liveness = z
  .strictObject({
    state: z
      .enum(LIVENESS_STATES)
      .describe(
        'alive: asks for what is listed; changed: asks for something else; dead: does not ask for payment',
      ),
    checked_at: Timestamp.nullable(),
    detail: z.string().describe('Stable word for what was seen'),
    payees: z
      .array(z.strictObject({ network: z.string(), payTo: z.string() }))
      .optional()
      .describe('Whom it asked to pay'),
    observed: z.array(SeenTerms).optional().describe('What it asked for, where that differs'),
  })
  .describe('Our own look: one free request without payment. Not a claim of the catalogues')
export type Liveness = z.infer<typeof Liveness>

/** Text in it was written by others. */
export const DiscoveryItem = z.strictObject({
  resource: z.string(),
  type: z.string(),
  x402Version: z.int(),
  accepts: z
    .array(z.record(z.string(), z.unknown()))
    .describe('PaymentRequirements in the form of x402Version'),
  lastUpdated: z.string(),
  description: z.string().optional(),
  mimeType: z.string().optional(),
  serviceName: z.string().optional(),
  tags: z.array(z.string()).optional(),
  iconUrl: z.string().optional(),
  extensions: z.record(z.string(), z.unknown()).optional(),
  own: z.boolean().describe('True: this gateway sells it and says so itself'),
  method: z.string().nullable().describe('HTTP method, where the listing names it'),
  sources: z
    .array(
      z.strictObject({
        source: z
          .string()
          .describe(
            'Catalogue that lists it; `own` for this gateway; `facilitator` where it was paid through this gateway',
          ),
        fetched_at: Timestamp,
        last_updated: z.string(),
        same_terms: z.boolean().describe('False: this catalogue names another price or payee than `accepts`'),
      }),
    )
    .min(1),
  fetched_at: Timestamp,
  first_seen: Timestamp,
  price_history: z
    .array(z.strictObject({ at: Timestamp, accepts: z.array(SeenTerms) }))
    .describe('Oldest first; a line for each change we saw, the last 20'),
  liveness: Liveness,
  settled: z
    .array(
      z.strictObject({
        network: z.string(),
        payTo: z.string(),
        payers: z
          .int()
          .min(1)
          .describe('Different ones, the payee itself not counted; 500 means that or more'),
        settlements: z.int().min(1).describe('Counted once for each payer and day'),
        first_settled: Timestamp,
        last_settled: Timestamp,
        verified: z
          .boolean()
          .describe(
            'True: the resource itself asked, at our last look, to pay this payee. Else its address is a claim',
          ),
      }),
    )
    .optional()
    .describe("Payments for it that this gateway's own facilitator settled: our own observation"),
})
export type DiscoveryItem = z.infer<typeof DiscoveryItem>

export const SOURCE_STATES = ['ok', 'partial', 'stale', 'failing', 'pending'] as const
export const DiscoverySourceState = z.strictObject({
  source: z.string(),
  state: z
    .enum(SOURCE_STATES)
    .describe('partial: more than we read; stale: older data of a source that does not answer'),
  detail: z.string(),
  fetched_at: Timestamp.nullable(),
  age_seconds: z.int().min(0).nullable().describe('How old what is shown of this source is'),
  entries: z.int().min(0),
  dropped: z.int().min(0).describe('Entries that are not shown: not valid, not public, repeated, or ours'),
  dropped_for: z
    .record(z.string(), z.int().min(1))
    .describe('How many were dropped for which reason, e.g. `{"too_deep": 1}`'),
})
export type DiscoverySourceState = z.infer<typeof DiscoverySourceState>

const about = {
  partialResults: z.boolean().describe('True while a source is missing, stale or cut'),
  sources: z.array(DiscoverySourceState),
  notice: z.string(),
}

export const DiscoveryListPage = z.strictObject({
  x402Version: z.literal(2),
  items: z.array(DiscoveryItem),
  pagination: z.strictObject({
    limit: z.int(),
    offset: z.int(),
    total: z.int(),
    cursor: z.string().nullable(),
  }),
  ...about,
})
export type DiscoveryListPage = z.infer<typeof DiscoveryListPage>

export const DiscoverySearchPage = z.strictObject({
  x402Version: z.literal(2),
  resources: z.array(DiscoveryItem),
  pagination: z.strictObject({ limit: z.int(), cursor: z.string().nullable() }),
  ...about,
})
export type DiscoverySearchPage = z.infer<typeof DiscoverySearchPage>

/** An entry as MCP and A2A give it. */
export const BriefItem = z.strictObject({
  ...DiscoveryItem.pick({
    resource: true,
    type: true,
    method: true,
    description: true,
    serviceName: true,
    own: true,
  }).shape,
  accepts: z.array(SeenTerms.omit({ asset: true })),
  sources: z.array(z.string()).describe('Catalogues that list it'),
  same_terms: z.boolean().describe('False: one of them names another price or payee'),
  liveness: z.enum(LIVENESS_STATES),
})
export type BriefItem = z.infer<typeof BriefItem>

const details = z.string().describe('How items come whole')
export const BriefListPage = DiscoveryListPage.extend({ items: z.array(BriefItem), details })
export type BriefListPage = z.infer<typeof BriefListPage>
export const BriefSearchPage = DiscoverySearchPage.extend({ resources: z.array(BriefItem), details })
export type BriefSearchPage = z.infer<typeof BriefSearchPage>
