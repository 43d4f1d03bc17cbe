// The commands of every fetch and of every executed permit, for the engine that has one writer: what one SELECT saw stays
// true until COMMIT, so that nothing is locked and no later statement checks it again. The unit suite holds them to the
// same commands step by step.
import { type Command, first, insertInto, type Statement, statement } from '../command.ts'
import type { Reservation } from '../commands/attempts.ts'
import { attemptAmounts, countOnBudgets, judgeBudgets } from '../commands/budgets.ts'
import { addCounts } from '../commands/counts.ts'
import { KEY_TAKEN, type KeyTaken, underKey } from '../commands/idempotency.ts'
import { type Commands, commands } from '../commands/index.ts'
import type { ActionResult } from '../ports/actions.ts'
import type { ReserveResult } from '../ports/attempts.ts'
import type { Budget } from '../ports/budgets.ts'
import type { Repeated } from '../ports/idempotency.ts'
import {
  countAttempts,
  ledger,
  listAttempts,
  searchAttempts,
  searchLedger,
  sumLedger,
} from './write-behind.ts'

// An aggregate: one row in any case, with no balance where there is no such account. The reasons in the order of the port.
const LOOK = `SELECT a.balance, a.rowid AS account, count(k.id) AS depth, min(k.rowid) AS capability,
    CASE
      WHEN c.id IS NULL OR c.revoked_at IS NOT NULL THEN 'credential_gone'
      WHEN c.version IS NOT $1 THEN 'credential_changed'
      WHEN count(k.id) = 0 OR max(k.revoked_at IS NOT NULL OR k.expires_at <= $2) THEN 'capability_gone'
      WHEN max(k.uses >= k.max_uses) THEN 'capability_used_up'
    END AS refusal
  FROM accounts a
    LEFT JOIN credentials c ON c.id = $3 AND c.account_id = a.id
    LEFT JOIN capability_lineage l ON l.capability_id = $4
    LEFT JOIN capabilities k ON k.id = l.ancestor_id
  WHERE a.id = $5`
// A row's number saves looking its id up again.
const PAY = 'UPDATE accounts SET balance = balance - $1 WHERE rowid = $2'
const COUNT_USE = 'UPDATE capabilities SET uses = uses + 1 WHERE rowid = $1'
const COUNT_USES = `UPDATE capabilities SET uses = uses + 1
  WHERE id IN (SELECT ancestor_id FROM capability_lineage WHERE capability_id = $1)`
/** Columns that are NULL at first are not written. */
const NEW_ATTEMPT = [
  'id',
  'kind',
  'accountId',
  'capabilityId',
  'permitId',
  'credentialId',
  'credentialVersion',
  'state',
  'method',
  'host',
  'requestDigest',
  'idempotencyKey',
  'createdAt',
  'sendingAt',
  'bootId',
  'cost',
]
const INSERT_ATTEMPT = insertInto('attempts', NEW_ATTEMPT)
/** Nothing where the key is taken: the attempt is the first thing that is written, so that nothing has to be undone then. */
const INSERT_KEYED = `${insertInto('attempts', [...NEW_ATTEMPT, 'keyHash', 'maxBytes'])}
  ON CONFLICT (key_hash) WHERE key_hash IS NOT NULL DO NOTHING RETURNING id`
// OR FAIL keeps no journal to undo the first row when the second one is refused: a command that fails is rolled back
// whole, with its group or to its savepoint (worker.ts). Not for commands that run without one (`isSingle`).
const insertEntries = (kind: 'egress' | 'action') =>
  `INSERT OR FAIL INTO ledger_arrivals (transaction_id, account, amount, kind, reference, created_at)
  VALUES ($1, $2, $3, '${kind}', $4, $5), ($6, 'system:usage', $7, '${kind}', $8, $9)`
const INSERT_EGRESS = insertEntries('egress')
const INSERT_ACTION = insertEntries('action')

interface Look {
  readonly refusal: 'credential_gone' | 'credential_changed' | 'capability_gone' | 'capability_used_up' | null
  readonly balance: number
  readonly depth: number
  readonly account: number
  /** Row number of the only capability there is, where the depth is 1. */
  readonly capability: number
}

const reserveAttempt = (input: Reservation): Command<ReserveResult> => underKey(reserveFetch, input)

function* reserveFetch(input: Reservation): Command<Exclude<ReserveResult, Repeated> | KeyTaken> {
  const { attempt: a, cost, now } = input
  const look = yield* first<Look>(LOOK, a.credentialVersion, now, a.credentialId, a.capabilityId, a.accountId)
  if (!look) throw new Error('an aggregate answers with one row in any case')
  const { refusal, balance, depth, account, capability } = look
  if (refusal !== null) return { ok: false, reason: refusal }
  const budget = yield* judge(input)
  if (budget) return { ok: false, reason: 'budget', budget }
  if (balance < cost) return { ok: false, reason: 'credits', balance }

  if (!(yield* insertAttempt(input))) return KEY_TAKEN
  yield statement(PAY, cost, account)
  if (input.isBudgeted) yield* countOnBudgets(a, attemptAmounts(cost), now)
  yield depth === 1 ? statement(COUNT_USE, capability) : statement(COUNT_USES, a.capabilityId)
  if (cost > 0) yield recordCost(INSERT_EGRESS, input)
  return { ok: true, balance: balance - cost }
}

