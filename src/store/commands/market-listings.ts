// What sellers offer. Every change of a document is a version, and versions stay: prices are read from them.
import { all, columns, type Command, command, first, insertInto, type SqlValue } from '../command.ts'
import type { Millis } from '../model.ts'
import type {
  Listing,
  ListingDocument,
  ListingState,
  ListingVersion,
  NewMarketEvent,
} from '../ports/market.ts'
import { tellSeller } from './market-events.ts'

const fields = [
  'sellerId',
  'serviceId',
  'version',
  'document',
  'state',
  'stateReason',
  'pausedBy',
  'approvedAt',
  'checkedVersion',
  'checkedAt',
  'createdAt',
  'updatedAt',
] as const
const LISTING = columns(fields)
type ListingRow = Omit<Listing, 'document'> & { document: string }
const toListing = (row: ListingRow): Listing => ({
  ...row,
  document: JSON.parse(row.document) as ListingDocument,
})

const BEGINNING = [
  'sellerId',
  'serviceId',
  'skeleton',
  'host',
  'version',
  'document',
  'state',
  'createdAt',
  'updatedAt',
] as const
const INSERT = `${insertInto('market_listings', BEGINNING)} ON CONFLICT DO NOTHING RETURNING ${LISTING}`
const INSERT_VERSION = insertInto('market_listing_versions', [
  'sellerId',
  'serviceId',
  'version',
  'document',
  'createdAt',
  'isOffered',
])
const A_DAY_MS = 24 * 3600 * 1000
/** As many listings may be changed as often as one may, in a day: versions stay, and each is as large as its document. */
const LISTINGS_A_DAY = 10

export type ListingCreated =
  | { readonly ok: true; readonly listing: Listing }
  /** `name`: the seller has one of this id, or one that looks like it; `number`: it has as many as it may. */
  | { readonly ok: false; readonly reason: 'name' | 'number' }

/** Creates a draft. */
export const createListing = command({ kind: 'transaction', touches: 'records' })(function* (input: {
  sellerId: string
  serviceId: string
  /** What its id looks like, and where its upstream is. */
  skeleton: string
  host: string
  document: ListingDocument
  limit: number
  now: Millis
}): Command<ListingCreated> {
  const { sellerId, serviceId, skeleton, host, limit, now } = input
  const held = yield* first<{ listings: number }>(
    'SELECT count(*) AS listings FROM market_listings WHERE seller_id = $1',
    sellerId,
  )
  if (held && held.listings >= limit) return { ok: false, reason: 'number' }
  const document = JSON.stringify(input.document)
  const values = {
    sellerId,
    serviceId,
    skeleton,
    host,
    version: 1,
    document,
    state: 'draft',
    createdAt: now,
    updatedAt: now,
  }
  const row = yield* first<ListingRow>(INSERT, ...BEGINNING.map((name) => values[name]))
  if (!row) return { ok: false, reason: 'name' }
  yield* all(INSERT_VERSION, sellerId, serviceId, 1, document, now, 0)
  return { ok: true, listing: toListing(row) }
})

export const findListing = command({ kind: 'lookup' })(function* (
  sellerId: string,
  serviceId: string,
): Command<Listing | undefined> {
  const row = yield* first<ListingRow>(
    `SELECT ${LISTING} FROM market_listings WHERE seller_id = $1 AND service_id = $2`,
    sellerId,
    serviceId,
  )
  return row && toListing(row)
})

/** Every listing of a seller, in the order of their ids. */
export const listListingsOf = command({ kind: 'read' })(function* (
  sellerId: string,
): Command<readonly Listing[]> {
  const rows = yield* all<ListingRow>(
    `SELECT ${LISTING} FROM market_listings WHERE seller_id = $1 ORDER BY service_id`,
    sellerId,
  )
  return rows.map(toListing)
})

export type ListingRevised =
  | { readonly ok: true; readonly listing: Listing }
  /** `version`: it is of another one by now, or retired, or not there; `number`: it changed too often today. */
  | { readonly ok: false; readonly reason: 'version' | 'number' }

/**
 * Makes the document the next version. `state`, where it is given, is where the change leads: `pending` for a new look. Where
 * `fromState` is given, nothing is changed once the listing is in another state: who approved or suspended it meanwhile did not see this.
 */
