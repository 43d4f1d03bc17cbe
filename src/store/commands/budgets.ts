// Budgets are counted in the transaction that spends: every budget of the capability, of all it was narrowed from and of the
// credential, or none of them. A row holds its limit beside its counter, so one locked row judges and counts.
import { periodsAt } from '../../lib/periods.ts'
import { all, type Command, command, type SqlValue } from '../command.ts'
import type { Millis } from '../model.ts'
import type { Budget, BudgetLimit, BudgetPeriod, BudgetUnit } from '../ports/budgets.ts'

/** What counts on the budgets of a capability's lineage and of its credential, or of a credential alone. */
export interface Spender {
  readonly capabilityId: string | null
  readonly credentialId: string | null
}
export type Amounts = Readonly<Record<BudgetUnit, number>>

const BUDGET = 'holder, unit, period, max_used AS max, used, started_at AS "startedAt"'
/** Rows are locked in the order of the key wherever several are: nobody waits for whoever waits for them. */
const IN_ORDER = 'ORDER BY holder, unit, period'

/** `$1` a capability or '', `$2` a credential or ''. A capability counts on its credential even where nobody names it. */
const HOLDERS = `SELECT ancestor_id FROM capability_lineage WHERE capability_id = $1
  UNION ALL SELECT credential_id FROM capabilities WHERE id = $1 UNION ALL SELECT $2`
const FIND = `SELECT ${BUDGET} FROM budgets WHERE holder IN (${HOLDERS}) ${IN_ORDER}`
const LOCK = `${FIND} FOR UPDATE`

/** `CASE` over the periods: `$n` hour, then day and month, as integers on both engines. `total` began before everything. */
const startAt = (n: number) =>
  `CASE period WHEN 'hour' THEN CAST($${n} AS BIGINT) WHEN 'day' THEN CAST($${n + 1} AS BIGINT) WHEN 'month' THEN CAST($${n + 2} AS BIGINT) ELSE 0 END`
const amountAt = (n: number) =>
  `CASE unit WHEN 'calls' THEN CAST($${n} AS BIGINT) WHEN 'credits' THEN CAST($${n + 1} AS BIGINT) ELSE CAST($${n + 2} AS BIGINT) END`

/**
 * The parts of every statement that judges or counts, by the number of their first placeholder. A replica whose clock is
 * behind counts on the period that another one began: it never begins an older one again.
 */
export const budgetSql = {
  start: startAt,
  amount: amountAt,
  usedIn: (n: number) => `CASE WHEN started_at < ${startAt(n)} THEN 0 ELSE used END`,
  startedIn: (n: number) => `CASE WHEN started_at < ${startAt(n)} THEN ${startAt(n)} ELSE started_at END`,
} as const
/** Values for three placeholders of periods, then three of amounts. */
export const budgetValues = (now: Millis, amounts: Amounts): SqlValue[] => {
  const { hour, day, month } = periodsAt(now)
  return [hour, day, month, amounts.calls, amounts.credits, amounts.usdc]
}

const COUNT = `UPDATE budgets SET used = ${budgetSql.usedIn(3)} + ${budgetSql.amount(6)}, started_at = ${budgetSql.startedIn(3)}
  WHERE holder IN (${HOLDERS})`

/** A budget as it stands at a moment: nothing is used in a period that has just begun. */
export function budgetAt(budget: Budget, now: Millis): Budget {
  const startedAt = periodsAt(now)[budget.period]
  return budget.startedAt < startedAt ? { ...budget, used: 0, startedAt } : { ...budget }
}

const LENGTHS: Readonly<Record<BudgetPeriod, number>> = { hour: 0, day: 1, month: 2, total: 3 }
/** The order of `findSpent` in SQL; of several of one period the first by holder and unit. */
export const LAST_FREED_FIRST = `CASE period WHEN 'total' THEN 0 WHEN 'month' THEN 1 WHEN 'day' THEN 2 ELSE 3 END, holder, unit`
/** Of several that are in the way the one that frees last: who waits for it has waited for all. */
export function findSpent(budgets: readonly Budget[], amounts: Amounts, now: Millis): Budget | undefined {
  return budgets
    .map((budget) => budgetAt(budget, now))
    .filter(({ unit, used, max }) => amounts[unit] > 0 && used + amounts[unit] > max)
    .toSorted((a, b) => LENGTHS[b.period] - LENGTHS[a.period])
    .at(0)
}

