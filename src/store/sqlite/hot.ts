// The two commands of every fetch, for the engine that has one writer: what one SELECT saw stays true until COMMIT, so that
// nothing is locked and no later statement checks it again. What does not hold is left to commands/attempts.ts, which tells
// why; the contract suite holds both to the same behaviour.
import { type Command, insertInto, type Statement, statement } from '../command.ts'
import { finishAttempt, INSERT_RECEIPT, reserveAttempt } from '../commands/attempts.ts'
import { addCounts } from '../commands/counts.ts'
import { type Commands, commands } from '../commands/index.ts'
import type { Attempt, FinishAttempt, ReserveResult, Store } from '../ports.ts'

type Reservation = Parameters<Store['reserveAttempt']>[0]

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
const INSERT_ENTRIES = `INSERT OR FAIL INTO ledger_entries (transaction_id, account, amount, kind, reference, created_at)
  VALUES ($1, $2, $3, 'egress', $4, $5), ($6, 'system:usage', $7, 'egress', $8, $9)`

interface Look {
  readonly balance: number
  readonly depth: number
  readonly usable: number
  readonly account: number
  /** Where the depth is 1, the one there is. */
  readonly capability: number
}

export function* reserveAtOnce(input: Reservation): Command<ReserveResult> {
  const { attempt: a, cost, transactionId, now } = input
  const look = statement(LOOK, now, a.capabilityId, a.credentialId, a.accountId, a.credentialVersion)
  const [{ balance, depth, usable, account, capability }] = (yield look) as unknown as readonly [Look]
  if (depth === 0 || usable === 0 || balance < cost || a.permitId !== null)
    return yield* reserveAttempt(input)

  yield statement(PAY, cost, account)
  yield depth === 1 ? statement(COUNT_USE, capability) : statement(COUNT_USES, a.capabilityId)
  yield insertFetch(a, input.bootId, cost)
  if (cost > 0)
    yield statement(
      INSERT_ENTRIES,
      transactionId,
      a.accountId,
      -cost,
      a.id,
      now,
      transactionId,
      cost,
      a.id,
      now,
    )
  return { ok: true, balance: balance - cost }
}

const insertFetch = (a: Attempt, bootId: string, cost: number): Statement =>
  statement(
    INSERT_ATTEMPT,
    a.id,
    a.kind,
    a.accountId,
    a.capabilityId,
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
  reserveAttempt: reserveAtOnce,
  finishAttempt: finishAtOnce,
}