export const reviseListing = command({ kind: 'transaction', touches: 'records' })(function* (input: {
  sellerId: string
  serviceId: string
  fromVersion: number
  fromState?: ListingState | undefined
  host: string
  document: ListingDocument
  state?: Extract<ListingState, 'draft' | 'pending'>
  maxRevisionsADay: number
  event: NewMarketEvent
  now: Millis
}): Command<ListingRevised> {
  const { sellerId, serviceId, fromVersion, fromState, host, state, event, now } = input
  const today = yield* first<{ revisions: number; all: number }>(
    `SELECT (SELECT count(*) FROM market_listing_versions
        WHERE seller_id = $1 AND service_id = $2 AND version > 1 AND created_at >= $3) AS revisions,
      (SELECT count(*) FROM market_listing_versions WHERE seller_id = $1 AND created_at >= $3) AS "all"`,
    sellerId,
    serviceId,
    now - A_DAY_MS,
  )
  const { maxRevisionsADay } = input
  if (today && (today.revisions >= maxRevisionsADay || today.all >= maxRevisionsADay * LISTINGS_A_DAY))
    return { ok: false, reason: 'number' }
  const document = JSON.stringify(input.document)
  const row = yield* first<ListingRow>(
    `UPDATE market_listings SET version = version + 1, document = $1, host = $2, state = COALESCE($3, state), updated_at = $4
     WHERE seller_id = $5 AND service_id = $6 AND version = $7 AND state <> 'retired'
       AND state = COALESCE($8, state) RETURNING ${LISTING}`,
    document,
    host,
    state,
    now,
    sellerId,
    serviceId,
    fromVersion,
    fromState,
  )
  if (!row) return { ok: false, reason: 'version' }
  const isOffered = row.state === 'active' ? 1 : 0
  yield* all(INSERT_VERSION, sellerId, serviceId, row.version, document, now, isOffered)
  yield* tellSeller(sellerId, event, now)
  return { ok: true, listing: toListing(row) }
})

/** Notes that the upstream answered the examples of this version as its listing says. */
export const noteListingCheck = command({ kind: 'statement', touches: 'records' })(function* (input: {
  sellerId: string
  serviceId: string
  version: number
  now: Millis
}): Command<void> {
  const { sellerId, serviceId, version, now } = input
  yield* all(
    `UPDATE market_listings SET checked_version = $1, checked_at = $2 WHERE seller_id = $3 AND service_id = $4`,
    version,
    now,
    sellerId,
    serviceId,
  )
})

/** Moves a listing from one of the states in `from`. Undefined where it is in another, of another `version`, or not there. */
export const setListingState = command({ kind: 'transaction', touches: 'records' })(function* (input: {
  sellerId: string
  serviceId: string
  from: readonly ListingState[]
  to: ListingState
  reason: string | null
  pausedBy?: Listing['pausedBy']
  /** Set once: the first time that it is approved. */
  approvedAt?: Millis
  /** The one that was looked at; left out: whichever. */
  version?: number | undefined
  event: NewMarketEvent
  now: Millis
}): Command<Listing | undefined> {
  const { sellerId, serviceId, from, to, reason, pausedBy = null, approvedAt, version, event, now } = input
  const states = from.map((_, i) => `$${i + 9}`).join(', ')
  const row = yield* first<ListingRow>(
    `UPDATE market_listings SET state = $1, state_reason = $2, paused_by = $3, approved_at = COALESCE(approved_at, $4), updated_at = $5
     WHERE seller_id = $6 AND service_id = $7 AND version = COALESCE($8, version) AND state IN (${states})
     RETURNING ${LISTING}`,
    to,
    reason,
    pausedBy,
    approvedAt,
    now,
    sellerId,
    serviceId,
    version,
    ...from,
  )
  if (!row) return undefined
  if (to === 'active') yield* noteOffer(row)
  yield* tellSeller(sellerId, event, now)
  return toListing(row)
})

/** From now on this version can be bought. */
const noteOffer = ({ sellerId, serviceId, version }: Pick<Listing, 'sellerId' | 'serviceId' | 'version'>) =>
  all(
    'UPDATE market_listing_versions SET is_offered = 1 WHERE seller_id = $1 AND service_id = $2 AND version = $3',
    sellerId,
    serviceId,
    version,
  )