/** Locks every budget of the spender, so that what it finds holds until the transaction ends. @returns the one in the way */
export function* judgeBudgets(
  { capabilityId, credentialId }: Spender,
  amounts: Amounts,
  now: Millis,
): Command<Budget | undefined> {
  const budgets = yield* all<Budget>(LOCK, capabilityId ?? '', credentialId ?? '')
  return findSpent(budgets, amounts, now)
}

/** Counts on every budget of the spender, which `judgeBudgets` has locked. */
export function* countOnBudgets(
  { capabilityId, credentialId }: Spender,
  amounts: Amounts,
  now: Millis,
): Command<void> {
  yield* all(COUNT, capabilityId ?? '', credentialId ?? '', ...budgetValues(now, amounts))
}

/** Amounts of one attempt. */
export const attemptAmounts = (credits: number): Amounts => ({ calls: 1, credits, usdc: 0 })

const GIVE_BACK = `UPDATE budgets SET used = used - ${budgetSql.amount(6)}
  WHERE used >= ${budgetSql.amount(6)} AND started_at = ${budgetSql.start(3)} AND (holder, unit, period) IN (
    SELECT holder, unit, period FROM budgets WHERE holder IN (${HOLDERS}) ${IN_ORDER} FOR UPDATE)`
/** Gives back what was taken at `takenAt` and not spent after all: to the period that it was taken from, while that lasts. */
export function* returnBudgets(
  { capabilityId, credentialId }: Spender,
  amounts: Amounts,
  takenAt: Millis,
): Command<void> {
  yield* all(GIVE_BACK, capabilityId ?? '', credentialId ?? '', ...budgetValues(takenAt, amounts))
}

const SET = `INSERT INTO budgets (holder, unit, period, max_used, used, started_at) VALUES ($1, $2, $3, $4, 0, 0)
  ON CONFLICT (holder, unit, period) DO UPDATE SET max_used = excluded.max_used`
/** Makes these the holder's budgets. Of one that it had before the counter stays, so that editing frees nothing. */
export function* setBudgets(holder: string, limits: readonly BudgetLimit[]): Command<void> {
  const had = yield* all<Budget>(
    `SELECT ${BUDGET} FROM budgets WHERE holder = $1 ${IN_ORDER} FOR UPDATE`,
    holder,
  )
  for (const { unit, period } of had)
    if (!limits.some((limit) => limit.unit === unit && limit.period === period))
      yield* all('DELETE FROM budgets WHERE holder = $1 AND unit = $2 AND period = $3', holder, unit, period)
  for (const { unit, period, max } of limits) yield* all(SET, holder, unit, period, max)
}

/** Forgets the budgets of a holder that is no more. */
export function* dropBudgets(holder: string): Command<void> {
  yield* all('DELETE FROM budgets WHERE holder = $1', holder)
}

/** The budgets of these holders as they stand at `now`. */
export const listBudgets = command({ kind: 'read' })(function* (
  holders: readonly string[],
  now: Millis,
): Command<readonly Budget[]> {
  if (holders.length === 0) return []
  const rows = yield* all<Budget>(
    `SELECT ${BUDGET} FROM budgets WHERE holder IN (${holders.map((_, i) => `$${i + 1}`).join(', ')}) ${IN_ORDER}`,
    ...holders,
  )
  return rows.map((row) => budgetAt(row, now))
})

/** Every budget that a capability counts on: its own, those of all it was narrowed from, and its credential's. */
export const lineageBudgets = command({ kind: 'read' })(function* (
  capabilityId: string,
  now: Millis,
): Command<readonly Budget[]> {
  const rows = yield* all<Budget>(FIND, capabilityId, '')
  return rows.map((row) => budgetAt(row, now))
})
