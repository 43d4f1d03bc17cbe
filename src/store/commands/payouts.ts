// One payout is one row: recorded -> submitted -> settled | failed. Its amount leaves the seller's balance in the transaction that
// writes it, so that whoever comes second finds nothing to pay.
import { all, columns, type Command, command, first, insertInto } from '../command.ts'
import type { Millis, Page, PageRequest } from '../model.ts'
import { selectPage } from '../page.ts'
import type { StoredReceipt } from '../ports/attempts.ts'
import type { MarketEntryKind, NewPayout, Payout } from '../ports/market-money.ts'
import { insertReceipt } from './attempts.ts'
import { tellSeller } from './market-events.ts'
import { earnedSince, holdBalance, post } from './market-ledger.ts'

const beginning = [
  'id',
  'batchId',
  'sellerId',
  'network',
  'asset',
  'recipient',
  'amount',
  'sender',
  'nonce',
  'validBefore',
  'state',
  'createdAt',
] as const
/** `transaction` is a word of SQL. */
const PAYOUT = `${columns([...beginning, 'tries', 'failure', 'receiptId', 'submittedAt', 'finishedAt'])}, tx AS "transaction"`
const INSERT = insertInto('market_payouts', beginning)

/** Word for word what the index of open payouts holds: SQLite recognises it by that alone. */
const OPEN = `state IN ('recorded', 'submitted')`

/** `owed`: less than the minimum, or nothing. `open`: another payout of the seller is under way. */
export type RecordedPayout =
  { readonly ok: true; readonly payout: Payout } | { readonly ok: false; readonly reason: 'owed' | 'open' }

/**
 * Binds what a seller is owed to a transfer that is to come.
 * @param input.before what was earned since then waits: its chain may still take it back
 */
export const recordPayout = command({ kind: 'transaction', touches: 'records', startsWork: true })(
  function* (input: { payout: NewPayout; minimum: number; before: Millis }): Command<RecordedPayout> {
    const { payout, minimum, before } = input
    const { id, sellerId, network, createdAt: now } = payout
    const account = `seller:${sellerId}` as const
    const held = yield* holdBalance(account, network)
    const open = yield* first(
      `SELECT id FROM market_payouts WHERE seller_id = $1 AND network = $2 AND ${OPEN}`,
      sellerId,
      network,
    )
    if (open) return { ok: false, reason: 'open' }
    const amount = held - (yield* earnedSince(account, network, before))
    if (amount < Math.max(1, minimum)) return { ok: false, reason: 'owed' }
    const values = { ...payout, amount, state: 'recorded' as const }
    yield* all(INSERT, ...beginning.map((name) => values[name]))
    yield* post({
      network,
      kind: 'payout',
      reference: id,
      now,
      amounts: { [account]: -amount, [`transit:${id}`]: amount },
    })
    return { ok: true, payout: { ...values, ...NOTHING_YET } }
  },
)

const NOTHING_YET = {
  tries: 0,
  transaction: null,
  failure: null,
  receiptId: null,
  submittedAt: null,
  finishedAt: null,
} as const

/** Undefined when there is no such payout. */
export const getPayout = command({ kind: 'lookup' })(function* (id: string): Command<Payout | undefined> {
  const row = yield* first<Payout>(`SELECT ${PAYOUT} FROM market_payouts WHERE id = $1`, id)
  return row && { ...row }
})

/** A page of payouts, newest first. */
export const listPayouts = command({ kind: 'read' })(function* (
  input: PageRequest & {
    sellerId?: string | undefined
    batchId?: string | undefined
    /** Only those that their chain has. */
    isSettled?: boolean | undefined
  },
): Command<Page<Payout>> {
  return yield* selectPage<Payout, Payout>(
    { columns: PAYOUT, from: 'market_payouts', id: 'id' },
    [
      ['seller_id = $', input.sellerId],
      ['batch_id = $', input.batchId],
      // In words, so that SQLite sees that the index holds nothing else.
      [`state = 'settled' AND '' = $`, input.isSettled === true ? '' : undefined],
    ],
    input,
    (row) => ({ ...row }),
    ({ id }) => id,
  )
})

/** Open payouts that nobody looked at since `before`, longest first; nothing is marked. */
export const listOpenPayouts = command({ kind: 'read' })(function* (input: {
  before: Millis
  limit: number
}): Command<readonly Payout[]> {
  const rows = yield* all<Payout>(
    `SELECT ${PAYOUT} FROM market_payouts WHERE ${OPEN} AND looked_at < $1 ORDER BY looked_at, id LIMIT $2`,
    input.before,
    input.limit,
  )
  return rows.map((row) => ({ ...row }))
})

/** Payouts that settled and are not final: a chain may still replace their blocks. Oldest first. */
export const listSettledPayouts = command({ kind: 'read' })(function* (
  limit: number,
): Command<readonly Payout[]> {
  const rows = yield* all<Payout>(
    `SELECT ${PAYOUT} FROM market_payouts WHERE state = 'settled' AND final_at IS NULL ORDER BY finished_at LIMIT $1`,
    limit,
  )
  return rows.map((row) => ({ ...row }))
})

/** A settled payout whose block nothing replaces any more: nobody looks again. */
export const finalizePayout = command({ kind: 'statement', touches: 'records' })(function* (
  id: string,
  now: Millis,
): Command<void> {
  yield* all(`UPDATE market_payouts SET final_at = $1 WHERE id = $2 AND state = 'settled'`, now, id)
})

/** An open payout was looked at: others leave it for a while. */
export const touchPayout = command({ kind: 'statement', touches: 'records' })(function* (
  id: string,
  now: Millis,
): Command<void> {
  yield* all(`UPDATE market_payouts SET looked_at = $1 WHERE id = $2 AND ${OPEN}`, now, id)
})

