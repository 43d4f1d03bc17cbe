// What figures are computed from: sales, whose money payers pay with, ratings; and what changed of sellers since somebody looked.
import { all, columns, type Command, command, first } from '../command.ts'
import type {
  Funder,
  HostProofRow,
  PayerExclusion,
  Rating,
  Seller,
  ServiceRef,
  ServiceSale,
  UncheckedPayer,
} from '../ports/market.ts'
import type { Millis } from '../model.ts'
import { SELLER } from './market-sellers.ts'

/** Sellers by the time of their last change, the oldest first. `after` is the last one of the page before, of the same `updatedAt`. */
export const listSellersSince = command({ kind: 'read' })(function* (input: {
  updatedAt: Millis
  after?: string
  limit: number
}): Command<readonly Seller[]> {
  return yield* all<Seller>(
    `SELECT ${SELLER} FROM market_sellers WHERE (updated_at, id) > ($1, $2) ORDER BY updated_at, id LIMIT $3`,
    input.updatedAt,
    input.after ?? '',
    input.limit,
  )
})

/** Hosts that were proven once, by the time of the last look at the proof. */
export const listProofsSince = command({ kind: 'read' })(function* (input: {
  checkedAt: Millis
  after?: { sellerId: string; host: string }
  limit: number
}): Command<readonly HostProofRow[]> {
  return yield* all<HostProofRow>(
    `SELECT ${columns(['sellerId', 'host', 'method', 'provenAt', 'checkedAt', 'payoutAddress'])} FROM market_hosts
     WHERE state <> 'claimed' AND proven_at IS NOT NULL AND (checked_at, seller_id, host) > ($1, $2, $3)
     ORDER BY checked_at, seller_id, host LIMIT $4`,
    input.checkedAt,
    input.after?.sellerId ?? '',
    input.after?.host ?? '',
    input.limit,
  )
})

/** Calls of a service that were paid and are booked, newest first; those before `before`, a claim's id. */
export const listServiceSales = command({ kind: 'read' })(function* (input: {
  sellerId: string
  serviceId: string
  network: string
  before?: string
  limit: number
}): Command<readonly ServiceSale[]> {
  return yield* all<ServiceSale>(
    `SELECT s.claim_id AS "claimId", s.route, s.amount, s.listing_version AS "listingVersion", c.tx AS "transaction",
       c.finished_at AS "settledAt", p.exclusion
     FROM market_sales s JOIN payment_claims c ON c.id = s.claim_id
       LEFT JOIN market_payers p ON p.seller_id = s.seller_id AND p.service_id = s.service_id
         AND p.environment = $1 AND p.payer = c.payer
     WHERE s.seller_id = $2 AND s.service_id = $3 AND s.network = $4 AND s.is_booked = 1 AND s.claim_id < $5
     ORDER BY s.claim_id DESC LIMIT $6`,
    input.network === 'eip155:84532' ? 'test' : 'live',
    input.sellerId,
    input.serviceId,
    input.network,
    // Behind every id.
    input.before ?? '~',
    input.limit,
  )
})

/** An address counts as the seller's from now on, also when its payouts go elsewhere. */
export const noteSellerAddress = command({ kind: 'statement', touches: 'records' })(function* (input: {
  sellerId: string
  address: string
  now: Millis
}): Command<void> {
  yield* all(
    `INSERT INTO market_seller_addresses (seller_id, address, since) VALUES ($1, $2, $3)
     ON CONFLICT (seller_id, address) DO NOTHING`,
    input.sellerId,
    input.address,
    input.now,
  )
})

/** Every address that is or was the seller's. */
export const listSellerAddresses = command({ kind: 'read' })(function* (
  sellerId: string,
): Command<readonly string[]> {
  const rows = yield* all<{ address: string }>(
    'SELECT address FROM market_seller_addresses WHERE seller_id = $1 ORDER BY address',
    sellerId,
  )
  return rows.map(({ address }) => address)
})

