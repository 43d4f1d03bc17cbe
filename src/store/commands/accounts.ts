// Accounts, their keys, and the double-entry ledger of credits.
import { GatewayError } from '../../core/errors.ts'
import { all, columns, type Command, command, first, insertInto, Undo } from '../command.ts'
import { MAX_BALANCE } from '../migrations.ts'
import { selectPage } from '../page.ts'
import type { Millis, Page, PageRequest } from '../model.ts'
import type { Account, ServiceKey, LedgerEntry } from '../ports/accounts.ts'

const keyFields = ['id', 'accountId', 'label', 'admin', 'role', 'createdAt', 'revokedAt']
const KEY = columns(keyFields)
type KeyRow = Omit<ServiceKey, 'admin'> & { admin: number }
const toKey = (row: KeyRow): ServiceKey => ({ ...row, admin: row.admin === 1 })

const INSERT_KEY = insertInto('service_keys', [...keyFields, 'keyHash', 'madeBy'])
/** @param by id of whoever made it, where that is known: the person behind that is the person behind the key */
export function* insertKey(key: ServiceKey, keyHash: Buffer, by?: string): Command<void> {
  const { id, accountId, label, admin, role, createdAt, revokedAt } = key
  const madeBy = by === undefined ? undefined : yield* findPersonBehind(by)
  yield* all(INSERT_KEY, id, accountId, label, admin ? 1 : 0, role, createdAt, revokedAt, keyHash, madeBy)
}

const FIND_BEHIND = `SELECT COALESCE(
    (SELECT id FROM people WHERE id = $1),
    (SELECT person_id FROM connections WHERE id = $1),
    (SELECT made_by FROM service_keys WHERE id = $1)
  ) AS "personId"`
/** The person who acts with this: themselves, who connected the assistant, or who made the key, or the key that made it. */
export const findPersonBehind = command({ kind: 'lookup' })(function* (
  id: string,
): Command<string | undefined> {
  return (yield* first<{ personId: string | null }>(FIND_BEHIND, id))?.personId ?? undefined
})

interface NewAccount {
  readonly account: Account
  readonly key: ServiceKey
  readonly keyHash: Buffer
  readonly grant: { readonly transactionId: string; readonly amount: number; readonly reference: string }
  readonly by?: string | undefined
}

/** Creates the account with its first key and its one-time free credits. Fails on a duplicate key hash. */
export const createAccount = command({ kind: 'transaction', touches: 'access' })(function* (
  input: NewAccount,
): Command<void> {
  const { account, key, keyHash, grant: free, by } = input
  yield* all(insertInto('accounts', ['id', 'name', 'createdAt']), account.id, account.name, account.createdAt)
  yield* insertKey(key, keyHash, by)
  if (free.amount > 0) yield* grant({ ...free, accountId: account.id, now: account.createdAt })
})

/** The same where there is no key yet, not even a revoked one. False when there is: one of many replicas that start at once creates it. */
export const createFirstAccount = command({
  kind: 'transaction',
  touches: 'access',
  excludesWritersOf: 'service_keys',
})(function* (input: NewAccount): Command<boolean> {
  if (yield* first('SELECT id FROM service_keys LIMIT 1')) return false
  yield* createAccount(input)
  return true
})

/** A further key of an existing account brings no credits. False when there is no such account. */
export const addKey = command({ kind: 'transaction', touches: 'access' })(function* (input: {
  key: ServiceKey
  keyHash: Buffer
  by?: string | undefined
}): Command<boolean> {
  const { key, keyHash, by } = input
  if (!(yield* getAccount(key.accountId))) return false
  yield* insertKey(key, keyHash, by)
  return true
})

const FIND_KEY = `SELECT ${KEY} FROM service_keys WHERE key_hash = $1 AND revoked_at IS NULL`
/** Revoked keys are not found. */
export const findKey = command({ kind: 'lookup', cached: true })(function* (
  keyHash: Buffer,
): Command<ServiceKey | undefined> {
  const row = yield* first<KeyRow>(FIND_KEY, keyHash)
  return row && toKey(row)
})

/** Newest first, revoked ones too; of every account where `accountId` is undefined. */
export const listKeys = command({ kind: 'read', namesAccount: true })(function* (
  accountId: string | undefined,
  page: PageRequest,
): Command<Page<ServiceKey>> {
  return yield* selectPage<KeyRow, ServiceKey>(
    { columns: KEY, from: 'service_keys', id: 'id' },
    [['account_id = $', accountId]],
    page,
    toKey,
    (key) => key.id,
  )
})

/** Idempotent; undefined when the account has no such key. `accountId` undefined: any account (admin). */
export const revokeKey = command({ kind: 'statement', touches: 'access' })(function* (input: {
  id: string
  accountId: string | undefined
  now: Millis
}): Command<ServiceKey | undefined> {
  const row = yield* first<KeyRow>(
    `UPDATE service_keys SET revoked_at = COALESCE(revoked_at, $1)
     WHERE id = $2 ${input.accountId === undefined ? '' : 'AND account_id = $3'} RETURNING ${KEY}`,
    input.now,
    input.id,
    ...(input.accountId === undefined ? [] : [input.accountId]),
  )
  return row && toKey(row)
})

