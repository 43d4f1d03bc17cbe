// The commands of every attempt as one statement each: one round trip, and the account's row, which everybody of that
// account wants, is locked for the time of a statement instead of four.
import { type Command, first, snakeCase, type SqlValue } from '../../command.ts'
import { balanceOf } from '../../commands/accounts.ts'
import { attemptFields, balanceBehind, type Reservation } from '../../commands/attempts.ts'
import { type KeyTaken, underKey } from '../../commands/idempotency.ts'
import { MAX_KEPT_BYTES } from '../../commands/kept-answers.ts'
import {
  BUDGET_COLUMNS,
  BUDGET_COUNTED,
  BUDGET_JOIN,
  BUDGET_REFUSAL,
  type BudgetColumns,
  budgetSteps,
  budgetValuesOf,
  toBudget,
} from './budgets.ts'
import type { FinishAttempt, FinishResult, ReserveResult } from '../../ports/attempts.ts'
import type { Repeated } from '../../ports/idempotency.ts'
import { BRIEFLY } from '../patience.ts'
import { keyValuesOf, reservationTexts } from './keys.ts'

export const ATTEMPT_COLUMNS = [...attemptFields, 'bootId', 'cost'].map(snakeCase).join(', ')

/** A refusal, and nothing was written; or the balance that is left. */
export type Reserved<R> =
  { readonly refusal: R; readonly balance: null } | { readonly refusal: null; readonly balance: number }

/** Both halves of what an attempt costs, once somebody paid. */
export const entries = (p: {
  kind: string
  account: string
  cost: string
  transaction: string
  now: string
}) => `
    INSERT INTO ledger_entries (transaction_id, account, amount, kind, reference, created_at)
    SELECT ${p.transaction}, side.account, side.amount, '${p.kind}', $1, ${p.now}
    FROM paid, (VALUES (${p.account}, -${p.cost}::bigint), ('system:usage', ${p.cost}::bigint)) AS side (account, amount)
    WHERE ${p.cost}::bigint > 0`

/** The last of a reservation: the first reason in `judged`, then the balance. */
export const STATUS = `
  COALESCE((SELECT refusal FROM judged), CASE WHEN NOT EXISTS (SELECT 1 FROM paid) THEN 'credits' END) AS refusal,
  (SELECT balance FROM paid) AS balance`

// Locks in the order of every command: credential, capabilities by id, account. Each step asks for the one before it, which
// PostgreSQL then computes first and once. What is judged is locked, so nothing is written that would have to be undone.
const textOf = reservationTexts(
  ({ isBudgeted, repeated, keyColumns, keyValues }) => `WITH credential AS (
    SELECT version, revoked_at FROM credentials WHERE id = $4 AND account_id = $2 ${BRIEFLY} FOR SHARE
  ), lineage AS (
    SELECT id, revoked_at, expires_at, max_uses, uses FROM capabilities
    WHERE id IN (SELECT ancestor_id FROM capability_lineage WHERE capability_id = $3)
      AND (SELECT count(*) FROM credential) > 0
    ORDER BY id FOR UPDATE
  )${isBudgeted ? budgetSteps('ARRAY(SELECT id FROM lineage) || $4::text') : ''}, judged AS (
    SELECT CASE${repeated}
      WHEN NOT EXISTS (SELECT 1 FROM credential WHERE revoked_at IS NULL) THEN 'credential_gone'
      WHEN NOT EXISTS (SELECT 1 FROM credential WHERE version = $5) THEN 'credential_changed'
      WHEN NOT EXISTS (SELECT 1 FROM lineage)
        OR EXISTS (SELECT 1 FROM lineage WHERE revoked_at IS NOT NULL OR expires_at <= $6) THEN 'capability_gone'
      WHEN EXISTS (SELECT 1 FROM lineage WHERE uses >= max_uses) THEN 'capability_used_up'${isBudgeted ? BUDGET_REFUSAL : ''}
    END AS refusal
  ), paid AS (
    UPDATE accounts SET balance = balance - $7
    WHERE id = $2 AND balance >= $7 AND (SELECT refusal FROM judged) IS NULL
    RETURNING balance
  ), used AS (
    UPDATE capabilities SET uses = uses + 1
    WHERE id = ANY (ARRAY(SELECT id FROM lineage)) AND (SELECT count(*) FROM paid) > 0
  )${isBudgeted ? BUDGET_COUNTED : ''}, attempt AS (
    INSERT INTO attempts (${ATTEMPT_COLUMNS}${keyColumns})
    SELECT $1, 'fetch', $2, $3, NULL, $4, $5, $15, $8, $9, $10, $11, $12, $16::bigint, NULL, NULL, NULL, NULL, NULL, $13, $7${keyValues}
    FROM paid
  ), entries AS (${entries({ kind: 'egress', account: '$2', cost: '$7', transaction: '$14', now: '$6' })}
  )
  SELECT ${STATUS}${isBudgeted ? `${BUDGET_COLUMNS} FROM judged${BUDGET_JOIN}` : ''}`,
)

