// One payout is one row: recorded -> submitted -> settled | failed. Its amount leaves the seller's balance in the transaction that
// writes it, so that whoever comes second finds nothing to pay.
import { all, columns, type Command, command, first, insertInto } from '../command.ts'
import type { Millis, Page, PageRequest } from '../model.ts'
import { selectPage } from '../page.ts'
import type { MarketEntryKind, NewPayout, Payout } from '../ports/market-money.ts'
import { tellSeller } from './market-events.ts'
import { earnedSince, holdBalance, post } from './market-ledger.ts'
import { NOTHING_YET, OPEN, transferRows } from './transfer-rows.ts'

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

const rows = transferRows<Payout>('market_payouts', PAYOUT)

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

/** Undefined when there is no such payout. */
export const getPayout = command({ kind: 'lookup' })(rows.get)

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
export const listOpenPayouts = command({ kind: 'read' })(rows.listOpen)

/** Payouts that settled and are not final: a chain may still replace their blocks. Oldest first. */
export const listSettledPayouts = command({ kind: 'read' })(rows.listSettled)

/** A settled payout whose block nothing replaces any more: nobody looks again. */
export const finalizePayout = command({ kind: 'statement', touches: 'records' })(rows.finalize)

/** An open payout was looked at: others leave it for a while. */
export const touchPayout = command({ kind: 'statement', touches: 'records' })(rows.touch)

/** `recorded | submitted -> submitted`, durable before a byte leaves; see `submitRefund`. */
export const submitPayout = command({ kind: 'statement', touches: 'records', startsWork: true })(rows.submit)

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
export const settlePayout = command({ kind: 'transaction', touches: 'records' })(function* (
  input: Parameters<typeof rows.settle>[0],
): Command<Payout | undefined> {
  const { receipt, now } = input
  const payout = yield* rows.settle(input)
  if (!payout) return undefined
  yield* conclude(payout, 'payout_settled', now)
  yield* tell(payout, 'payout.settled', receipt.id, now)
  yield* all(
    'DELETE FROM market_payout_holds WHERE seller_id = $1 AND network = $2',
    payout.sellerId,
    payout.network,
  )
  return payout
})

/**
 * `recorded | submitted -> failed`: the transfer never comes, and its amount is owed again.
 * @param input.tries where it failed because nothing left: undefined is answered when somebody else set out since
 */
export const failPayout = command({ kind: 'transaction', touches: 'records' })(function* (
  input: Parameters<typeof rows.fail>[0],
): Command<Payout | undefined> {
  const { id, failure, now } = input
  const payout = yield* rows.fail(input)
  if (!payout) return undefined
  const { sellerId, network } = payout
  yield* conclude(payout, 'payout_failed', now)
  yield* tell(payout, 'payout.failed', id, now)
  yield* holdPayout({ sellerId, network, reason: failure, now })
  return payout
})

/** `settled -> submitted`: its chain replaced the block. Its receipt is withdrawn. */
export const reopenPayout = command({ kind: 'transaction', touches: 'records' })(function* (
  input: Parameters<typeof rows.reopen>[0],
): Command<Payout | undefined> {
  const { receiptId, now } = input
  const payout = yield* rows.reopen(input)
  if (!payout) return undefined
  yield* conclude(payout, 'payout_reopened', now)
  yield* tell(payout, 'payout.reopened', `${receiptId}.gone`, now)
  return payout
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
