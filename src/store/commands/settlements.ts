// Cost of a settlement for another seller: one of a month's free allowance, else one credit. And quotes.
import { GatewayError } from '../../core/errors.ts'
import { all, type Command, command, first, insertInto } from '../command.ts'
import { balance, balanceOf, recordMovement } from './accounts.ts'
import { returnCredits } from './returned-credits.ts'
import type { Millis } from '../model.ts'
import type { SettlementTake } from '../ports/payments.ts'

/** Whose settlements of a month are counted together, and how many of them are free. */
export interface Allowance {
  /** Without a space. */
  holder: string
  allowance: number
}

export interface TakeSettlementInput {
  /** Every one of them must have room; always in the same order, in which their rows are locked. */
  allowances: readonly [Allowance, ...Allowance[]]
  /** e.g. `2026-11`. */
  month: string
  accountId: string | null
  claimId: string
  transactionId: string
  now: Millis
}

type Taken =
  | { ok: true; paidBy: 'allowance' | 'credits'; left: number }
  /** `usedUp`: the holder whose allowance has no room. */
  | { ok: false; balance: number | null; usedUp: string }

/** Credits are only ever taken of an account. `holder` names all that were counted, with a space between them. */
type Take = { holder: string; month: string } & (
  { paidBy: 'allowance'; accountId: string | null } | { paidBy: 'credits'; accountId: string }
)
const TAKE = `holder, month, account_id AS "accountId", paid_by AS "paidBy"`

// The row comes first: whoever takes for the same claim at the same time waits here, then reads what was taken. Whoever cancels the claim
// waits for this, and gives back what it took.
const INSERT_TAKE = `WITH held AS (SELECT state FROM payment_claims WHERE id = $1 FOR SHARE)
  INSERT INTO settlement_takes (claim_id, holder, month, account_id, paid_by)
  SELECT $1, $2, $3, $4, 'allowance' WHERE NOT EXISTS (SELECT 1 FROM held WHERE state = 'canceled')
  ON CONFLICT DO NOTHING RETURNING claim_id`
const IS_CANCELED = `SELECT 1 FROM payment_claims WHERE id = $1 AND state = 'canceled'`
const USE_ALLOWANCE = `INSERT INTO settlement_counters (holder, month, used) VALUES ($1, $2, 1)
  ON CONFLICT (holder, month) DO UPDATE SET used = settlement_counters.used + 1
  WHERE settlement_counters.used < $3 RETURNING used`
const RETURN_ALLOWANCE =
  'UPDATE settlement_counters SET used = used - 1 WHERE holder = $1 AND month = $2 AND used > 0'
const PAY = 'UPDATE accounts SET balance = balance - 1 WHERE id = $1 AND balance >= 1 RETURNING balance'

/**
 * One settlement of the monthly free allowance of each holder (an account id; or payee, payer and network), else one credit of
 * `accountId` (kind `settlement`, reference the claim id). Idempotent by claim id until it is returned. `left`: of the
 * smallest allowance or the balance, whichever paid. Not ok: `balance` is null without an account.
 * @throws {GatewayError} state_conflict where the claim is canceled: a statement that comes late takes nothing
 */
export const takeSettlement = command({ kind: 'transaction', touches: 'records' })(function* (
  input: TakeSettlementInput,
): Command<Taken> {
  const { allowances, month, accountId, claimId, transactionId, now } = input
  const holder = allowances.map((one) => one.holder).join(' ')
  if (!(yield* first(INSERT_TAKE, claimId, holder, month, accountId))) return yield* takenBefore(input)
  const counted = yield* useAllowances(allowances, month)
  if (counted.ok) return { ok: true, paidBy: 'allowance', left: counted.left }
  const paid = accountId === null ? undefined : yield* first<{ balance: number }>(PAY, accountId)
  if (!paid || accountId === null) {
    yield* all('DELETE FROM settlement_takes WHERE claim_id = $1', claimId)
    const { usedUp } = counted
    return { ok: false, balance: accountId === null ? null : ((yield* balance(accountId)) ?? null), usedUp }
  }
  yield* all(`UPDATE settlement_takes SET paid_by = 'credits' WHERE claim_id = $1`, claimId)
  yield* recordMovement({
    transactionId,
    accountId,
    against: 'usage',
    amount: -1,
    kind: 'settlement',
    reference: claimId,
    now,
  })
  return { ok: true, paidBy: 'credits', left: paid.balance }
})

