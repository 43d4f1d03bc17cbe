// What sellers are told: written in the transaction of the change that it tells of, delivered later.
import { all, columns, type Command, command, first } from '../command.ts'
import type { Millis, Page, PageRequest } from '../model.ts'
import { selectPage } from '../page.ts'
import type { MarketEvent, NewMarketEvent } from '../ports/market.ts'
import { AHEAD_MS } from './longest-unseen.ts'

const fields = [
  'id',
  'sellerId',
  'type',
  'data',
  'state',
  'tries',
  'nextAt',
  'problem',
  'createdAt',
  'finishedAt',
] as const
const EVENT = columns(fields)
type EventRow = Omit<MarketEvent, 'data'> & { data: string }
const toEvent = (row: EventRow): MarketEvent => ({
  ...row,
  data: JSON.parse(row.data) as MarketEvent['data'],
})

/** What a seller does is told to it, too: whoever steps to and fro all day fills no table with it. */
export const MAX_EVENTS = 5_000
const INSERT = `INSERT INTO market_events (id, seller_id, type, data, state, next_at, created_at)
  SELECT $1, $2, $3, $4, $5, CAST($6 AS BIGINT), CAST($6 AS BIGINT) WHERE (
    SELECT count(*) FROM (SELECT 1 FROM market_events WHERE seller_id = $2 LIMIT ${MAX_EVENTS}) AS kept
  ) < ${MAX_EVENTS}
  ON CONFLICT (id) DO NOTHING`

/** For commands: tells a seller of the change that they make. The same id is told once; beyond `MAX_EVENTS` that are kept, nothing. */
export function* tellSeller(
  sellerId: string,
  { id, type, data }: NewMarketEvent,
  now: Millis,
): Command<void> {
  yield* all(INSERT, id, sellerId, type, JSON.stringify(data), 'pending', now)
}

/** Tells a seller of something that no row of the market changes with. */
export const addMarketEvent = command({ kind: 'statement', touches: 'records' })(function* (input: {
  sellerId: string
  event: NewMarketEvent
  now: Millis
}): Command<void> {
  yield* tellSeller(input.sellerId, input.event, input.now)
})

const DUE = `SELECT id, next_at AS "nextAt" FROM market_events WHERE state = 'pending' AND next_at <= $1
  ORDER BY next_at, id LIMIT $2 FOR UPDATE`
/**
 * What nobody has tried or put off yet, and what is to come: a clock that goes ahead told of it, and it is due. Word for word what its index
 * holds: of thousands that are put off none is read.
 */
const FROM_AHEAD = `SELECT id, next_at AS "nextAt" FROM market_events
  WHERE state = 'pending' AND tries = 0 AND next_at = created_at AND created_at > $1 ORDER BY created_at, id LIMIT $2 FOR UPDATE`
const TAKE = `UPDATE market_events SET next_at = $1, tries = tries + 1
  WHERE id = $2 AND state = 'pending' AND next_at = $3 RETURNING ${EVENT}`

/**
 * Takes up to `limit` events that are due, and puts them off until `busyUntil`: no two processes deliver one at the same time, and
 * one that dies in between is delivered then.
 */
export const takeMarketEvents = command({ kind: 'transaction', touches: 'records' })(function* (input: {
  now: Millis
  busyUntil: Millis
  limit: number
}): Command<readonly MarketEvent[]> {
  const { now, busyUntil, limit } = input
  type Due = { id: string; nextAt: Millis }
  const due = [...(yield* all<Due>(DUE, now, limit))]
  if (due.length < limit) due.push(...(yield* all<Due>(FROM_AHEAD, now + AHEAD_MS, limit - due.length)))
  const taken: MarketEvent[] = []
  for (const { id, nextAt } of due) {
    const row = yield* first<EventRow>(TAKE, busyUntil, id, nextAt)
    if (row) taken.push(toEvent(row))
  }
  return taken
})

/** Locked in the order in which events are taken. */
const PUT_OFF = `UPDATE market_events SET next_at = $1 WHERE id IN (
  SELECT id FROM market_events WHERE state = 'pending' AND next_at < $1
    AND seller_id = (SELECT seller_id FROM market_events WHERE id = $2) ORDER BY next_at, id FOR UPDATE)`
/**
 * Ends a delivery: sent, given up, or to be tried again at `nextAt`. Until then nothing else is sent to the same seller: one whose host is
 * slow, with thousands of events, must not keep those of others waiting.
 */
export const finishMarketEvent = command({ kind: 'transaction', touches: 'records' })(function* (input: {
  id: string
  state: MarketEvent['state']
  nextAt: Millis
  problem: string | null
  now: Millis
}): Command<void> {
  const { id, state, nextAt, problem, now } = input
  yield* all(
    `UPDATE market_events SET state = $1, next_at = $2, problem = $3, finished_at = $4 WHERE id = $5 AND state = 'pending'`,
    state,
    nextAt,
    problem,
    state === 'pending' ? null : now,
    id,
  )
  if (state === 'pending') yield* all(PUT_OFF, nextAt, id)
})

/** The events of a seller, newest first. */
export const listMarketEvents = command({ kind: 'read' })(function* (
  sellerId: string,
  page: PageRequest,
): Command<Page<MarketEvent>> {
  return yield* selectPage<EventRow, MarketEvent>(
    { columns: EVENT, from: 'market_events', id: 'id' },
    [['seller_id = $', sellerId]],
    page,
    toEvent,
    ({ id }) => id,
  )
})

/** Forgets events that ended before then. */
export const forgetMarketEvents = command({ kind: 'statement', touches: 'records' })(function* (input: {
  finishedBefore: Millis
  limit: number
}): Command<number> {
  const gone = yield* all(
    `DELETE FROM market_events WHERE id IN (
       SELECT id FROM market_events WHERE state <> 'pending' AND finished_at < $1 ORDER BY id LIMIT $2
     ) RETURNING id`,
    input.finishedBefore,
    input.limit,
  )
  return gone.length
})
