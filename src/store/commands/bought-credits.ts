// What a payment for credits does to an account, and who got them: the ledger is asked, since a claim may settle, be taken back and settle again.
import { all, type Command, first } from '../command.ts'
import { MAX_BALANCE } from '../migrations.ts'
import type { Millis } from '../model.ts'
import type { PaymentClaim } from '../ports/payments.ts'
import { recordMovement } from './accounts.ts'

/**
 * The credits of a payment that has happened. Where they cannot go to the account (it is unknown, or would hold more
 * than is counted) the payment still settles, and they stand as `system:unclaimed` for the operator to hand out.
 */
export function* grantPurchase(
  claim: PaymentClaim,
  { accountId, credits }: NonNullable<PaymentClaim['purchase']>,
  { transactionId, now }: { readonly transactionId: string; readonly now: Millis },
): Command<PaymentClaim> {
  const paid = yield* first(
    'UPDATE accounts SET balance = balance + $1 WHERE id = $2 AND balance <= $3 RETURNING id',
    credits,
    accountId,
    MAX_BALANCE - credits,
  )
  yield* recordMovement({
    transactionId,
    accountId: paid ? accountId : UNCLAIMED,
    against: 'purchase',
    amount: credits,
    kind: 'purchase',
    reference: claim.id,
    now,
  })
  return paid ? claim : yield* markUnclaimed(claim)
}

/** Holds the credits of payments whose account could not have them. */
export const UNCLAIMED = 'system:unclaimed'

/** Says of a settled claim that nobody got what it bought. */
export function* markUnclaimed(claim: PaymentClaim): Command<PaymentClaim> {
  const reason = 'purchase_unclaimed'
  yield* all('UPDATE payment_claims SET reason = $1 WHERE id = $2', reason, claim.id)
  return { ...claim, reason }
}

/** How many credits a payment bought, and the account that got them: the ledger knows, whatever has become of the claim since. */
export function* findBought(claimId: string): Command<{ account: string; amount: number } | undefined> {
  return yield* first<{ account: string; amount: number }>(
    `SELECT account, amount FROM ledger_entries WHERE reference = $1 AND kind = 'purchase' AND amount > 0`,
    claimId,
  )
}
