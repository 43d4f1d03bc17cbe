// What an operator decided about an ambiguous attempt: its end, the refund, the receipt and the reason, in one transaction.
import { all, columns, type Command, command, first, insertInto } from '../command.ts'
import type { Attempt, Millis } from '../model.ts'
import type { StoredReceipt, StoredReconciliation } from '../ports/attempts.ts'
import { ATTEMPT, giveBack, insertReceipt, type Refundable, toAttempt } from './attempts.ts'
import { attemptAmounts, returnBudgets } from './budgets.ts'
import { addCounts } from './counts.ts'
import { returnShares } from './mandates.ts'
import { returnUses } from './uses.ts'

const fields = [
  'attemptId',
  'accountId',
  'decision',
  'reason',
  'was',
  'decidedBy',
  'decidedAt',
  'receiptId',
] as const

/** An attempt of any account: whether the caller may see it is the caller's business. */
export const findAttempt = command({ kind: 'lookup' })(function* (id: string): Command<Attempt | undefined> {
  const row = yield* first<Attempt>(`SELECT ${ATTEMPT} FROM attempts WHERE id = $1`, id)
  return row && toAttempt(row)
})

type Reconciled =
  { readonly ok: true; readonly accountId: string; readonly was: string } | { readonly ok: false }
/**
 * `ambiguous -> settled | refunded`, once. What did not happen gives back the credit, the use of the capability, the share of the
 * mandate and what budgets counted. Nothing changes where the attempt is not ambiguous.
 */
export const reconcileAttempt = command({ kind: 'transaction', touches: 'records' })(function* (input: {
  id: string
  decision: StoredReconciliation['decision']
  outcome: string
  reason: string
  decidedBy: string
  receipt: StoredReceipt
  transactionId: string
  now: Millis
}): Command<Reconciled> {
  const { id, decision, outcome, reason, decidedBy, receipt, transactionId, now } = input
  // The row is locked by this, so that of two decisions at once one finds it ambiguous.
  const row = yield* first<Refundable & { was: string }>(
    `SELECT id, account_id AS "accountId", kind, permit_id AS "permitId", cost, capability_id AS "capabilityId",
       credential_id AS "credentialId", created_at AS "createdAt", COALESCE(outcome, '') AS was
     FROM attempts WHERE id = $1 AND state = 'ambiguous' FOR UPDATE`,
    id,
  )
  if (!row) return { ok: false }
  const happened = decision === 'happened'
  yield* all(
    'UPDATE attempts SET state = $1, outcome = $2 WHERE id = $3',
    happened ? 'settled' : 'refunded',
    outcome,
    id,
  )
  if (!happened) {
    yield* returnUses([row.capabilityId])
    if (row.permitId !== null) yield* returnShares([row.permitId])
    if (row.credentialId) yield* returnBudgets(row, attemptAmounts(row.cost), row.createdAt)
    yield* giveBack(row, transactionId, now)
  }
  yield* insertReceipt(receipt)
  const { accountId, was } = row
  yield* all(
    insertInto('attempt_reconciliations', fields),
    id,
    accountId,
    decision,
    reason,
    was,
    decidedBy,
    now,
    receipt.id,
  )
  if (row.kind === 'action')
    yield* addCounts(
      accountId,
      happened ? { ambiguous: -1, settled: 1 } : { ambiguous: -1, refunded: 1, creditsRefunded: row.cost },
    )
  return { ok: true, accountId, was }
})

/** The decision about an attempt. */
export const getReconciliation = command({ kind: 'lookup' })(function* (
  attemptId: string,
): Command<StoredReconciliation | undefined> {
  const row = yield* first<StoredReconciliation>(
    `SELECT ${columns(fields)} FROM attempt_reconciliations WHERE attempt_id = $1`,
    attemptId,
  )
  return row && { ...row }
})
