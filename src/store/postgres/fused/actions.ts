// The debits of permit executions and of edge calls as one statement each, as attempts.ts has it for capabilities.
import { type Command, first } from '../../command.ts'
import { balanceOf } from '../../commands/accounts.ts'
import type { Reservation } from '../../commands/attempts.ts'
import { type KeyTaken, underKey } from '../../commands/idempotency.ts'
import { PERMIT } from '../../commands/permits.ts'
import type { ActionResult, Permit } from '../../ports/actions.ts'
import type { Repeated } from '../../ports/idempotency.ts'
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
import { ATTEMPT_COLUMNS, detailsOf, entries, type Reserved, STATUS } from './attempts.ts'
import { BRIEFLY } from '../patience.ts'
import { keyValuesOf, reservationTexts } from './keys.ts'

// Locks in the order of every command: credential, mandate, permit, account, counts; each step asks for the one before it,
// whatever that finds. When many execute one permit, those that waited for its row find it executed.
const textOf = reservationTexts(
  ({ isBudgeted, repeated, keyColumns, keyValues }) => `WITH credential AS (
    SELECT version, revoked_at FROM credentials WHERE id = $4 AND account_id = $2 ${BRIEFLY} FOR SHARE
  ), mandate AS (
    SELECT revoked_at FROM mandates
    WHERE id = (SELECT mandate_id FROM permits WHERE id = $3) AND (SELECT count(*) FROM credential) >= 0
    FOR SHARE
  ), permit AS (
    SELECT ${PERMIT} FROM permits
    WHERE id = $3 AND account_id = $2 AND (SELECT count(*) FROM mandate) >= 0
    FOR UPDATE
  )${isBudgeted ? budgetSteps('ARRAY(SELECT $4::text FROM permit)') : ''}, judged AS (
    SELECT CASE${repeated}
      WHEN NOT EXISTS (SELECT 1 FROM permit WHERE state = 'ready' AND "expiresAt" > $6) THEN 'permit'
      WHEN NOT EXISTS (SELECT 1 FROM mandate WHERE revoked_at IS NULL) THEN 'mandate_gone'
      WHEN NOT EXISTS (SELECT 1 FROM credential, permit WHERE revoked_at IS NULL AND "credentialId" = $4)
        THEN 'credential_gone'
      WHEN NOT EXISTS (SELECT 1 FROM credential, permit WHERE version = $5 AND "credentialVersion" = version)
        THEN 'credential_changed'${isBudgeted ? BUDGET_REFUSAL : ''}
    END AS refusal
  ), paid AS (
    UPDATE accounts SET balance = balance - $7
    WHERE id = $2 AND balance >= $7 AND (SELECT refusal FROM judged) IS NULL
    RETURNING balance
  ), used AS (
    UPDATE permits SET state = 'executed', attempt_id = $1, summary = NULL
    WHERE id = $3 AND (SELECT count(*) FROM paid) > 0
  )${isBudgeted ? BUDGET_COUNTED : ''}, attempt AS (
    INSERT INTO attempts (${ATTEMPT_COLUMNS}${keyColumns})
    SELECT $1, 'action', $2, '', $3, $4, $5, $15, $8, $9, $10, $11, $12, $16::bigint, NULL, NULL, NULL, NULL, NULL, $13, $7${keyValues}
    FROM paid
  ), entries AS (${entries({ kind: 'action', account: '$2', cost: '$7', transaction: '$14', now: '$6' })}
  ), counted AS (
    INSERT INTO action_counts (account_id, executions, credits_charged) SELECT $2, 1, $7 FROM paid
    ON CONFLICT (account_id) DO UPDATE SET executions = action_counts.executions + 1,
      credits_charged = action_counts.credits_charged + excluded.credits_charged
  )
  SELECT ${STATUS}, permit.*${isBudgeted ? BUDGET_COLUMNS : ''}
  FROM judged LEFT JOIN permit ON TRUE${isBudgeted ? BUDGET_JOIN : ''}`,
)

type ActionRow = Reserved<Exclude<ActionResult, { ok: true }>['reason']> &
  (Permit | { readonly id: null }) &
  Partial<BudgetColumns>

/** The command `reserveAction` as one statement, and a second one for the balance when that does not suffice. */
export const reserveAction = (input: Reservation): Command<ActionResult> => underKey(reserve, input)

function* reserve(input: Reservation): Command<Exclude<ActionResult, Repeated> | KeyTaken> {
  const { id, accountId, permitId, credentialId, credentialVersion } = input.attempt
  const row = yield* first<ActionRow>(
    textOf(input),
    id,
    accountId,
    permitId,
    credentialId,
    credentialVersion,
    ...detailsOf(input),
    ...budgetValuesOf(input),
    ...keyValuesOf(input),
  )
  if (!row) throw new Error('a reservation answers with one row in any case')
  const {
    refusal,
    balance,
    holder: _h,
    unit: _u,
    period: _p,
    maxUsed: _m,
    used: _n,
    startedAt: _s,
    ...permit
  } = row
  switch (refusal) {
    case null:
      return { ok: true, balance }
    case 'permit':
      return { ok: false, reason: refusal, permit: permit.id === null ? undefined : permit }
    case 'budget':
      return { ok: false, reason: refusal, budget: toBudget(row as BudgetColumns) }
    case 'credits':
      return { ok: false, reason: refusal, balance: yield* balanceOf(accountId) }
    default:
      return { ok: false, reason: refusal }
  }
}

const RESERVE_EDGE = `WITH paid AS (
    UPDATE accounts SET balance = balance - $4 WHERE id = $2 AND balance >= $4 ${BRIEFLY} RETURNING balance
  ), attempt AS (
    INSERT INTO attempts (${ATTEMPT_COLUMNS})
    SELECT $1, 'edge', $2, '', NULL, '', 0, $12, $5, $6, $7, $8, $9, $13::bigint, NULL, NULL, NULL, NULL, NULL, $10, $4
    FROM paid
  ), entries AS (${entries({ kind: 'edge', account: '$2', cost: '$4', transaction: '$11', now: '$3' })}
  )
  SELECT balance FROM paid`

/** The command `reserveEdgeCall` as one statement. */
export function* reserveEdgeCall(
  input: Reservation,
): Command<{ ok: true; balance: number } | { ok: false; reason: 'credits'; balance: number }> {
  const { id, accountId } = input.attempt
  const row = yield* first<{ balance: number }>(RESERVE_EDGE, id, accountId, ...detailsOf(input))
  return row
    ? { ok: true, balance: row.balance }
    : { ok: false, reason: 'credits', balance: yield* balanceOf(accountId) }
}
