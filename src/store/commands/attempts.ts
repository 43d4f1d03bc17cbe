// One attempt is one row: reserved -> sending -> settled | ambiguous | refunded. Every step compares state and boot
// id before it sets, so that a process that was given up for dead can finish nothing.
import { newId } from '../../lib/ids.ts'
import { all, columns, type Command, command, first, insertInto, perEngine } from '../command.ts'
import { selectPage } from '../page.ts'
import { balanceOf } from './accounts.ts'
import { attemptAmounts, returnBudgets } from './budgets.ts'
import { addCounts } from './counts.ts'
import { keepAnswer } from './kept-answers.ts'
import { returnShares } from './mandates.ts'
import { returnCredits } from './returned-credits.ts'
import { returnUses } from './uses.ts'
import type { Attempt, AttemptKind, AttemptState, Millis, Page, PageRequest } from '../model.ts'
import type { FinishAttempt, FinishResult, ReserveResult, StoredReceipt } from '../ports/attempts.ts'
import type { KeyClaim } from '../ports/idempotency.ts'

export const attemptFields = [
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
  'finishedAt',
  'upstreamStatus',
  'responseDigest',
  'outcome',
  'receiptId',
] as const
export const ATTEMPT = columns(attemptFields)
/** The columns of what an attempt may do without are not null: `''`, and version 0. */
export const toAttempt = (row: Attempt): Attempt => ({
  ...row,
  capabilityId: row.capabilityId || null,
  credentialId: row.credentialId || null,
  credentialVersion: row.credentialVersion || null,
})

const FIND_CREDENTIAL = `SELECT version, revoked_at AS "revokedAt" FROM credentials
  WHERE id = $1 AND account_id = $2 FOR SHARE`
const PAY = 'UPDATE accounts SET balance = balance - $1 WHERE id = $2 AND balance >= $1 RETURNING balance'
const INSERT_ATTEMPT = insertInto('attempts', [...attemptFields, 'bootId', 'cost'])

/** An attempt, and what it takes to begin it. */
export interface Reservation {
  attempt: Attempt
  bootId: string
  transactionId: string
  cost: number
  /**
   * Whether the capability or the credential that were read for it have a budget: where neither has, none is asked. A
   * capability's changes with the terms of its connection alone, and a credential's not without its version.
   */
  isBudgeted: boolean
  now: Millis
  /** The caller's key, where it gave one: of its attempts one at most is made. */
  once?: KeyClaim | undefined
}

type HeldCredential = { version: number; revokedAt: Millis | null }
/** Locked until the transaction ends: neither replaced nor revoked meanwhile. */
export function* findCredential(id: string | null, accountId: string): Command<HeldCredential | undefined> {
  return yield* first<HeldCredential>(FIND_CREDENTIAL, id, accountId)
}

/** @returns undefined, and nothing is taken, when the account has less than `cost` */
export function* pay(accountId: string, cost: number): Command<{ balance: number } | undefined> {
  return yield* first<{ balance: number }>(PAY, cost, accountId)
}

/**
 * Transaction A. In one transaction: the capability (and its ancestors) is unrevoked, unexpired and has uses left;
 * the credential is unrevoked and still at `credentialVersion`; the account pays `cost`; uses + 1 along the
 * capability's ancestors; every budget of them and of the credential has room, and counts; the attempt appears as it is given,
 * `reserved` or (A and B at once, where nothing has to be asked in between) `sending`. Nothing changes when any of it does not
 * hold, and nothing of it is asked where the key of `once` is taken: that is said first, so that a repeat of the last use is no
 * use too many.
 */
export const reserveAttempt = perEngine<[input: Reservation], ReserveResult>({
  kind: 'transaction',
  touches: 'records',
  startsWork: true,
})

/** Writes the row as it is given, unfinished. */
export function* insertAttempt(a: Attempt, bootId: string, cost: number): Command<void> {
  yield* all(
    INSERT_ATTEMPT,
    a.id,
    a.kind,
    a.accountId,
    a.capabilityId ?? '',
    a.permitId,
    a.credentialId ?? '',
    a.credentialVersion ?? 0,
    a.state,
    a.method,
    a.host,
    a.requestDigest,
    a.idempotencyKey,
    a.createdAt,
    a.sendingAt,
    null,
    null,
    null,
    null,
    null,
    bootId,
    cost,
  )
}