/** `recorded | submitted -> submitted`, durable before a byte leaves; see `submitRefund`. */
export const submitPayout = command({ kind: 'statement', touches: 'records', startsWork: true })(
  function* (input: { id: string; tries: number; now: Millis }): Command<Payout | undefined> {
    const { id, tries, now } = input
    const row = yield* first<Payout>(
      `UPDATE market_payouts SET state = 'submitted', tries = tries + 1, looked_at = $1,
         submitted_at = COALESCE(submitted_at, $2)
       WHERE id = $3 AND tries = $4 AND ${OPEN} RETURNING ${PAYOUT}`,
      now,
      now,
      id,
      tries,
    )
    return row && { ...row }
  },
)

type Conclusion = Extract<MarketEntryKind, 'payout_settled' | 'payout_failed' | 'payout_reopened'>

function* conclude(payout: Payout, kind: Conclusion, now: Millis): Command<void> {
  const { id, network, amount, sellerId } = payout
  const transit = `transit:${id}` as const
  const amounts = {
    payout_settled: { [transit]: -amount, cash: amount },
    payout_failed: { [transit]: -amount, [`seller:${sellerId}`]: amount },
    payout_reopened: { [transit]: amount, cash: -amount },
  }[kind]
  yield* post({ network, kind, reference: id, now, amounts })
}

/** Tells the seller in the transaction of the change, once of each `mark`. */
function* tell(payout: Payout, type: string, mark: string, now: Millis): Command<void> {
  const { id, sellerId, network, amount, recipient, transaction, receiptId, failure } = payout
  const data = {
    payout_id: id,
    network,
    amount_atomic: amount.toString(),
    to: recipient,
    transaction,
    receipt_id: receiptId,
    reason: failure,
  }
  yield* tellSeller(sellerId, { id: `evt_${mark}`, type, data }, now)
}

/** `recorded | submitted -> settled`, once, with its receipt. */
export const settlePayout = command({ kind: 'transaction', touches: 'records' })(function* (input: {
  id: string
  transaction: string
  receipt: StoredReceipt
  now: Millis
}): Command<Payout | undefined> {
  const { id, transaction, receipt, now } = input
  const row = yield* first<Payout>(
    `UPDATE market_payouts SET state = 'settled', tx = $1, receipt_id = $2, finished_at = $3
     WHERE id = $4 AND ${OPEN} RETURNING ${PAYOUT}`,
    transaction,
    receipt.id,
    now,
    id,
  )
  if (!row) return undefined
  yield* insertReceipt(receipt)
  yield* conclude(row, 'payout_settled', now)
  yield* tell(row, 'payout.settled', receipt.id, now)
  yield* all(
    'DELETE FROM market_payout_holds WHERE seller_id = $1 AND network = $2',
    row.sellerId,
    row.network,
  )
  return { ...row }
})

/**
 * `recorded | submitted -> failed`: the transfer never comes, and its amount is owed again.
 * @param input.tries where it failed because nothing left: undefined is answered when somebody else set out since
 */
export const failPayout = command({ kind: 'transaction', touches: 'records' })(function* (input: {
  id: string
  failure: string
  tries?: number | undefined
  now: Millis
}): Command<Payout | undefined> {
  const { id, failure, tries, now } = input
  const row = yield* first<Payout>(
    `UPDATE market_payouts SET state = 'failed', failure = $1, finished_at = $2
     WHERE id = $3 AND ${OPEN} ${tries === undefined ? '' : 'AND tries = $4'} RETURNING ${PAYOUT}`,
    failure,
    now,
    id,
    ...(tries === undefined ? [] : [tries]),
  )
  if (!row) return undefined
  yield* conclude(row, 'payout_failed', now)
  yield* tell(row, 'payout.failed', id, now)
  yield* holdPayout({ sellerId: row.sellerId, network: row.network, reason: failure, now })
  return { ...row }
})

/** `settled -> submitted`: its chain replaced the block. Its receipt is withdrawn. */
export const reopenPayout = command({ kind: 'transaction', touches: 'records' })(function* (input: {
  id: string
  receiptId: string
  now: Millis
}): Command<Payout | undefined> {
  const { id, receiptId, now } = input
  const row = yield* first<Payout>(
    `UPDATE market_payouts SET state = 'submitted', receipt_id = NULL, finished_at = NULL, looked_at = 0
     WHERE id = $1 AND receipt_id = $2 AND state = 'settled' RETURNING ${PAYOUT}`,
    id,
    receiptId,
  )
  if (!row) return undefined
  yield* all(
    'INSERT INTO receipt_withdrawals (receipt_id, withdrawn_at) VALUES ($1, $2) ON CONFLICT DO NOTHING',
    receiptId,
    now,
  )
  yield* conclude(row, 'payout_reopened', now)
  yield* tell(row, 'payout.reopened', `${receiptId}.gone`, now)
  return { ...row }
})

/** Why what is owed to a seller is not paid; the moment since when is kept while the reason is the same. */
export const holdPayout = command({ kind: 'statement', touches: 'records' })(function* (input: {
  sellerId: string
  network: string
  reason: string
  now: Millis
}): Command<void> {
  const { sellerId, network, reason, now } = input
  yield* all(
    `INSERT INTO market_payout_holds (seller_id, network, reason, since, looked_at) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (seller_id, network) DO UPDATE SET
       since = CASE WHEN market_payout_holds.reason = excluded.reason THEN market_payout_holds.since ELSE excluded.since END,
       reason = excluded.reason, looked_at = excluded.looked_at`,
    sellerId,
    network,
    reason,
    now,
    now,
  )
})