/** Payers of live money whose funders nobody has looked up, or not for a week before they paid again; at most `limit` rows. */
export const listUncheckedPayers = command({ kind: 'read' })(function* (
  limit: number,
): Command<readonly UncheckedPayer[]> {
  const rows = yield* all<{ payer: string; sellerId: string; volume: number }>(
    `SELECT payer, seller_id AS "sellerId", volume FROM market_payers
     WHERE environment = 'live' AND exclusion IS NULL AND checked_at = 0 ORDER BY payer LIMIT $1`,
    limit,
  )
  return [...Map.groupBy(rows, ({ payer }) => payer)].map(([payer, those]) => ({
    payer,
    sellerIds: [...new Set(those.map(({ sellerId }) => sellerId))].sort(),
    paid: those.reduce((sum, { volume }) => sum + volume, 0),
  }))
})

/** Notes who funded a payer, at most `MAX_FUNDERS` of them, and that somebody looked. */
export const noteFunders = command({ kind: 'transaction', touches: 'records' })(function* (input: {
  payer: string
  funders: readonly Omit<Funder, 'payer'>[]
  now: Millis
}): Command<void> {
  const { payer, funders, now } = input
  for (const { funder, block, transactionHash } of funders.slice(0, MAX_FUNDERS))
    yield* all(
      `INSERT INTO market_funders (payer, funder, block, transaction_hash) VALUES ($1, $2, $3, $4)
       ON CONFLICT (payer, funder) DO NOTHING`,
      payer,
      funder,
      block,
      transactionHash,
    )
  yield* all(`UPDATE market_payers SET checked_at = $1 WHERE payer = $2 AND environment = 'live'`, now, payer)
})
/** Whoever is sent money by hundreds is no sock puppet, and need not be told apart further. */
const MAX_FUNDERS = 32

/** Wallets that funded an address, as far as somebody looked. */
export const listFunders = command({ kind: 'read' })(function* (payer: string): Command<readonly Funder[]> {
  return yield* all<Funder>(
    `SELECT ${columns(['payer', 'funder', 'block', 'transactionHash'])} FROM market_funders WHERE payer = $1 ORDER BY funder`,
    payer,
  )
})

/** Payers of a seller that one wallet funded, whatever service they called; at most `limit`. */
export const listPayersFundedBy = command({ kind: 'read' })(function* (input: {
  funder: string
  sellerId: string
  limit: number
}): Command<readonly string[]> {
  const rows = yield* all<{ payer: string }>(
    `SELECT DISTINCT f.payer FROM market_funders f JOIN market_payers p ON p.payer = f.payer
     WHERE f.funder = $1 AND p.seller_id = $2 AND p.environment = 'live' ORDER BY f.payer LIMIT $3`,
    input.funder,
    input.sellerId,
    input.limit,
  )
  return rows.map(({ payer }) => payer)
})

interface PayerRow {
  readonly serviceId: string
  readonly calls: number
  readonly volume: number
}

/**
 * What a payer paid a seller is shown and counts no more, and neither do its ratings. Again changes nothing.
 * @returns how many services it had paid for
 */
export const excludePayer = command({ kind: 'transaction', touches: 'records' })(function* (input: {
  sellerId: string
  payer: string
  exclusion: PayerExclusion
  now: Millis
}): Command<number> {
  const { sellerId, payer, exclusion } = input
  // Payers before standings, as those who count calls take them.
  const rows: PayerRow[] = []
  for (const { serviceId } of yield* all<{ serviceId: string }>(
    `SELECT service_id AS "serviceId" FROM market_payers
     WHERE payer = $1 AND seller_id = $2 AND environment = 'live' AND exclusion IS NULL ORDER BY service_id`,
    payer,
    sellerId,
  )) {
    const row = yield* first<PayerRow>(
      `UPDATE market_payers SET exclusion = $1 WHERE seller_id = $2 AND service_id = $3 AND environment = 'live' AND payer = $4
         AND exclusion IS NULL RETURNING service_id AS "serviceId", calls, volume`,
      exclusion,
      sellerId,
      serviceId,
      payer,
    )
    if (row) rows.push(row)
  }
  for (const row of rows) yield* moveToExcluded(row, input)
  return rows.length
})

