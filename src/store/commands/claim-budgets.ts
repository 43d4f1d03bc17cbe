// What an agent pays counts on the USDC budgets of its lineage and its credential, from the claim until it is clear that it was not
// paid. A claim that failed while its authorization could still be used, or that its chain took back, stays counted until it cannot be
// paid any more.
import { all, type Command, first } from '../command.ts'
import type { Millis } from '../model.ts'
import type { Budget } from '../ports/budgets.ts'
import type { NewPaymentClaim } from '../ports/payments.ts'
import { type Amounts, countOnBudgets, judgeBudgets, returnBudgets } from './budgets.ts'

const usdc = (amount: string): Amounts => ({ calls: 0, credits: 0, usdc: Number(amount) })

/** @returns the budget that has no room for it; else it is counted, and the claim names the capability that it counts on */
export function* spend(
  claim: NewPaymentClaim,
  capabilityId: string | undefined,
): Command<Budget | undefined> {
  if (capabilityId === undefined) return undefined
  const spender = { capabilityId, credentialId: null }
  const budget = yield* judgeBudgets(spender, usdc(claim.amount), claim.createdAt)
  if (budget) return budget
  yield* countOnBudgets(spender, usdc(claim.amount), claim.createdAt)
  yield* all('UPDATE payment_claims SET capability_id = $1 WHERE id = $2', capabilityId, claim.id)
  return undefined
}

const SPENT = `SELECT capability_id AS "capabilityId", amount, created_at AS "createdAt" FROM payment_claims
  WHERE id = $1 AND capability_id IS NOT NULL`
/** Gives a payment that did not happen back to the budgets that it was counted on; once, by the step after which no other follows. */
export function* unspend(id: string): Command<void> {
  const spent = yield* first<{ capabilityId: string; amount: string; createdAt: Millis }>(SPENT, id)
  if (!spent) return
  const { capabilityId, amount, createdAt } = spent
  yield* returnBudgets({ capabilityId, credentialId: null }, usdc(amount), createdAt)
}