const MARK_SENDING = `UPDATE attempts SET state = 'sending', sending_at = $1
  WHERE id = $2 AND boot_id = $3 AND state = 'reserved' RETURNING id`
/** Transaction B: `reserved -> sending`. False when recovery (or anyone) got there first: then do not send. */
export const markSending = command({ kind: 'statement', touches: 'records' })(function* (input: {
  id: string
  bootId: string
  now: Millis
}): Command<boolean> {
  const { id, bootId, now } = input
  return (yield* first(MARK_SENDING, now, id, bootId)) !== undefined
})

const INSERT_RECEIPT = insertInto('receipts', ['id', 'accountId', 'jws', 'createdAt'])
/** @throws the engine's unique violation when the receipt exists already */
export function* insertReceipt(receipt: StoredReceipt): Command<void> {
  yield* all(INSERT_RECEIPT, receipt.id, receipt.accountId, receipt.jws, receipt.createdAt)
}

type Ended = { ok: boolean; balance: number }
const FINISH = `UPDATE attempts SET state = $1, outcome = $2, upstream_status = $3, response_digest = $4,
    receipt_id = $5, finished_at = $6
  WHERE id = $7 AND boot_id = $8 AND kind = $9 AND state = 'sending'
  RETURNING account_id AS "accountId", (SELECT balance FROM accounts WHERE accounts.id = account_id) AS balance`
/**
 * Transaction C: `sending -> settled | ambiguous` with the receipt. False when it is no longer ours to finish.
 * The end of an `action` is counted too; so is its refund, which also gives the mandate its share back.
 */
export const finishAttempt = command({ kind: 'transaction', touches: 'records' })(function* (
  input: FinishAttempt,
): Command<FinishResult> {
  const { id, kind, bootId, state, outcome, upstreamStatus, responseDigest, receipt, now } = input
  const done = yield* first<{ accountId: string; balance: number }>(
    FINISH,
    state,
    outcome,
    upstreamStatus,
    responseDigest,
    receipt.id,
    now,
    id,
    bootId,
    kind,
  )
  if (!done) return { ok: false, balance: yield* balanceBehind(id) }
  yield* insertReceipt(receipt)
  const { accountId, balance } = done
  const kept = input.answer === undefined || (yield* keepAnswer(id, accountId, input.answer))
  if (kind === 'action') yield* addCounts(accountId, { [state]: 1 })
  return { ok: true, balance, ...(!kept && { isAnswerKept: false }) }
})

/** Balance of the account behind the attempt; 0 when there is no such attempt. */
export function* balanceBehind(attemptId: string): Command<number> {
  const row = yield* first<{ balance: number }>(
    'SELECT balance FROM accounts WHERE id = (SELECT account_id FROM attempts WHERE id = $1)',
    attemptId,
  )
  return row?.balance ?? 0
}

/** As much of an attempt as its refund needs. */
export interface Refundable {
  id: string
  accountId: string
  capabilityId: string | null
  credentialId: string | null
  createdAt: Millis
  kind: AttemptKind
  permitId: string | null
  cost: number
}
/** Gives the credit of an attempt back to its account. */
export function* giveBack(
  { id, accountId, cost }: Refundable,
  transactionId: string,
  now: Millis,
): Command<number> {
  if (cost === 0) return yield* balanceOf(accountId)
  return yield* returnCredits({ transactionId, accountId, amount: cost, reference: id, now })
}

/** `reserved | sending -> refunded`, use and credit returned, once. Only for attempts of which no request byte left. */
export const refundAttempt = command({ kind: 'transaction', touches: 'records' })(function* (input: {
  id: string
  bootId: string
  outcome: string
  transactionId: string
  now: Millis
}): Command<Ended> {
  const { id, bootId, outcome, transactionId, now } = input
  const row = yield* first<Refundable>(
    `UPDATE attempts SET state = 'refunded', outcome = $1, finished_at = $2
     WHERE id = $3 AND boot_id = $4 AND state IN ('reserved', 'sending')
     RETURNING id, account_id AS "accountId", kind, permit_id AS "permitId", cost,
       capability_id AS "capabilityId", credential_id AS "credentialId", created_at AS "createdAt"`,
    outcome,
    now,
    id,
    bootId,
  )
  if (!row) return { ok: false, balance: yield* balanceBehind(id) }
  yield* returnUses([row.capabilityId])
  if (row.permitId !== null) yield* returnShares([row.permitId])
  if (row.credentialId) yield* returnBudgets(row, attemptAmounts(row.cost), row.createdAt)
  const balance = yield* giveBack(row, transactionId, now)
  if (row.kind === 'action') yield* addCounts(row.accountId, { refunded: 1, creditsRefunded: row.cost })
  return { ok: true, balance }
})

