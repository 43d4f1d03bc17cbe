// Claims that failed while their authorization could still be used. They are looked at until it cannot: money that moves
// after all is never lost.
import { all, type Command, command, first } from '../command.ts'
import type { PaymentClaim } from '../ports/payments.ts'
import type { Millis } from '../model.ts'
import { unspend } from './claim-budgets.ts'
import { CLAIM, type ClaimRow, IS_WATCHED, toClaim } from './claims.ts'
import { longestUnseen } from './longest-unseen.ts'

const unseen = longestUnseen<ClaimRow>(
  (isDue) => `SELECT ${CLAIM} FROM payment_claims
  WHERE ${IS_WATCHED} AND ${isDue} ORDER BY looked_at, id LIMIT $2 FOR UPDATE SKIP LOCKED`,
)
/** Watched claims without a look since before `now`, as `takeDoubtfulClaims` hands out doubtful ones. */
export const takeWatchedClaims = command({ kind: 'transaction', touches: 'records' })(function* (input: {
  limit: number
  now: Millis
}): Command<readonly PaymentClaim[]> {
  const { limit, now } = input
  const rows = yield* unseen({ before: now, limit })
  for (const { id } of rows) yield* all('UPDATE payment_claims SET looked_at = $1 WHERE id = $2', now, id)
  return rows.map(toClaim)
})

const END = `UPDATE payment_claims SET finished_at = $1 WHERE id = $2 AND ${IS_WATCHED} RETURNING ${CLAIM}`
/** The authorization cannot be used any more: the failure is final, the stored result is deleted, and budgets get back what was not paid. */
export const endWatch = command({ kind: 'transaction', touches: 'records' })(function* (
  id: string,
  now: Millis,
): Command<PaymentClaim | undefined> {
  const row = yield* first<ClaimRow>(END, now, id)
  if (row) {
    yield* all('DELETE FROM claim_results WHERE claim_id = $1', id)
    yield* unspend(id)
  }
  return row && toClaim(row)
})