/** Undefined when there is no such account. */
export const getAccount = command({ kind: 'lookup' })(function* (id: string): Command<Account | undefined> {
  const row = yield* first<Account>(
    `SELECT ${columns(['id', 'name', 'createdAt'])} FROM accounts WHERE id = $1`,
    id,
  )
  return row && { ...row }
})

/** Undefined when there is no such account. */
export const balance = command({ kind: 'lookup', namesAccount: true })(function* (
  accountId: string,
): Command<number | undefined> {
  const row = yield* first<{ balance: number }>('SELECT balance FROM accounts WHERE id = $1', accountId)
  return row?.balance
})

/** Balance of an account that must exist; for answers that carry it. */
export function* balanceOf(accountId: string): Command<number> {
  return (yield* balance(accountId)) ?? 0
}

export const ENTRY = columns(['transactionId', 'account', 'amount', 'kind', 'reference', 'createdAt'])
/** Movements of one account, newest first; of `system:<purpose>` too, the other side. */
export const ledger = command({ kind: 'read', namesAccount: true })(function (
  accountId: string,
  page: PageRequest,
): Command<Page<LedgerEntry>> {
  return ledgerFrom('ledger_entries', accountId, page)
})

/**
 * The statement of `ledger`.
 * @param from the table, or what an engine reads in its place
 */
export function* ledgerFrom(from: string, accountId: string, page: PageRequest): Command<Page<LedgerEntry>> {
  return yield* selectPage<LedgerEntry, LedgerEntry>(
    { columns: ENTRY, from, id: 'transaction_id' },
    [['account = $', accountId]],
    page,
    (row) => ({ ...row }),
    (entry) => entry.transactionId,
  )
}

export interface Movement {
  readonly transactionId: string
  readonly accountId: string
  /** System account that the other half goes to. */
  readonly against: 'usage' | 'purchase'
  /** Signed, from the account's side. */
  readonly amount: number
  readonly kind: LedgerEntry['kind']
  readonly reference: string
  readonly now: Millis
}

const INSERT_ENTRIES = `INSERT INTO ledger_entries (transaction_id, account, amount, kind, reference, created_at)
  VALUES ($1, $2, CAST($3 AS BIGINT), $4, $5, $6), ($1, $7, -CAST($3 AS BIGINT), $4, $5, $6)`
/** Both halves of a movement. The balance is the caller's to change in the same transaction. */
export function* recordMovement(m: Movement): Command<void> {
  const other = `system:${m.against}`
  yield* all(INSERT_ENTRIES, m.transactionId, m.accountId, m.amount, m.kind, m.reference, m.now, other)
}

type GrantResult = { balance: number; repeated: boolean }
/** Idempotent by (account, reference): granting the same reference again changes nothing and says so. */
export const grant = command({ kind: 'transaction', touches: 'records' })(function* (input: {
  accountId: string
  amount: number
  reference: string
  transactionId: string
  now: Millis
}): Command<GrantResult | undefined> {
  const { accountId, amount, reference, transactionId, now } = input
  if (!Number.isSafeInteger(amount) || amount <= 0)
    throw new GatewayError('input_invalid', 'Grant a whole number of credits, at least 1.')
  const paid = yield* first<{ balance: number }>(
    `UPDATE accounts SET balance = balance + $1
     WHERE id = $2 AND balance <= $3 AND NOT EXISTS (
       SELECT 1 FROM ledger_entries WHERE account = $2 AND reference = $4 AND kind = 'grant' AND amount > 0
     ) RETURNING balance`,
    amount,
    accountId,
    MAX_BALANCE - amount,
    reference,
  )
  if (paid) {
    const entry = yield* first<{ reference: string }>(
      `INSERT INTO ledger_entries (transaction_id, account, amount, kind, reference, created_at)
       VALUES ($1, $2, $3, 'grant', $4, $5) ON CONFLICT DO NOTHING RETURNING reference`,
      transactionId,
      accountId,
      amount,
      reference,
      now,
    )
    // The same grant got in between the check and the row: give the balance back to the answer of a repetition.
    if (!entry) throw new Undo<GrantResult>({ balance: paid.balance - amount, repeated: true })
    yield* all(
      `INSERT INTO ledger_entries (transaction_id, account, amount, kind, reference, created_at)
       VALUES ($1, 'system:grants', $2, 'grant', $3, $4)`,
      transactionId,
      -amount,
      reference,
      now,
    )
    return { balance: paid.balance, repeated: false }
  }
  const held = yield* first<{ balance: number; known: number }>(
    `SELECT balance, (SELECT count(*) FROM ledger_entries
       WHERE account = $1 AND reference = $2 AND kind = 'grant' AND amount > 0) AS known
     FROM accounts WHERE id = $1`,
    accountId,
    reference,
  )
  if (!held) return undefined
  if (held.known > 0) return { balance: held.balance, repeated: true }
  throw new GatewayError('state_conflict', 'The balance would exceed what the gateway counts. Grant less.')
})
