// The part of a reservation that asks budgets: locked after what they belong to and before the account, judged, and counted once
// somebody paid. Reservations without a budget have a statement without it, since most are.
import { attemptAmounts, budgetSql, budgetValues, LAST_FREED_FIRST } from '../../commands/budgets.ts'
import type { Reservation } from '../../commands/attempts.ts'
import type { SqlValue } from '../../command.ts'
import type { Budget } from '../../ports/budgets.ts'

/** First of six placeholders: three periods and three amounts (`budgetValuesOf`). */
const FIRST = 17
const AMOUNT = budgetSql.amount(FIRST + 3)

/** The values of a reservation's budget, after all others. */
export const budgetValuesOf = ({ isBudgeted, now, cost }: Reservation): SqlValue[] =>
  isBudgeted ? budgetValues(now, attemptAmounts(cost)) : []

/** @param holders expression of an array of ids, which names the step that locks before it */
export const budgetSteps = (holders: string): string => `, budget AS (
    SELECT holder, unit, period, max_used, ${budgetSql.usedIn(FIRST)} AS used, ${budgetSql.startedIn(FIRST)} AS started_at,
      ${AMOUNT} AS amount
    FROM budgets WHERE holder = ANY (${holders})
    ORDER BY holder, unit, period FOR UPDATE
  )`
/** A line of \`judged\`. */
export const BUDGET_REFUSAL = `
      WHEN EXISTS (SELECT 1 FROM budget WHERE amount > 0 AND used + amount > max_used) THEN 'budget'`
/** After \`paid\`. */
export const BUDGET_COUNTED = `, spent AS (
    UPDATE budgets SET used = ${budgetSql.usedIn(FIRST)} + ${AMOUNT}, started_at = ${budgetSql.startedIn(FIRST)}
    WHERE holder = ANY (ARRAY(SELECT holder FROM budget)) AND (SELECT count(*) FROM paid) > 0
  )`
/** Columns of the answer, and where they come from: the budget in the way. */
export const BUDGET_COLUMNS = `, blocking.holder, blocking.unit, blocking.period, blocking.max_used AS "maxUsed",
  blocking.used, blocking.started_at AS "startedAt"`
export const BUDGET_JOIN = ` LEFT JOIN (
    SELECT * FROM budget WHERE amount > 0 AND used + amount > max_used ORDER BY ${LAST_FREED_FIRST} LIMIT 1
  ) blocking ON TRUE`

export type BudgetColumns = Omit<Budget, 'max'> & { readonly maxUsed: number }
export const toBudget = ({ holder, unit, period, maxUsed, used, startedAt }: BudgetColumns): Budget => ({
  holder,
  unit,
  period,
  max: maxUsed,
  used,
  startedAt,
})
