// The commands of every fetch and of every executed permit, for the engine that has one writer: what one SELECT saw stays
// true until COMMIT, so that nothing is locked and no later statement checks it again. What does not hold is left to
// commands/{attempts,actions}.ts, which tell why; the contract suite holds both to the same behaviour.
import { type Command, insertInto, type Statement, statement } from '../command.ts'
import { reserveAction } from '../commands/actions.ts'
import { finishAttempt, INSERT_RECEIPT, reserveAttempt } from '../commands/attempts.ts'
import { addCounts } from '../commands/counts.ts'
import { type Commands, commands } from '../commands/index.ts'
import { ledger, listAttempts } from './write-behind.ts'
import type { ActionResult, FinishAttempt, ReserveResult, Store } from '../ports.ts'
import type { Attempt } from '../model.ts'

type Reservation = Parameters<Store['reserveAttempt']>[0]
type Execution = Parameters<Store['reserveAction']>[0]

// An aggregate: one row in any case, with a depth of 0 where there is no such credential.
const LOOK = `SELECT a.balance, count(*) AS depth, a.rowid AS account, min(k.rowid) AS capability,
    min(k.revoked_at IS NULL AND k.expires_at > $1 AND (k.max_uses IS NULL OR k.uses < k.max_uses)) AS usable
  FROM credentials c
    JOIN accounts a ON a.id = c.account_id
    JOIN capability_lineage l ON l.capability_id = $2
    JOIN capabilities k ON k.id = l.ancestor_id
  WHERE c.id = $3 AND c.account_id = $4 AND c.version = $5 AND c.revoked_at IS NULL`
// By the number of the row, which saves looking its id up again.
const PAY = 'UPDATE accounts SET balance = balance - $1 WHERE rowid = $2'
const COUNT_USE = 'UPDATE capabilities SET uses = uses + 1 WHERE rowid = $1'
const COUNT_USES = `UPDATE capabilities SET uses = uses + 1
  WHERE id IN (SELECT ancestor_id FROM capability_lineage WHERE capability_id = $1)`
/** What is NULL at first is not written. */
const INSERT_ATTEMPT = insertInto('attempts', [
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
])
// OR FAIL keeps no journal to undo the first row when the second one is refused: a command that fails is rolled back
// whole, with its group or to its savepoint (worker.ts). Not for commands that run without one (`singleStatements`).
const insertEntries = (kind: 'egress' | 'action') =>
  `INSERT OR FAIL INTO ledger_arrivals (transaction_id, account, amount, kind, reference, created_at)
  VALUES ($1, $2, $3, '${kind}', $4, $5), ($6, 'system:usage', $7, '${kind}', $8, $9)`
const INSERT_EGRESS = insertEntries('egress')
const INSERT_ACTION = insertEntries('action')

interface Look {
  readonly balance: number
  readonly depth: number
  readonly usable: number
  readonly account: number
  /** Where the depth is 1, the one there is. */
  readonly capability: number
}

export function* reserveAtOnce(input: Reservation): Command<ReserveResult> {
  const { attempt: a, cost, now } = input
  const look = statement(LOOK, now, a.capabilityId, a.credentialId, a.accountId, a.credentialVersion)
  const [{ balance, depth, usable, account, capability }] = (yield look) as unknown as readonly [Look]
  if (depth === 0 || usable === 0 || balance < cost) return yield* reserveAttempt(input)

  yield statement(PAY, cost, account)
  yield depth === 1 ? statement(COUNT_USE, capability) : statement(COUNT_USES, a.capabilityId)
  yield insertAttempt(a, input.bootId, cost)
  if (cost > 0) yield recordCost(INSERT_EGRESS, input)
  return { ok: true, balance: balance - cost }
}

const insertAttempt = (a: Attempt, bootId: string, cost: number): Statement =>
  statement(
    INSERT_ATTEMPT,
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
  )

/** Both halves of what an attempt costs: 1 or more. */
function recordCost(text: string, { attempt, transactionId, cost, now }: Reservation): Statement {
  const { id, accountId } = attempt
  return statement(text, transactionId, accountId, -cost, id, now, transactionId, cost, id, now)
}

// No row where anything does not hold but the balance.
const LOOK_AT_PERMIT = `SELECT a.balance, a.rowid AS account, p.rowid AS permit
  FROM permits p
    JOIN mandates m ON m.id = p.mandate_id
    JOIN credentials c ON c.id = p.credential_id AND c.account_id = p.account_id AND c.version = p.credential_version
    JOIN accounts a ON a.id = p.account_id
  WHERE p.id = $1 AND p.account_id = $2 AND p.state = 'ready' AND p.expires_at > $3 AND p.credential_id = $4
    AND p.credential_version = $5 AND m.revoked_at IS NULL AND c.revoked_at IS NULL`
const USE_PERMIT = `UPDATE permits SET state = 'executed', attempt_id = $1, summary = NULL WHERE rowid = $2`

interface Ready {
  readonly balance: number
  readonly account: number
  readonly permit: number
}

export function* reserveActionAtOnce(input: Execution): Command<ActionResult> {
  const { attempt: a, cost, now } = input
  const { permitId, accountId, credentialId, credentialVersion } = a
  const look = statement(LOOK_AT_PERMIT, permitId, accountId, now, credentialId, credentialVersion)
  const [ready] = (yield look) as unknown as readonly [Ready?]
  if (ready === undefined || ready.balance < cost) return yield* reserveAction(input)

  yield statement(PAY, cost, ready.account)
  yield statement(USE_PERMIT, a.id, ready.permit)
  yield insertAttempt(a, input.bootId, cost)
  if (cost > 0) yield recordCost(INSERT_ACTION, input)
  yield* addCounts(accountId, { executions: 1, creditsCharged: cost })
  return { ok: true, balance: ready.balance - cost }
}

const HELD = `SELECT a.id AS "accountId", a.balance FROM attempts t JOIN accounts a ON a.id = t.account_id
  WHERE t.id = $1 AND t.boot_id = $2 AND t.kind = $3 AND t.state = 'sending'`
const END = `UPDATE attempts SET state = $1, outcome = $2, upstream_status = $3, response_digest = $4, receipt_id = $5,
    finished_at = $6
  WHERE id = $7`

interface Held {
  readonly accountId: string
  readonly balance: number
}

export function* finishAtOnce(input: FinishAttempt): Command<{ ok: boolean; balance: number }> {
  const { id, kind, state, receipt } = input
  const [held] = (yield statement(HELD, id, input.bootId, kind)) as unknown as readonly [Held?]
  if (held === undefined) return yield* finishAttempt(input)
  const { outcome, upstreamStatus, responseDigest, now } = input
  yield statement(END, state, outcome, upstreamStatus, responseDigest, receipt.id, now, id)
  yield statement(INSERT_RECEIPT, receipt.id, receipt.accountId, receipt.jws, receipt.createdAt)
  if (kind === 'action') yield* addCounts(held.accountId, { [state]: 1 })
  return { ok: true, balance: held.balance }
}

/** Every command, as the store's thread runs it. */
export const sqliteCommands: Commands = {
  ...commands,
  ledger,
  listAttempts,
  reserveAttempt: reserveAtOnce,
  reserveAction: reserveActionAtOnce,
  finishAttempt: finishAtOnce,
}