/** Takes the payer's calls and ratings out of what counts. */
function* moveToExcluded(
  { serviceId, calls, volume }: PayerRow,
  {
    sellerId,
    payer,
    exclusion,
    now,
  }: { sellerId: string; payer: string; exclusion: PayerExclusion; now: Millis },
): Command<void> {
  const rated = yield* all<{ rating: number }>(
    `UPDATE market_ratings SET is_counted = 0
     WHERE payer = $1 AND seller_id = $2 AND service_id = $3 AND is_counted = 1 RETURNING rating`,
    payer,
    sellerId,
    serviceId,
  )
  yield* all(
    `UPDATE market_standings SET settled = settled - $1, volume = volume - $2, payers = payers - $11,
       repeat_payers = repeat_payers - $3, ${exclusion}_payers = ${exclusion}_payers + $11,
       ${exclusion}_calls = ${exclusion}_calls + $4, ${exclusion}_volume = ${exclusion}_volume + $5,
       ratings = ratings - $6, rating_sum = rating_sum - $7, changed_at = $8
     WHERE seller_id = $9 AND service_id = $10 AND environment = 'live'`,
    calls,
    volume,
    calls >= 2 ? 1 : 0,
    calls,
    volume,
    rated.length,
    rated.reduce((sum, { rating }) => sum + rating, 0),
    now,
    sellerId,
    serviceId,
    // Of whom a chain took every payment back, nothing is counted as it is.
    calls > 0 ? 1 : 0,
  )
}

const RATING = ['claimId', 'sellerId', 'serviceId', 'payer', 'rating', 'words', 'createdAt']
type RatingRow = Omit<Rating, 'isCounted'> & { readonly isCounted: 0 | 1 }

/**
 * Keeps the rating of a call, one for each. That of an excluded payer is kept and not counted.
 * @returns the rating; undefined where this call has one
 */
export const addRating = command({ kind: 'transaction', touches: 'records' })(function* (
  input: Omit<Rating, 'isCounted'>,
): Command<Rating | undefined> {
  const { claimId, sellerId, serviceId, payer, rating, words, createdAt } = input
  const payerRow = yield* first<{ exclusion: PayerExclusion | null }>(
    `SELECT exclusion FROM market_payers
     WHERE seller_id = $1 AND service_id = $2 AND environment = 'live' AND payer = $3 FOR UPDATE`,
    sellerId,
    serviceId,
    payer,
  )
  const isCounted = payerRow?.exclusion === null
  const made = yield* first(
    `INSERT INTO market_ratings (claim_id, seller_id, service_id, payer, rating, words, is_counted, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (claim_id) DO NOTHING RETURNING claim_id`,
    claimId,
    sellerId,
    serviceId,
    payer,
    rating,
    words,
    isCounted ? 1 : 0,
    createdAt,
  )
  if (!made) return undefined
  if (isCounted)
    yield* all(
      `UPDATE market_standings SET ratings = ratings + 1, rating_sum = rating_sum + $1, changed_at = $2
       WHERE seller_id = $3 AND service_id = $4 AND environment = 'live'`,
      rating,
      createdAt,
      sellerId,
      serviceId,
    )
  return { ...input, isCounted }
})

/** Newest first. */
export const listRatings = command({ kind: 'read' })(function* (input: {
  sellerId: string
  serviceId: string
  limit: number
}): Command<readonly Rating[]> {
  const rows = yield* all<RatingRow>(
    `SELECT ${columns([...RATING, 'isCounted'])} FROM market_ratings WHERE seller_id = $1 AND service_id = $2
     ORDER BY created_at DESC, claim_id DESC LIMIT $3`,
    input.sellerId,
    input.serviceId,
    input.limit,
  )
  return rows.map((row) => ({ ...row, isCounted: row.isCounted === 1 }))
})

/** What our own test says of the 402 that the seller's own endpoint gives; null where it gives none. */
export const noteChallengeScore = command({ kind: 'statement', touches: 'records' })(function* (
  input: ServiceRef & { score: number | null; now: Millis },
): Command<void> {
  const { sellerId, serviceId, environment, score, now } = input
  yield* all(
    `INSERT INTO market_standings (seller_id, service_id, environment, challenge_score, changed_at) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (seller_id, service_id, environment) DO UPDATE SET challenge_score = excluded.challenge_score,
       changed_at = excluded.changed_at`,
    sellerId,
    serviceId,
    environment,
    score,
    now,
  )
})
