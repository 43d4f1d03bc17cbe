// The debits of permit executions and of edge calls as one statement each, as hot.ts has it for capabilities. Behaviour
// is that of commands/actions.ts and commands/edge.ts.
import { type Command, first, type SqlValue } from '../command.ts'
import { balanceOf } from '../commands/accounts.ts'
import type { ActionResult, Store } from '../ports.ts'
import { ATTEMPT_COLUMNS } from './fused.ts'

type Reservation = Parameters<Store['reserveAction']>[0]
type EdgeResult = Awaited<ReturnType<Store['reserveEdgeCall']>>

// Locks in the order of every command: credential, mandate, permit, account, counts. Of many that execute one permit,
// those who waited for its row find it executed. When nobody pays, the division by zero fails the statement as a whole.
const RESERVE_ACTION = `WITH credential AS (
    SELECT 1 FROM credentials
    WHERE id = $4 AND account_id = $2 AND version = $5 AND revoked_at IS NULL FOR SHARE
  ), mandate AS (
    SELECT id FROM mandates
    WHERE id = (SELECT mandate_id FROM permits WHERE id = $3) AND revoked_at IS NULL
      AND (SELECT count(*) FROM credential) > 0
    FOR SHARE
  ), used AS (
    UPDATE permits SET state = 'executed', attempt_id = $1, summary = NULL
    WHERE id = $3 AND account_id = $2 AND state = 'ready' AND expires_at > $6
      AND credential_id = $4 AND credential_version = $5 AND mandate_id = (SELECT id FROM mandate)
    RETURNING id
  ), paid AS (
    UPDATE accounts SET balance = balance - $7
    WHERE id = $2 AND balance >= $7 AND (SELECT count(*) FROM used) > 0
    RETURNING balance
  ), attempt AS (
    INSERT INTO attempts (${ATTEMPT_COLUMNS})
    SELECT $1, 'action', $2, '', $3, $4, $5, $15, $8, $9, $10, $11, $12, $16::bigint, NULL, NULL, NULL, NULL, NULL, $13, $7
    FROM paid
  ), entries AS (
    INSERT INTO ledger_entries (transaction_id, account, amount, kind, reference, created_at)
    SELECT $14, side.account, side.amount, 'action', $1, $6
    FROM paid, (VALUES ($2, -$7::bigint), ('system:usage', $7::bigint)) AS side (account, amount)
    WHERE $7::bigint > 0
  ), counted AS (
    INSERT INTO action_counts (account_id, executions, credits_charged) SELECT $2, 1, $7 FROM paid
    ON CONFLICT (account_id) DO UPDATE SET executions = action_counts.executions + 1,
      credits_charged = action_counts.credits_charged + excluded.credits_charged
  )
  SELECT CASE WHEN EXISTS (SELECT 1 FROM paid) THEN (SELECT balance FROM paid)
              ELSE 1 / (SELECT count(*) FROM paid) END AS balance`

/** @throws the server's division_by_zero when anything does not hold: step by step then, which finds the reason */
export function* reserveActionAtOnce(input: Reservation): Command<ActionResult> {
  const a = input.attempt
  const row = yield* first<{ balance: number }>(
    RESERVE_ACTION,
    a.id,
    a.accountId,
    a.permitId,
    a.credentialId,
    a.credentialVersion,
    ...detailsOf(input),
  )
  return { ok: true, balance: row!.balance }
}

const RESERVE_EDGE = `WITH paid AS (
    UPDATE accounts SET balance = balance - $4 WHERE id = $2 AND balance >= $4 RETURNING balance
  ), attempt AS (
    INSERT INTO attempts (${ATTEMPT_COLUMNS})
    SELECT $1, 'edge', $2, '', NULL, '', 0, $12, $5, $6, $7, $8, $9, $13::bigint, NULL, NULL, NULL, NULL, NULL, $10, $4
    FROM paid
  ), entries AS (
    INSERT INTO ledger_entries (transaction_id, account, amount, kind, reference, created_at)
    SELECT $11, side.account, side.amount, 'edge', $1, $3
    FROM paid, (VALUES ($2, -$4::bigint), ('system:usage', $4::bigint)) AS side (account, amount)
    WHERE $4::bigint > 0
  )
  SELECT balance FROM paid`

export function* reserveEdgeCallAtOnce(input: Reservation): Command<EdgeResult> {
  const { id, accountId } = input.attempt
  const row = yield* first<{ balance: number }>(RESERVE_EDGE, id, accountId, ...detailsOf(input))
  return row
    ? { ok: true, balance: row.balance }
    : { ok: false, reason: 'credits', balance: yield* balanceOf(accountId) }
}

/** From `now` on, in the order of both statements. */
const detailsOf = ({ attempt: a, ...input }: Reservation): SqlValue[] => [
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
]