/** Where nobody has a budget nobody is asked: the statements of most attempts stay as few as they are. */
function* judge({ isBudgeted, attempt, cost, now }: Reservation): Command<Budget | undefined> {
  return isBudgeted ? yield* judgeBudgets(attempt, attemptAmounts(cost), now) : undefined
}

/** @returns false, and nothing is written, where its key is taken */
function* insertAttempt({ attempt: a, bootId, cost, once }: Reservation): Command<boolean> {
  const values = [
    a.id,
    a.kind,
    a.accountId,
    a.capabilityId ?? '',
    a.permitId,
    a.credentialId,
    a.credentialVersion,
    a.state,
    a.method,
    a.host,
    a.requestDigest,
    a.idempotencyKey,
    a.createdAt,
    a.sendingAt,
    bootId,
    cost,
  ]
  if (once) return (yield* first(INSERT_KEYED, ...values, once.keyHash, once.maxBytes)) !== undefined
  yield statement(INSERT_ATTEMPT, ...values)
  return true
}

/** Both halves of what an attempt costs: 1 or more. */
function recordCost(text: string, { attempt, transactionId, cost, now }: Reservation): Statement {
  const { id, accountId } = attempt
  return statement(text, transactionId, accountId, -cost, id, now, transactionId, cost, id, now)
}

// The permit is judged before what it stands on.
const LOOK_AT_PERMIT = `SELECT a.balance, a.rowid AS account, p.rowid AS permit,
    CASE
      WHEN p.state <> 'ready' OR p.expires_at <= $1 THEN 'permit'
      WHEN m.id IS NULL OR m.revoked_at IS NOT NULL THEN 'mandate_gone'
      WHEN c.id IS NULL OR c.revoked_at IS NOT NULL OR p.credential_id <> c.id THEN 'credential_gone'
      WHEN c.version IS NOT $2 OR c.version <> p.credential_version THEN 'credential_changed'
    END AS refusal
  FROM permits p
    JOIN accounts a ON a.id = p.account_id
    LEFT JOIN mandates m ON m.id = p.mandate_id
    LEFT JOIN credentials c ON c.id = $3 AND c.account_id = p.account_id
  WHERE p.id = $4 AND p.account_id = $5`
const USE_PERMIT = `UPDATE permits SET state = 'executed', attempt_id = $1, summary = NULL WHERE rowid = $2`

interface LookAtPermit {
  readonly refusal: 'permit' | 'mandate_gone' | 'credential_gone' | 'credential_changed' | null
  readonly balance: number
  readonly account: number
  readonly permit: number
}

const reserveAction = (input: Reservation): Command<ActionResult> => underKey(reserveExecution, input)

function* reserveExecution(input: Reservation): Command<Exclude<ActionResult, Repeated> | KeyTaken> {
  const { attempt: a, cost, now } = input
  const { permitId, accountId, credentialId, credentialVersion } = a
  const look = yield* first<LookAtPermit>(
    LOOK_AT_PERMIT,
    now,
    credentialVersion,
    credentialId,
    permitId,
    accountId,
  )
  if (!look) return { ok: false, reason: 'permit', permit: undefined }
  const { refusal, balance, account, permit } = look
  if (refusal === 'permit')
    return {
      ok: false,
      reason: refusal,
      permit: permitId === null ? undefined : yield* commands.getPermit(permitId),
    }
  if (refusal !== null) return { ok: false, reason: refusal }
  const budget = yield* judge(input)
  if (budget) return { ok: false, reason: 'budget', budget }
  if (balance < cost) return { ok: false, reason: 'credits', balance }

  if (!(yield* insertAttempt(input))) return KEY_TAKEN
  yield statement(PAY, cost, account)
  if (input.isBudgeted) yield* countOnBudgets(a, attemptAmounts(cost), now)
  yield statement(USE_PERMIT, a.id, permit)
  if (cost > 0) yield recordCost(INSERT_ACTION, input)
  yield* addCounts(accountId, { executions: 1, creditsCharged: cost })
  return { ok: true, balance: balance - cost }
}

/** Every command, as the store's thread runs it. */
export const sqliteCommands: Commands = {
  ...commands,
  countAttempts,
  ledger,
  listAttempts,
  searchAttempts,
  searchLedger,
  sumLedger,
  reserveAttempt,
  reserveAction,
}
