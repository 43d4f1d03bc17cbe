// Budgets in words: what may be asked for, how they are shown, and the refusal by one that is spent.
import type { BudgetState, BudgetWish } from '../../../schemas/budget.ts'
import { formatAtomic } from '../../../schemas/money.ts'
import { GatewayError } from '../../core/errors.ts'
import { nextPeriod, periodsAt } from '../../lib/periods.ts'
import { toTimestampOrNull } from '../../lib/timestamp.ts'
import type { HeldBudget } from '../ports.ts'
import type { Budget, BudgetLimit, BudgetUnit } from '../../store/ports.ts'

const ATOMIC = 1_000_000n

/**
 * Limits as the store counts them; USDC in atomic units.
 * @throws {GatewayError} input_invalid for two of one unit and period, and for a limit that is nothing or no whole number
 */
export function toLimits(wishes: readonly BudgetWish[] | undefined): readonly BudgetLimit[] {
  const limits: BudgetLimit[] = []
  for (const [index, { unit, per, limit }] of (wishes ?? []).entries()) {
    const max = toCount(unit, limit)
    if (max === undefined)
      throw refused(
        `/budgets/${index}/limit`,
        unit === 'usdc' ? 'must be more than 0' : `${unit} are whole numbers, 1 or more`,
      )
    if (limits.some((other) => other.unit === unit && other.period === per))
      throw refused(`/budgets/${index}`, `there is another budget of ${unit} per ${per}: leave one out`)
    limits.push({ unit, period: per, max })
  }
  return limits
}

function toCount(unit: BudgetUnit, limit: number | string): number | undefined {
  const [whole = '', fraction = ''] = String(limit).split('.')
  if (unit !== 'usdc' && fraction !== '') return undefined
  const count = unit === 'usdc' ? BigInt(whole) * ATOMIC + BigInt(fraction.padEnd(6, '0')) : BigInt(whole)
  return count > 0n ? Number(count) : undefined
}

const refused = (pointer: string, message: string) =>
  new GatewayError('input_invalid', `${pointer}: ${message}.`, { extras: { fields: [{ pointer, message }] } })

const show = (unit: BudgetUnit, count: number) =>
  unit === 'usdc' ? formatAtomic(BigInt(count)) : String(count)

/** The moment at which it is whole again, in milliseconds; null where it never is. */
const freesAt = ({ period, startedAt }: Budget): number | null =>
  period === 'total' ? null : nextPeriod(period, startedAt)

/** A budget as its holder and its operator see it. */
export const toBudgetState = (budget: Budget): BudgetState => ({
  unit: budget.unit,
  per: budget.period,
  limit: show(budget.unit, budget.max),
  used: show(budget.unit, budget.used),
  frees_at: toTimestampOrNull(freesAt(budget)),
})

/** A budget of which nothing is used yet. */
export const startedBudget = (holder: string, limit: BudgetLimit, now: number): Budget => ({
  ...limit,
  holder,
  used: 0,
  startedAt: periodsAt(now)[limit.period],
})

export function groupByHolder(budgets: readonly Budget[]): ReadonlyMap<string, readonly Budget[]> {
  return Map.groupBy(budgets, ({ holder }) => holder)
}

const holderOf = ({ holder }: Budget) => (holder.startsWith('cred_') ? 'credential' : 'capability')

/** A budget with whose it is. */
export const toHeldBudget = (budget: Budget): HeldBudget => ({
  of: holderOf(budget),
  id: budget.holder,
  ...toBudgetState(budget),
})

const WORDS = { calls: 'calls', credits: 'credits', usdc: 'USDC' } as const

/**
 * @returns 429 calls_spent, or 402 budget_spent for credits and USDC: which budget, of whom, and when it is whole again. Nothing
 * was sent, charged or counted
 */
export function budgetSpent(budget: Budget, now: number): GatewayError {
  const { unit, period, holder, max, used } = budget
  const of = holderOf(budget)
  const state = toBudgetState(budget)
  const at = freesAt(budget)
  return new GatewayError(
    unit === 'calls' ? 'calls_spent' : 'budget_spent',
    `The ${of} ${holder} allows ${state.limit} ${WORDS[unit]} ${period === 'total' ? 'in all' : `per ${period}`}, ${state.used} are used` +
      `${used < max ? ' and this needs more than is left' : ''}. Nothing was sent or charged. ` +
      (at === null
        ? 'It is never whole again: ask the operator for another.'
        : `It is whole again at ${state.frees_at}; until then ask the operator for another.`),
    {
      reason: `${unit}_per_${period}`,
      extras: {
        refused_by: of,
        budget: { of, id: holder, ...state },
        ...(at !== null && { retry_after_seconds: Math.max(1, Math.ceil((at - now) / 1000)) }),
      },
    },
  )
}
