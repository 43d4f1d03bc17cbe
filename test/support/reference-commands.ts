// What each engine writes in few statements of its own, step by step: the order of the locks, of the checks and of the
// reasons, for the suites that hold the engines to it. Plain SQL, no engine's tricks.
import { all, type Command, first } from '../../src/store/command.ts'
import { balanceOf, recordMovement } from '../../src/store/commands/accounts.ts'
import { findCredential, insertAttempt, pay, type Reservation } from '../../src/store/commands/attempts.ts'
import { attemptAmounts, countOnBudgets, judgeBudgets } from '../../src/store/commands/budgets.ts'
import { addCounts } from '../../src/store/commands/counts.ts'
import { type KeyTaken, underKey } from '../../src/store/commands/idempotency.ts'
import { type Commands, commands } from '../../src/store/commands/index.ts'
import { PERMIT } from '../../src/store/commands/permits.ts'
import type { Millis } from '../../src/store/model.ts'
import type { ActionResult, Permit, Repeated, ReserveResult } from '../../src/store/ports.ts'

const LOCK_LINEAGE = `SELECT id, max_uses AS "maxUses", uses, expires_at AS "expiresAt", revoked_at AS "revokedAt"
  FROM capabilities WHERE id IN (SELECT ancestor_id FROM capability_lineage WHERE capability_id = $1)
  ORDER BY id FOR UPDATE`
const COUNT_USE = `UPDATE capabilities SET uses = uses + 1
  WHERE id IN (SELECT ancestor_id FROM capability_lineage WHERE capability_id = $1)
    AND revoked_at IS NULL AND expires_at > $2 AND (max_uses IS NULL OR uses < max_uses)`

interface UseRow {
  id: string
  maxUses: number | null
  uses: number
  expiresAt: Millis
  revokedAt: Millis | null
}

/** A key that is taken comes before everything else. */
function* isKeyTaken({ once }: Reservation): Command<boolean> {
  return once
    ? (yield* first('SELECT id FROM attempts WHERE key_hash = $1', once.keyHash)) !== undefined
    : false
}

const reserveAttempt = (input: Reservation): Command<ReserveResult> => underKey(reserveFetch, input)

function* reserveFetch(input: Reservation): Command<Exclude<ReserveResult, Repeated> | KeyTaken> {
  const { attempt, cost, now } = input
  if (yield* isKeyTaken(input)) return { ok: false, reason: 'repeated' }
  const credential = yield* findCredential(attempt.credentialId, attempt.accountId)
  if (!credential || credential.revokedAt !== null) return { ok: false, reason: 'credential_gone' }
  if (credential.version !== attempt.credentialVersion) return { ok: false, reason: 'credential_changed' }

  const lineage = yield* all<UseRow>(LOCK_LINEAGE, attempt.capabilityId)
  if (lineage.length === 0 || lineage.some((row) => row.revokedAt !== null || row.expiresAt <= now))
    return { ok: false, reason: 'capability_gone' }
  if (lineage.some((row) => row.maxUses !== null && row.uses >= row.maxUses))
    return { ok: false, reason: 'capability_used_up' }

  const budget = input.isBudgeted ? yield* judgeBudgets(attempt, attemptAmounts(cost), now) : undefined
  if (budget) return { ok: false, reason: 'budget', budget }
  const paid = yield* pay(attempt.accountId, cost)
  if (!paid) return { ok: false, reason: 'credits', balance: yield* balanceOf(attempt.accountId) }
  if (input.isBudgeted) yield* countOnBudgets(attempt, attemptAmounts(cost), now)
  yield* all(COUNT_USE, attempt.capabilityId, now)
  yield* writeDown(input, 'egress')
  return { ok: true, balance: paid.balance }
}

function* writeDown(input: Reservation, kind: 'egress' | 'action'): Command<void> {
  const { attempt, bootId, transactionId, cost, now } = input
  yield* insertAttempt(attempt, bootId, cost)
  const { id: reference, accountId } = attempt
  if (cost > 0)
    yield* recordMovement({ transactionId, accountId, against: 'usage', amount: -cost, kind, reference, now })
  const { once } = input
  if (once)
    yield* all(
      'UPDATE attempts SET key_hash = $1, max_bytes = $2 WHERE id = $3',
      once.keyHash,
      once.maxBytes,
      attempt.id,
    )
}

const LOCK_MANDATE = `SELECT revoked_at AS "revokedAt" FROM mandates
  WHERE id = (SELECT mandate_id FROM permits WHERE id = $1) FOR SHARE`
const LOCK_PERMIT = `SELECT ${PERMIT} FROM permits WHERE id = $1 AND account_id = $2 FOR UPDATE`
const USE_PERMIT = `UPDATE permits SET state = 'executed', attempt_id = $1, summary = NULL WHERE id = $2`

const reserveAction = (input: Reservation): Command<ActionResult> => underKey(reserveExecution, input)

function* reserveExecution(input: Reservation): Command<Exclude<ActionResult, Repeated> | KeyTaken> {
  const { attempt, cost, now } = input
  const { permitId, accountId } = attempt
  if (yield* isKeyTaken(input)) return { ok: false, reason: 'repeated' }
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

  const budget = input.isBudgeted ? yield* judgeBudgets(attempt, attemptAmounts(cost), now) : undefined
  if (budget) return { ok: false, reason: 'budget', budget }
  const paid = yield* pay(accountId, cost)
  if (!paid) return { ok: false, reason: 'credits', balance: yield* balanceOf(accountId) }
  if (input.isBudgeted) yield* countOnBudgets(attempt, attemptAmounts(cost), now)
  yield* all(USE_PERMIT, attempt.id, permitId)
  yield* writeDown(input, 'action')
  yield* addCounts(accountId, { executions: 1, creditsCharged: cost })
  return { ok: true, balance: paid.balance }
}

export const referenceCommands: Commands = { ...commands, reserveAttempt, reserveAction }
