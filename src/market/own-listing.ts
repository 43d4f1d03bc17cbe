// What this gateway itself sells on its market. The listing is a constant of the release, never a row: nobody edits, pauses or imitates it.
import type { FeeTerms, ListingDocument, ListingRoute, Sale } from '../store/ports.ts'

export const OWN_SELLER_ID = 'gateway'
export const OWN_SERVICE_ID = 'feed-digest'
export const OWN_SELLER_NAME = 'Agent Gateway'

/** What the same digest costs at `/v1/execute`, which the listing says plainly. */
export const DIGEST_AT_EXECUTE_ATOMIC = 2_000n

/** Source: specification, "Marketplace service listing". The operator's own fee settings do not touch it. */
export const OWN_FEE: FeeTerms = Object.freeze({ bps: 300, fixedAtomic: 0, minimumAtomic: 0 })

export const OWN_PAYOUT_MODE: Sale['payoutMode'] = 'same_owner_retained'

export const DIGEST_LIMIT = Object.freeze({ minimum: 1, maximum: 30, default: 10 })

const route: ListingRoute = {
  path: '/',
  method: 'GET',
  summary: 'The newest entries of two technology feeds, merged and without repetitions.',
  priceAtomic: '100000',
  inputSchema: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: { limit: { type: 'integer', ...DIGEST_LIMIT, description: 'How many entries at most' } },
    additionalProperties: false,
  },
  bodySchema: null,
  outputSchema: null,
  example: { query: { limit: 5 } },
  timeoutMs: 20_000,
  maxResponseBytes: 262_144,
}

export interface OwnListing {
  readonly sellerId: string
  readonly serviceId: string
  readonly version: number
  /** Its work is done in this process: there is no origin to send a request to. */
  readonly document: Omit<ListingDocument, 'origin' | 'basePath' | 'credentialId'>
}

/** The one service of ours: a feed digest at 100000 atomic units, of which 3000 are the fee. */
export const OWN_LISTING: OwnListing = {
  sellerId: OWN_SELLER_ID,
  serviceId: OWN_SERVICE_ID,
  version: 1,
  document: {
    name: 'Feed digest',
    description:
      'The newest entries of two technology feeds as one list: read when you call, merged by GUID, address and title, ' +
      'newest first, each with the feed it came from. Not charged when no feed could be read.',
    tags: ['feeds', 'news', 'rss', 'digest'],
    routes: [route],
    maxRequestsPerMinute: 30,
    refundPolicy: 'A call that fails is not charged.',
    termsUrl: null,
    takesTestMoney: true,
  },
}

/** Said with the listing: a buyer who has the choice should know of the cheaper door. */
export const OWN_NOTE = `The same digest costs ${DIGEST_AT_EXECUTE_ATOMIC} atomic units at /v1/execute.`
