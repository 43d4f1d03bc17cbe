// Payments that an operator closed by hand, because no chain and no facilitator could say what became of them.
import { newId } from '../../lib/ids.ts'
import { all, columns, type Command, command, first, insertInto } from '../command.ts'
import type { Millis } from '../model.ts'
import type { ClaimClosure, PaymentClaim } from '../ports/payments.ts'
import { getClaim, moveClaim } from './claims.ts'
import { reverseClaim } from './reorganisations.ts'
import { returnSettlement } from './settlements.ts'

const fields = ['claimId', 'was', 'reason', 'closedBy', 'closedAt'] as const

type Closed =
  { readonly ok: true; readonly claim: PaymentClaim; readonly was: string } | { readonly ok: false }
/** The stable word of a claim that was closed by hand. */
const CLOSED = 'closed_by_operator'

/**
 * `pending | unknown -> failed`, once, with who decided it and why. What it had taken is given back as for every other failure; one that
 * had settled before its chain took it back is reversed. Its payment stays claimed: it buys nothing a second time. Not ok where it is in
 * another state.
 */
export const closeClaim = command({ kind: 'transaction', touches: 'records' })(function* (input: {
  id: string
  reason: string
  closedBy: string
  now: Millis
}): Command<Closed> {
  const { id, reason, closedBy, now } = input
  const row = yield* first<{ state: string; receiptId: string | null; origin: string }>(
    `SELECT state, receipt_id AS "receiptId", origin FROM payment_claims
     WHERE id = $1 AND state IN ('pending', 'unknown') FOR UPDATE`,
    id,
  )
  if (!row) return { ok: false }
  if (row.origin === 'settle') yield* returnSettlement({ claimId: id, transactionId: newId('txn', now), now })
  if (row.receiptId === null) yield* moveClaim({ id, to: 'failed', reason: CLOSED, transaction: null, now })
  else yield* reverseClaim({ id, reason: CLOSED, now })
  yield* all(insertInto('claim_closures', fields), id, row.state, reason, closedBy, now)
  const claim = yield* getClaim(id)
  return claim ? { ok: true, claim, was: row.state } : { ok: false }
})

/** Undefined for a claim that was not closed by hand, as nearly all are. */
export const getClaimClosure = command({ kind: 'lookup' })(function* (
  claimId: string,
): Command<ClaimClosure | undefined> {
  const row = yield* first<ClaimClosure>(
    `SELECT ${columns(fields)} FROM claim_closures WHERE claim_id = $1`,
    claimId,
  )
  return row && { ...row }
})
