// The commands of every attempt as one statement each: one round trip, and the hot account row is locked for the
// time of a statement instead of four. Behaviour is that of commands/attempts.ts; the contract suite holds both to it.
import { type Command, first, snakeCase } from '../command.ts'
import { attemptFields, balanceBehind } from '../commands/attempts.ts'
import type { FinishAttempt, ReserveResult, Store } from '../ports.ts'

type Reservation = Parameters<Store['reserveAttempt']>[0]

export const ATTEMPT_COLUMNS = [...attemptFields, 'bootId', 'cost'].map(snakeCase).join(', ')

// Locks in the order of every command: credential, capabilities by id, account. The parameters in ARRAY(…) and
// (SELECT count(*) …) are computed once, before the row they guard is locked. When nobody pays, the division by zero
// makes the statement fail as a whole, and with it the uses it counted.
const RESERVE = `WITH credential AS (
    SELECT 1 FROM credentials
    WHERE id = $4 AND account_id = $2 AND version = $5 AND revoked_at IS NULL FOR SHARE
  ), locked AS (
    SELECT id FROM capabilities
    WHERE id IN (SELECT ancestor_id FROM capability_lineage WHERE capability_id = $3)
      AND EXISTS (SELECT 1 FROM credential)
    ORDER BY id FOR UPDATE
  ), used AS (
    UPDATE capabilities SET uses = uses + 1
    WHERE id = ANY (ARRAY(SELECT id FROM locked))
      AND revoked_at IS NULL AND expires_at > $6 AND (max_uses IS NULL OR uses < max_uses)
    RETURNING id
  ), paid AS (
    UPDATE accounts SET balance = balance - $7
    WHERE id = $2 AND balance >= $7 AND (SELECT count(*) FROM used) > 0
      AND (SELECT count(*) FROM used) = (SELECT count(*) FROM capability_lineage WHERE capability_id = $3)
    RETURNING balance
  ), attempt AS (
    INSERT INTO attempts (${ATTEMPT_COLUMNS})
    SELECT $1, 'fetch', $2, $3, NULL, $4, $5, $15, $8, $9, $10, $11, $12, $16::bigint, NULL, NULL, NULL, NULL, NULL, $13, $7
    FROM paid
  ), entries AS (
    INSERT INTO ledger_entries (transaction_id, account, amount, kind, reference, created_at)
    SELECT $14, side.account, side.amount, 'egress', $1, $6
    FROM paid, (VALUES ($2, -$7::bigint), ('system:usage', $7::bigint)) AS side (account, amount)
    WHERE $7::bigint > 0
  )
  SELECT CASE WHEN EXISTS (SELECT 1 FROM paid) THEN (SELECT balance FROM paid)
              ELSE 1 / (SELECT count(*) FROM paid) END AS balance`

/** @throws the server's division_by_zero when anything does not hold; REFUSED tells why */
export function* reserveAtOnce(input: Reservation): Command<ReserveResult> {
  const a = input.attempt
  const row = yield* first<{ balance: number }>(
    RESERVE,
    a.id,
    a.accountId,
    a.capabilityId,
    a.credentialId,
    a.credentialVersion,
    input.now,
    input.cost,
    a.method,
    a.host,
    a.requestDigest,
    a.idempotencyKey,
    a.createdAt,
    input.bootId,
    input.transactionId,
    a.state,
    a.sendingAt,
  )
  return { ok: true, balance: row!.balance }
}
export const isRefusedReservation = (thrown: unknown) => (thrown as { code?: unknown }).code === '22012'

const DONE = `UPDATE attempts SET state = $1, outcome = $2, upstream_status = $3, response_digest = $4,
      receipt_id = $5, finished_at = $6
    WHERE id = $7 AND boot_id = $8 AND kind = $9 AND state = 'sending' RETURNING account_id`
const KEPT = 'INSERT INTO receipts (id, account_id, jws, created_at) SELECT $5, $10, $11, $12 FROM done'
const BALANCE = 'SELECT balance FROM accounts WHERE id = (SELECT account_id FROM done)'
const FINISH = `WITH done AS (${DONE}), kept AS (${KEPT}) ${BALANCE}`
/** Counted too, which would cost the other kinds something. */
const finishAction = (
  count: 'settled' | 'ambiguous',
) => `WITH done AS (${DONE}), kept AS (${KEPT}), counted AS (
    UPDATE action_counts SET ${count} = ${count} + 1 WHERE account_id = (SELECT account_id FROM done)
  ) ${BALANCE}`
const FINISH_ACTION = { settled: finishAction('settled'), ambiguous: finishAction('ambiguous') }

export function* finishAtOnce(input: FinishAttempt): Command<{ ok: boolean; balance: number }> {
  const { receipt } = input
  const row = yield* first<{ balance: number }>(
    input.kind === 'action' ? FINISH_ACTION[input.state] : FINISH,
    input.state,
    input.outcome,
    input.upstreamStatus,
    input.responseDigest,
    receipt.id,
    input.now,
    input.id,
    input.bootId,
    input.kind,
    receipt.accountId,
    receipt.jws,
    receipt.createdAt,
  )
  return row ? { ok: true, balance: row.balance } : { ok: false, balance: yield* balanceBehind(input.id) }
}