type ReservedFetch = Reserved<Exclude<ReserveResult, { ok: true }>['reason']> & Partial<BudgetColumns>

/** The command `reserveAttempt` as one statement, and a second one for the balance when that does not suffice. */
export const reserveAttempt = (input: Reservation): Command<ReserveResult> => underKey(reserve, input)

function* reserve(input: Reservation): Command<Exclude<ReserveResult, Repeated> | KeyTaken> {
  const { id, accountId, capabilityId, credentialId, credentialVersion } = input.attempt
  const row = yield* first<ReservedFetch>(
    textOf(input),
    id,
    accountId,
    capabilityId,
    credentialId,
    credentialVersion,
    ...detailsOf(input),
    ...budgetValuesOf(input),
    ...keyValuesOf(input),
  )
  if (row?.refusal === null) return { ok: true, balance: row.balance }
  const reason = row?.refusal ?? 'credits'
  if (reason === 'budget') return { ok: false, reason, budget: toBudget(row as BudgetColumns) }
  if (reason !== 'credits') return { ok: false, reason }
  return { ok: false, reason, balance: yield* balanceOf(accountId) }
}

/** The values from `now` on, in the order of every reservation. */
export const detailsOf = ({ attempt: a, ...input }: Reservation): SqlValue[] => [
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

const DONE = `UPDATE attempts SET state = $1, outcome = $2, upstream_status = $3, response_digest = $4,
      receipt_id = $5, finished_at = $6
    WHERE id = $7 AND boot_id = $8 AND kind = $9 AND state = 'sending' ${BRIEFLY} RETURNING account_id`
const KEPT = 'INSERT INTO receipts (id, account_id, jws, created_at) SELECT $5, $10, $11, $12 FROM done'
const BEHIND = 'FROM accounts WHERE id = (SELECT account_id FROM done)'
// The steps of `keepAnswer` (commands/kept-answers.ts), for the attempt that was ended.
const COUNTED = `INSERT INTO kept_bytes (account_id, bytes) SELECT account_id, length($13::bytea) FROM done
    ON CONFLICT (account_id) DO UPDATE SET bytes = kept_bytes.bytes + excluded.bytes
      WHERE kept_bytes.bytes + excluded.bytes <= $14 RETURNING account_id`
const ANSWERED = `INSERT INTO kept_answers (attempt_id, account_id, sealed) SELECT $7, account_id, $13::bytea FROM counted_bytes`
/** A statement without an answer to keep and one with it, whose parameters are the last two. */
const perAnswer = (ctes: string) => ({
  without: `WITH ${ctes} SELECT balance, NULL AS kept ${BEHIND}`,
  with: `WITH ${ctes}, counted_bytes AS (${COUNTED}), answered AS (${ANSWERED})
    SELECT balance, (SELECT count(*) FROM counted_bytes) AS kept ${BEHIND}`,
})
const FINISH = perAnswer(`done AS (${DONE}), kept AS (${KEPT})`)
/** Executions alone are counted: the other kinds do not pay for it. */
const finishAction = (count: 'settled' | 'ambiguous') =>
  perAnswer(`done AS (${DONE}), kept AS (${KEPT}), counted AS (
    UPDATE action_counts SET ${count} = ${count} + 1 WHERE account_id = (SELECT account_id FROM done)
  )`)
const FINISH_ACTION = { settled: finishAction('settled'), ambiguous: finishAction('ambiguous') }

/** The command `finishAttempt` as one statement. */
export function* finishAttempt(input: FinishAttempt): Command<FinishResult> {
  const { receipt, answer } = input
  const row = yield* first<{ balance: number; kept: number | null }>(
    (input.kind === 'action' ? FINISH_ACTION[input.state] : FINISH)[answer ? 'with' : 'without'],
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
    ...(answer ? [answer, MAX_KEPT_BYTES] : []),
  )
  if (!row) return { ok: false, balance: yield* balanceBehind(input.id) }
  return { ok: true, balance: row.balance, ...(row.kept === 0 && { isAnswerKept: false }) }
}
