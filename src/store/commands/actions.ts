// Transaction A of an execution: the permit becomes this attempt, and the attempt is paid for.
import { all, type Command, first } from '../command.ts'
import type { ActionResult, Input, Permit } from '../ports.ts'
import type { Millis } from '../model.ts'
import { balanceOf, recordMovement } from './accounts.ts'
import { findCredential, insertAttempt, pay } from './attempts.ts'
import { addCounts } from './counts.ts'
import { PERMIT } from './permits.ts'

const LOCK_MANDATE = `SELECT revoked_at AS "revokedAt" FROM mandates
  WHERE id = (SELECT mandate_id FROM permits WHERE id = $1) FOR SHARE`
const LOCK_PERMIT = `SELECT ${PERMIT} FROM permits WHERE id = $1 AND account_id = $2 FOR UPDATE`
const USE_PERMIT = `UPDATE permits SET state = 'executed', attempt_id = $1, summary = NULL WHERE id = $2`

export function* reserveAction(input: Input<'reserveAction'>): Command<ActionResult> {
  const { attempt, cost, now } = input
  const { permitId, accountId } = attempt
  // All locks first, in their order; then the permit is judged before what it stands on.
  const credential = yield* findCredential(attempt.credentialId, accountId)
  const mandate = yield* first<{ revokedAt: Millis | null }>(LOCK_MANDATE, permitId)
  const permit = yield* first<Permit>(LOCK_PERMIT, permitId, accountId)
  if (!permit || permit.state !== 'ready' || permit.expiresAt <= now)
    return { ok: false, reason: 'permit', permit: permit && { ...permit } }
  if (!mandate || mandate.revokedAt !== null) return { ok: false, reason: 'mandate_gone' }
  if (!credential || credential.revokedAt !== null || permit.credentialId !== attempt.credentialId)
    return { ok: false, reason: 'credential_gone' }
  const isCurrent = credential.version === attempt.credentialVersion
  if (!isCurrent || credential.version !== permit.credentialVersion)
    return { ok: false, reason: 'credential_changed' }

  const paid = yield* pay(accountId, cost)
  if (!paid) return { ok: false, reason: 'credits', balance: yield* balanceOf(accountId) }
  yield* all(USE_PERMIT, attempt.id, permitId)
  yield* insertAttempt(attempt, input.bootId, cost)
  if (cost > 0)
    yield* recordMovement({
      transactionId: input.transactionId,
      accountId,
      against: 'usage',
      amount: -cost,
      kind: 'action',
      reference: attempt.id,
      now,
    })
  yield* addCounts(accountId, { executions: 1, creditsCharged: cost })
  return { ok: true, balance: paid.balance }
}