/** An attempt of another account is not found. */
export const getAttempt = command({ kind: 'lookup' })(function* (
  id: string,
  accountId: string,
): Command<Attempt | undefined> {
  const row = yield* first<Attempt>(
    `SELECT ${ATTEMPT} FROM attempts WHERE id = $1 AND account_id = $2`,
    id,
    accountId,
  )
  return row && toAttempt(row)
})

export interface AttemptFilter {
  readonly accountId: string
  readonly capabilityId?: string | undefined
  /** Of it and of all that was cut from it: the root of a connection. */
  readonly rootId?: string | undefined
  readonly state?: AttemptState | undefined
}
/** Newest first; of one capability, and in one state, where the filter names them. */
export const listAttempts = command({ kind: 'read' })(function (
  filter: AttemptFilter,
  page: PageRequest,
): Command<Page<Attempt>> {
  return listAttemptsFrom('attempts', filter, page)
})

/** An index that holds one state alone is recognised by its word: a value could be any. */
export const IN_STATE: Readonly<Record<AttemptState, string>> = {
  reserved: `state = 'reserved' AND state = $`,
  sending: `state = 'sending' AND state = $`,
  settled: `state = 'settled' AND state = $`,
  ambiguous: `state = 'ambiguous' AND state = $`,
  refunded: `state = 'refunded' AND state = $`,
}

/** @param from the table, or what an engine reads in its place */
export function* listAttemptsFrom(
  from: string,
  filter: AttemptFilter,
  page: PageRequest,
): Command<Page<Attempt>> {
  const { accountId, capabilityId, rootId, state } = filter
  return yield* selectPage<Attempt, Attempt>(
    { columns: ATTEMPT, from, id: 'id' },
    [
      ['account_id = $', accountId],
      ['capability_id = $', capabilityId],
      ['capability_id IN (SELECT capability_id FROM capability_lineage WHERE ancestor_id = $)', rootId],
      ...(state === undefined ? [] : [[IN_STATE[state], state] as const]),
    ],
    page,
    toAttempt,
    (attempt) => attempt.id,
  )
}

/** Word for word what the index of unfinished attempts holds: SQLite recognises it by that alone. */
export const UNFINISHED = `state IN ('reserved', 'sending')`

/** What `recover…` is asked: `bootId` is whoever asks. With an `id`, that row alone, where others keep all at once from being settled. */
export interface RecoverInput {
  bootId: string
  now: Millis
  id?: string | undefined
}

/** Rows that a process start has not ended, in the order of their ids, behind `after`. */
export interface UnfinishedInput {
  bootId: string
  after: string
  limit: number
}

/** Ids of the unfinished attempts of a process start. */
export const listUnfinishedAttempts = command({ kind: 'read' })(function* (
  input: UnfinishedInput,
): Command<readonly { id: string }[]> {
  const rows = yield* all<{ id: string }>(
    `SELECT id FROM attempts WHERE boot_id = $1 AND ${UNFINISHED} AND id > $2 ORDER BY id LIMIT $3`,
    input.bootId,
    input.after,
    input.limit,
  )
  return rows.map((row) => ({ ...row }))
})

type Recovered = { refunded: readonly Attempt[]; ambiguous: readonly Attempt[] }
type Left = Attempt & { cost: number }
/**
 * Settles what the given process starts left behind: nothing of `reserved` was sent; of `sending` nobody knows.
 * @param id that one alone
 */