type Counted = { ok: true; left: number } | { ok: false; usedUp: string }

/** Counts with each holder, or with none of them. */
function* useAllowances(allowances: readonly Allowance[], month: string): Command<Counted> {
  let left = Number.POSITIVE_INFINITY
  for (const [i, { holder, allowance }] of allowances.entries()) {
    const counted =
      allowance > 0 ? yield* first<{ used: number }>(USE_ALLOWANCE, holder, month, allowance) : undefined
    if (!counted) {
      for (const before of allowances.slice(0, i)) yield* all(RETURN_ALLOWANCE, before.holder, month)
      return { ok: false, usedUp: holder }
    }
    left = Math.min(left, allowance - counted.used)
  }
  return { ok: true, left }
}

function* takenBefore(input: TakeSettlementInput): Command<Taken> {
  const { claimId, allowances } = input
  const take = yield* first<Take>(`SELECT ${TAKE} FROM settlement_takes WHERE claim_id = $1`, claimId)
  if (!take && (yield* first(IS_CANCELED, claimId)))
    throw new GatewayError('state_conflict', 'This payment was given back. Nothing was taken: send it again.')
  // It was given back in this very moment.
  if (!take) return yield* takeSettlement(input)
  const { paidBy, month } = take
  if (paidBy === 'credits') return { ok: true, paidBy, left: yield* balanceOf(take.accountId) }
  let left = Number.POSITIVE_INFINITY
  for (const { holder, allowance } of allowances) {
    const counter = yield* first<{ used: number }>(
      'SELECT used FROM settlement_counters WHERE holder = $1 AND month = $2',
      holder,
      month,
    )
    left = Math.min(left, Math.max(0, allowance - (counter?.used ?? 0)))
  }
  return { ok: true, paidBy, left }
}

/** Gives back what `takeSettlement` took for this claim, once: nothing was settled. */
export const returnSettlement = command({ kind: 'transaction', touches: 'records' })(function* (input: {
  claimId: string
  transactionId: string
  now: Millis
}): Command<boolean> {
  const { claimId, transactionId, now } = input
  const take = yield* first<Take>(
    `DELETE FROM settlement_takes WHERE claim_id = $1 RETURNING ${TAKE}`,
    claimId,
  )
  if (!take) return false
  if (take.paidBy === 'allowance') {
    for (const holder of take.holder.split(' ')) yield* all(RETURN_ALLOWANCE, holder, take.month)
    return true
  }
  const { accountId } = take
  yield* returnCredits({ transactionId, accountId, amount: 1, reference: claimId, now })
  return true
})

/** What a settlement for another seller was paid with. Undefined where nothing was taken, or it was given back. */
export const getSettlementTake = command({ kind: 'lookup' })(function* (
  claimId: string,
): Command<SettlementTake | undefined> {
  const row = yield* first<SettlementTake>(
    `SELECT month, paid_by AS "paidBy" FROM settlement_takes WHERE claim_id = $1`,
    claimId,
  )
  return row && { ...row }
})

const INSERT_QUOTE = `${insertInto('quotes', ['id', 'jws', 'createdAt', 'expiresAt'])} ON CONFLICT (id) DO NOTHING`
/** Quotes that were asked for explicitly or paid; the rest verify without a row. Kept 5 minutes beyond expiry. */
export const saveQuote = command({ kind: 'statement', touches: 'records' })(function* (quote: {
  id: string
  jws: string
  createdAt: Millis
  expiresAt: Millis
}): Command<void> {
  yield* all(INSERT_QUOTE, quote.id, quote.jws, quote.createdAt, quote.expiresAt)
})
