// Figures follow the ledger: what a process died before it counted is counted from the sales, and what a chain took back is taken out.
// Locks: sales in the order of their ids, then as in market-trust.ts.
import { all, type Command, command, first } from '../command.ts'
import type { Millis } from '../model.ts'
import type { PayerExclusion } from '../ports/market.ts'
import { dayOf, markCounted } from './market-counted.ts'
import {
  add,
  addToStanding,
  type CountedService,
  type Counters,
  countOutcomes,
  countRefund,
  keyOf,
  refOf,
} from './market-trust.ts'

interface MissedSale extends CountedService {
  readonly claimId: string
  readonly payer: string
  readonly amount: number
  readonly settledAt: Millis
  readonly isSelf: boolean | 0 | 1
}
const MISSED = `SELECT s.claim_id AS "claimId", s.seller_id AS "sellerId", s.service_id AS "serviceId", s.network, s.amount, c.payer,
    c.finished_at AS "settledAt",
    EXISTS (SELECT 1 FROM market_sellers o WHERE o.id = s.seller_id AND o.payout_address = c.payer)
      OR EXISTS (SELECT 1 FROM market_seller_addresses a WHERE a.seller_id = s.seller_id AND a.address = c.payer) AS "isSelf"
  FROM market_sales s JOIN payment_claims c ON c.id = s.claim_id
  WHERE s.is_booked = 1 AND s.counted_day IS NULL AND c.finished_at < $1 ORDER BY s.claim_id LIMIT $2`

/**
 * Counts booked sales that nobody counted, on the day on which they settled. Costs as much as there are such sales.
 * @param input.settledBefore younger ones are still with the process that sold them, which knows how long they took
 * @returns how many it found: `limit` means that there may be more
 */
export const countMissedSales = command({ kind: 'transaction', touches: 'records' })(function* (input: {
  settledBefore: Millis
  limit: number
  now: Millis
}): Command<number> {
  const { settledBefore, limit, now } = input
  const missed = yield* all<MissedSale>(MISSED, settledBefore, limit)
  const calls = missed.map(({ claimId, payer, amount, settledAt, isSelf, ...service }) => ({
    ...refOf(service),
    kind: 'settled' as const,
    at: settledAt,
    claimId,
    payer,
    amount,
    latencyMs: null,
    isSelf: Boolean(isSelf),
  }))
  yield* countOutcomes(yield* markCounted(calls), now)
  return missed.length
})

interface CountedSale extends CountedService {
  readonly payer: string
  readonly amount: number
  readonly day: number | null
  readonly bucket: number | null
}
const COUNTED = `SELECT s.seller_id AS "sellerId", s.service_id AS "serviceId", s.network, s.amount, s.counted_day AS day,
    s.counted_bucket AS bucket, c.payer
  FROM market_sales s JOIN payment_claims c ON c.id = s.claim_id WHERE s.claim_id = $1`

/** For commands: takes a sale out of every figure that counts it. The caller holds the sale's row. */
export function* uncountSale(claimId: string, now: Millis): Command<void> {
  const sale = yield* first<CountedSale>(COUNTED, claimId)
  if (!sale || sale.day === null) return
  yield* all('UPDATE market_sales SET counted_day = NULL, counted_bucket = NULL WHERE claim_id = $1', claimId)
  const { amount, day, bucket, payer } = sale
  const key = refOf(sale)
  yield* all(
    `UPDATE market_day_stats SET settled = settled - 1, volume = volume - $1${bucket === null ? '' : `, b${bucket} = b${bucket} - 1`}
     WHERE seller_id = $2 AND service_id = $3 AND environment = $4 AND day = $5`,
    amount,
    ...keyOf(key),
    day,
  )
  // A payer of nothing stays: what is known of it holds when it pays again.
  const after = yield* first<{ calls: number; exclusion: PayerExclusion | null }>(
    `UPDATE market_payers SET calls = calls - 1, volume = volume - $1
     WHERE seller_id = $2 AND service_id = $3 AND environment = $4 AND payer = $5 RETURNING calls, exclusion`,
    amount,
    ...keyOf(key),
    payer,
  )
  const counters: Counters = new Map()
  const { calls = 0, exclusion = null } = after ?? {}
  const isLast = calls === 0 ? -1 : 0
  if (exclusion === null) {
    add(counters, 'settled', -1)
    add(counters, 'volume', -amount)
    add(counters, 'payers', isLast)
    add(counters, 'repeat_payers', calls === 1 ? -1 : 0)
  } else {
    add(counters, `${exclusion}_payers`, isLast)
    add(counters, `${exclusion}_calls`, -1)
    add(counters, `${exclusion}_volume`, -amount)
  }
  yield* addToStanding(key, now, counters)
}

interface Refunded {
  readonly refundId: string
  readonly amount: number
  readonly now: Millis
}

/** For commands: counts a refund of a sale that left, once. */
export function* countRefundOnce(
  service: CountedService,
  { refundId, amount, now }: Refunded,
): Command<void> {
  const day = dayOf(now)
  const marked = yield* first(
    'UPDATE market_refunds SET counted_day = $1 WHERE refund_id = $2 AND counted_day IS NULL RETURNING refund_id',
    day,
    refundId,
  )
  if (marked) yield* countRefund(service, { amount, sign: 1, day, now })
}

/** For commands: a chain took the refund back, which is taken out of the day that counts it. The caller holds the refund's row. */
export function* uncountRefund(service: CountedService, { refundId, amount, now }: Refunded): Command<void> {
  const row = yield* first<{ day: number | null }>(
    'SELECT counted_day AS day FROM market_refunds WHERE refund_id = $1',
    refundId,
  )
  if (!row || row.day === null) return
  yield* all('UPDATE market_refunds SET counted_day = NULL WHERE refund_id = $1', refundId)
  yield* countRefund(service, { amount, sign: -1, day: row.day, now })
}
