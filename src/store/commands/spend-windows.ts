// Spend windows. Each scope has a running total; every payment adds a row to it, so that any window that ends now is the difference
// of two rows: it rolls exactly, and costs the same after ten payments as after a hundred thousand. The row of the account is locked
// before anything is read, and totals are read and written under it.
import { all, type Command, command, first } from '../command.ts'
import type { Millis } from '../model.ts'
import {
  SPEND_PERIOD_MS,
  type SpendInput,
  type SpendResult,
  type SpendStanding,
  type SpendWindow,
} from '../ports/spend-windows.ts'

/** Width of a total: amounts of 78 digits, and more of them than anybody counts. */
const WIDTH = 96
const toTotal = (value: bigint) => String(value).padStart(WIDTH, '0')

const LOCK = `INSERT INTO spend_accounts (account_id, counted) VALUES ($1, 0)
  ON CONFLICT (account_id) DO UPDATE SET counted = spend_accounts.counted RETURNING counted`
const FIND = `SELECT content, amount, counted_at AS "countedAt" FROM spend_counted WHERE payment = $1`
const NEWEST = `SELECT total, amount, counted_at AS "countedAt" FROM spend_totals WHERE scope = $1 ORDER BY total DESC LIMIT 1`
const FIRST_SINCE = `SELECT total, amount, counted_at AS "countedAt" FROM spend_totals
  WHERE scope = $1 AND counted_at > $2 ORDER BY counted_at, total LIMIT 1`
const FIRST_FROM = `SELECT counted_at AS "countedAt" FROM spend_totals
  WHERE scope = $1 AND total >= $2 ORDER BY total LIMIT 1`
const ADD = `INSERT INTO spend_totals (scope, total, amount, counted_at) VALUES ($1, $2, $3, $4)`
const GROW =
  'UPDATE spend_totals SET total = $3, amount = $4, counted_at = $5 WHERE scope = $1 AND total = $2'
const KEEP = `INSERT INTO spend_counted (payment, account_id, content, amount, counted_at) VALUES ($1, $2, $3, $4, $5)
  ON CONFLICT (payment) DO UPDATE SET content = excluded.content, amount = excluded.amount, counted_at = excluded.counted_at`
const RECOUNT = 'UPDATE spend_accounts SET counted = counted + $1 WHERE account_id = $2'

interface Counted {
  readonly content: string
  readonly amount: string
  readonly countedAt: Millis
}
interface Newest {
  readonly total: string
  readonly amount: string
  readonly countedAt: Millis
}

/** What is known of the payment, and what it would add to each scope. */
interface Known {
  readonly before: Counted | undefined
  readonly isRepeated: boolean
  readonly isReplayed: boolean
  readonly amounts: ReadonlyMap<string, bigint>
}

function* findKnown({ payment, counts, now }: SpendInput): Command<Known> {
  const before = yield* first<Counted>(FIND, payment.id)
  const stands = before !== undefined && before.countedAt + payment.keptMs > now
  const amountsOf = (more?: bigint) =>
    new Map(counts.map(({ scope, amount }) => [scope, more ?? BigInt(amount)]))
  if (payment.upTo !== undefined) {
    const more = BigInt(payment.upTo) - BigInt(before?.amount ?? 0)
    const added = more > 0n ? more : 0n
    const isReplayed = before !== undefined && before.content !== payment.content
    return {
      before,
      isRepeated: before !== undefined && added === 0n && !isReplayed,
      isReplayed,
      amounts: amountsOf(added),
    }
  }
  if (!stands) return { before, isRepeated: false, isReplayed: false, amounts: amountsOf() }
  const isReplayed = before.content !== payment.content
  return { before, isRepeated: !isReplayed, isReplayed, amounts: amountsOf(isReplayed ? undefined : 0n) }
}

/** A window as it stands at `now`, and whether so much more fits. */
function* judgeWindow(window: SpendWindow, amount: bigint, now: Millis): Command<SpendStanding> {
  const { scope, period } = window
  const max = BigInt(window.max)
  const lengthMs = SPEND_PERIOD_MS[period]
  const newest = yield* first<Newest>(NEWEST, scope)
  // A row leaves when it is as old as the window is long.
  const oldest = newest && (yield* first<Newest>(FIRST_SINCE, scope, now - lengthMs))
  const spent = newest && oldest ? BigInt(newest.total) - BigInt(oldest.total) + BigInt(oldest.amount) : 0n
  const isOver = spent + amount > max
  const standing = { ...window, spent: String(spent), isOver }
  if (!isOver || !newest) return { ...standing, freesAt: oldest ? oldest.countedAt + lengthMs : null }
  if (amount > max) return { ...standing, freesAt: null }
  const last = yield* first<{ countedAt: Millis }>(
    FIRST_FROM,
    scope,
    toTotal(BigInt(newest.total) + amount - max),
  )
  return { ...standing, freesAt: last ? last.countedAt + lengthMs : null }
}