export function* recoverAttemptsOf(
  owners: readonly string[],
  { now, id }: Omit<RecoverInput, 'bootId'>,
): Command<Recovered> {
  const refunded: Left[] = []
  const ambiguous: Left[] = []
  const [alone, ids] = id === undefined ? ['', []] : ['AND id = $3', [id]]
  for (const bootId of owners) {
    const unsent = yield* all<Left>(
      `UPDATE attempts SET state = 'refunded', outcome = 'crashed', finished_at = $1
       WHERE boot_id = $2 AND state = 'reserved' AND ${UNFINISHED} ${alone} RETURNING ${ATTEMPT}, cost`,
      now,
      bootId,
      ...ids,
    )
    const unknown = yield* all<Left>(
      `UPDATE attempts SET state = 'ambiguous', outcome = 'crashed', finished_at = $1
       WHERE boot_id = $2 AND state = 'sending' AND ${UNFINISHED} ${alone} RETURNING ${ATTEMPT}, cost`,
      now,
      bootId,
      ...ids,
    )
    refunded.push(...unsent)
    ambiguous.push(...unknown)
  }
  // Kind by kind in the order of locks, since these are many transactions' worth: capabilities, mandates, accounts, counts.
  yield* returnUses(refunded.map(({ capabilityId }) => capabilityId))
  yield* returnShares(refunded.flatMap(({ permitId }) => permitId ?? []))
  for (const left of refunded.toSorted(bySpender))
    if (left.credentialId) yield* returnBudgets(left, attemptAmounts(left.cost), left.createdAt)
  for (const left of inOrder(refunded)) yield* giveBack(left, newId('txn', now), now)
  for (const { state, accountId, kind, cost } of inOrder([...refunded, ...ambiguous]))
    if (kind === 'action')
      yield* addCounts(
        accountId,
        state === 'refunded' ? { refunded: 1, creditsRefunded: cost } : { ambiguous: 1 },
      )
  return { refunded: refunded.map(withoutCost), ambiguous: ambiguous.map(withoutCost) }
}
/** Budgets are locked credential by credential; two that recover at once take them in the same order. */
const bySpender = (a: Left, b: Left) => compare(spenderOf(a), spenderOf(b))
const spenderOf = ({ credentialId, capabilityId }: Left) => `${credentialId ?? ''} ${capabilityId ?? ''}`
const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
/** Accounts are locked in one order, whichever transaction needs several. */
export const inOrder = <T extends { readonly accountId: string }>(left: readonly T[]) =>
  left.toSorted((a, b) => (a.accountId < b.accountId ? -1 : a.accountId > b.accountId ? 1 : 0))
const withoutCost = ({ cost: _cost, ...attempt }: Left) => toAttempt(attempt)

/** Names the process starts with unfinished attempts, other than $1. */
export const UNFINISHED_ATTEMPT_OWNERS = `SELECT DISTINCT boot_id AS "bootId" FROM attempts
  WHERE ${UNFINISHED} AND boot_id <> $1`
/**
 * Settles what dead processes left behind: `reserved` is refunded, `sending` becomes `ambiguous` (still charged).
 * Attempts of live processes are not touched. Ambiguous ones come back so that a receipt can be signed and attached.
 */
export const recoverAttempts = command({ kind: 'transaction', touches: 'access' })(function* (
  input: RecoverInput,
): Command<Recovered> {
  const owners = yield* all<{ bootId: string }>(UNFINISHED_ATTEMPT_OWNERS, input.bootId)
  return yield* recoverAttemptsOf(
    // One engine has one owner at a time, so every other process start is dead; PostgreSQL asks the leases instead.
    owners.map((owner) => owner.bootId),
    input,
  )
})

/** Attaches the receipt once to an attempt that recovery made ambiguous. */
export const attachReceipt = command({ kind: 'transaction', touches: 'records' })(function* (input: {
  attemptId: string
  receipt: StoredReceipt
}): Command<boolean> {
  const { attemptId, receipt } = input
  const row = yield* first(
    `UPDATE attempts SET receipt_id = $1
     WHERE id = $2 AND receipt_id IS NULL AND state IN ('settled', 'ambiguous') RETURNING id`,
    receipt.id,
    attemptId,
  )
  if (!row) return false
  yield* insertReceipt(receipt)
  return true
})

/** Attempts that ended charged without a receipt: a crash between recovery and signing. */
export const listAttemptsWithoutReceipt = command({ kind: 'read' })(function* (
  limit: number,
): Command<readonly Attempt[]> {
  const rows = yield* all<Attempt>(
    `SELECT ${ATTEMPT} FROM attempts
     WHERE receipt_id IS NULL AND state IN ('settled', 'ambiguous') ORDER BY id LIMIT $1`,
    limit,
  )
  return rows.map(toAttempt)
})

/** Whether the caller may see it is the caller's business: its 128 random bits are the right to read it. */
export const getReceipt = command({ kind: 'lookup' })(function* (
  id: string,
): Command<StoredReceipt | undefined> {
  const row = yield* first<StoredReceipt>(
    `SELECT ${columns(['id', 'accountId', 'jws', 'createdAt'])} FROM receipts WHERE id = $1`,
    id,
  )
  return row && { ...row }
})
