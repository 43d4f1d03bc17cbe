// Budgets: how much of something a capability or a credential may use in an hour, a day, a month or in all.
import type { Millis } from '../model.ts'

/** `calls`: attempts that went out; `credits`: of the account; `usdc`: atomic units that were paid with x402. */
export const BUDGET_UNITS = ['calls', 'credits', 'usdc'] as const
export type BudgetUnit = (typeof BUDGET_UNITS)[number]

/** Calendar periods in UTC: a budget is whole again when the next one begins. Of `total` none does: it is a limit for all time. */
export const BUDGET_PERIODS = ['hour', 'day', 'month', 'total'] as const
export type BudgetPeriod = (typeof BUDGET_PERIODS)[number]

export interface BudgetLimit {
  readonly unit: BudgetUnit
  readonly period: BudgetPeriod
  /** Most that may be used in one period. */
  readonly max: number
}

/** A limit with its counter. One row, whoever counts on it and in whichever process. */
export interface Budget extends BudgetLimit {
  /** Id of the capability or credential that it is a budget of. */
  readonly holder: string
  readonly used: number
  /** Beginning of the period that `used` is of; 0 of `total`. */
  readonly startedAt: Millis
}