function* judge(
  { windows, now }: SpendInput,
  { before, isRepeated, isReplayed, amounts }: Known,
): Command<SpendResult> {
  const standings: SpendStanding[] = []
  for (const window of windows)
    standings.push(yield* judgeWindow(window, amounts.get(window.scope) ?? 0n, now))
  const outcome = isReplayed
    ? 'replayed'
    : standings.some(({ isOver }) => isOver)
      ? 'over'
      : isRepeated
        ? 'repeated'
        : 'fits'
  return { outcome, countedAt: isRepeated && before ? before.countedAt : null, windows: standings }
}

/** Holds a payment against the windows. Nothing is counted. */
export const judgeSpend = command({ kind: 'read' })(function* (input: SpendInput): Command<SpendResult> {
  return yield* judge(input, yield* findKnown(input))
})

/**
 * Counts a payment on its scopes, once, if all windows hold it: one that is over, replayed or too many counts nothing. One that was
 * counted before is not counted again, and is over only where the windows are smaller by now than what is in them.
 */
export const countSpend = command({ kind: 'transaction', touches: 'records' })(function* (
  input: SpendInput,
): Command<SpendResult> {
  const { accountId, payment, now, maxCounted } = input
  const account = yield* first<{ counted: number }>(LOCK, accountId)
  const known = yield* findKnown(input)
  const judged = yield* judge(input, known)
  if (judged.outcome !== 'fits') return judged
  if (!known.before && !(yield* hasRoom(accountId, account?.counted ?? 0, maxCounted, now)))
    return { ...judged, outcome: 'full' }
  let whole = 0n
  for (const [scope, amount] of known.amounts) {
    if (amount === 0n) continue
    whole = amount > whole ? amount : whole
    yield* add(scope, amount, now, payment.upTo !== undefined)
  }
  yield* all(KEEP, payment.id, accountId, payment.content, payment.upTo ?? String(whole), now)
  if (!known.before) yield* all(RECOUNT, 1, accountId)
  const standings: SpendStanding[] = []
  for (const window of input.windows) standings.push(yield* judgeWindow(window, 0n, now))
  return { outcome: 'counted', countedAt: now, windows: standings }
})

/**
 * A stream grows with every call, thousands of times a minute: what it adds within ten seconds shares one row, which is as old as the
 * last of it. So an amount leaves a window at most ten seconds late, and never early.
 */
const STREAM_STEP_MS = 10_000

function* add(scope: string, amount: bigint, now: Millis, isStream: boolean): Command<void> {
  const newest = yield* first<Newest>(NEWEST, scope)
  const total = toTotal(BigInt(newest?.total ?? 0) + amount)
  // A replica whose clock is behind adds its row behind the newest: the rows of a scope are in order of time and of total.
  const at = Math.max(now, newest?.countedAt ?? now)
  const stepOf = (ms: Millis) => Math.floor(ms / STREAM_STEP_MS)
  if (isStream && newest && stepOf(newest.countedAt) === stepOf(at))
    yield* all(GROW, scope, newest.total, total, String(BigInt(newest.amount) + amount), at)
  else yield* all(ADD, scope, total, String(amount), at)
}

/** Payments that give way at once where an account has as many as it may. */
const GIVE_WAY = 100

/** Room for one more: the oldest give way to it, but none that a window still holds. */
function* hasRoom(accountId: string, counted: number, maxCounted: number, now: Millis): Command<boolean> {
  if (counted < maxCounted) return true
  const gone = yield* all(
    `DELETE FROM spend_counted WHERE payment IN (
       SELECT payment FROM spend_counted WHERE account_id = $1 AND counted_at <= $2 ORDER BY counted_at LIMIT $3
     ) RETURNING payment`,
    accountId,
    now - SPEND_PERIOD_MS.day,
    GIVE_WAY,
  )
  if (gone.length > 0) yield* all(RECOUNT, -gone.length, accountId)
  return gone.length > 0
}

/** Totals that no window reaches any more, the oldest first so that the newest of a scope stays; payments at `cutoff`. */
export function* sweepSpend(
  now: Millis,
  cutoff: Millis,
  limit: number,
): Command<Readonly<Record<string, number>>> {
  const totals = yield* all(
    `DELETE FROM spend_totals WHERE (scope, total) IN (
       SELECT scope, total FROM spend_totals WHERE counted_at <= $1 ORDER BY counted_at, total LIMIT $2
     ) RETURNING scope`,
    now - 2 * SPEND_PERIOD_MS.day,
    limit,
  )
  // Who counts locks the account first, and so does this: of several sweeps each takes what the others have not.
  const accounts = yield* all<{ id: string }>(
    `SELECT account_id AS id FROM spend_accounts WHERE account_id IN (
       SELECT account_id FROM spend_counted WHERE counted_at <= $1 ORDER BY counted_at LIMIT $2
     ) ORDER BY account_id FOR UPDATE`,
    cutoff,
    limit,
  )
  let payments = 0
  for (const { id } of accounts) {
    const gone = yield* all(
      `DELETE FROM spend_counted WHERE payment IN (
         SELECT payment FROM spend_counted WHERE account_id = $1 AND counted_at <= $2 ORDER BY counted_at LIMIT $3
       ) RETURNING payment`,
      id,
      cutoff,
      limit - payments,
    )
    yield* all(RECOUNT, -gone.length, id)
    payments += gone.length
  }
  return { spendTotals: totals.length, spendCounted: payments }
}