interface OfHost {
  readonly sellerId: string
  readonly host: string
  readonly eventId: string
  readonly now: Millis
}

/** For commands: pauses what a seller sells from a host whose proof is gone. */
export function* pauseListingsOf({ reason, ...of }: OfHost & { readonly reason: string }): Command<number> {
  return yield* moveListingsOf(of, {
    assignments: `state = 'paused', paused_by = 'proof', state_reason = $4`,
    from: `state = 'active'`,
    values: [reason],
    type: 'listing.paused',
  })
}

/** For commands: sells again what only a lost proof had paused. */
export function* resumeListingsOf(of: OfHost): Command<number> {
  return yield* moveListingsOf(of, {
    assignments: `state = 'active', paused_by = NULL, state_reason = NULL`,
    from: `state = 'paused' AND paused_by = 'proof'`,
    values: [],
    type: 'listing.resumed',
    isOffer: true,
  })
}

function* moveListingsOf(
  { sellerId, host, eventId, now }: OfHost,
  move: { assignments: string; from: string; values: readonly SqlValue[]; type: string; isOffer?: boolean },
): Command<number> {
  const rows = yield* all<{ serviceId: string; version: number }>(
    `UPDATE market_listings SET ${move.assignments}, updated_at = $1
     WHERE seller_id = $2 AND host = $3 AND ${move.from} RETURNING service_id AS "serviceId", version`,
    now,
    sellerId,
    host,
    ...move.values,
  )
  for (const { serviceId, version } of rows) {
    if (move.isOffer) yield* noteOffer({ sellerId, serviceId, version })
    yield* tellSeller(
      sellerId,
      { id: `${eventId}.${serviceId}`, type: move.type, data: { service_id: serviceId, host } },
      now,
    )
  }
  return rows.length
}

/**
 * Listings of everybody by the time of their last change, the oldest first: whoever keeps a copy asks for what is new. `after` is
 * the last one of the page before, of the same `updatedAt`.
 */
export const listListingsSince = command({ kind: 'read' })(function* (input: {
  updatedAt: Millis
  after?: { sellerId: string; serviceId: string } | undefined
  limit: number
}): Command<readonly Listing[]> {
  const { updatedAt, after, limit } = input
  const rows = yield* all<ListingRow>(
    `SELECT ${LISTING} FROM market_listings WHERE (updated_at, seller_id, service_id) > ($1, $2, $3)
     ORDER BY updated_at, seller_id, service_id LIMIT $4`,
    updatedAt,
    after?.sellerId ?? '',
    after?.serviceId ?? '',
    limit,
  )
  return rows.map(toListing)
})

/** Listings that wait for the operator, the longest first; those of suspended sellers wait for nobody. */
export const listPendingListings = command({ kind: 'read' })(function* (
  limit: number,
): Command<readonly Listing[]> {
  const rows = yield* all<ListingRow>(
    `SELECT ${LISTING} FROM market_listings WHERE state = 'pending'
       AND seller_id IN (SELECT id FROM market_sellers WHERE state = 'active') ORDER BY updated_at, seller_id, service_id LIMIT $1`,
    limit,
  )
  return rows.map(toListing)
})

/** Versions of a listing, newest first, those before `before`. */
export const listVersions = command({ kind: 'read' })(function* (input: {
  sellerId: string
  serviceId: string
  before?: number | undefined
  limit: number
}): Command<readonly ListingVersion[]> {
  const { sellerId, serviceId, before, limit } = input
  const rows = yield* all<
    Omit<ListingVersion, 'document' | 'isOffered'> & { document: string; isOffered: number }
  >(
    `SELECT ${columns(['version', 'document', 'createdAt', 'isOffered'])} FROM market_listing_versions
     WHERE seller_id = $1 AND service_id = $2 AND version < $3 ORDER BY version DESC LIMIT $4`,
    sellerId,
    serviceId,
    before ?? Number.MAX_SAFE_INTEGER,
    limit,
  )
  return rows.map((row) => ({
    ...row,
    document: JSON.parse(row.document) as ListingDocument,
    isOffered: row.isOffered === 1,
  }))
})
