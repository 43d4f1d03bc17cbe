// Credits that a priced call takes from its account. A debit is open until it ends, in one of two ways and once: settled with a
// receipt, or given back. Whoever takes its row out of `open_debits` ends it, so that no debit has both.
import { GatewayError } from '../../core/errors.ts'
import { all, type Command, command, first } from '../command.ts'
import { recordMovement } from './accounts.ts'
import { inOrder, insertReceipt, type RecoverInput, type UnfinishedInput } from './attempts.ts'
import { UNCLAIMED } from './bought-credits.ts'
import { type Amounts, countOnBudgets, judgeBudgets, returnBudgets } from './budgets.ts'
import { returnCredits } from './returned-credits.ts'
import type { Millis } from '../model.ts'
import type { StoredReceipt } from '../ports/attempts.ts'
import type { Budget } from '../ports/budgets.ts'

type Charged = { ok: boolean; balance: number }
type Debited = Charged & { budget?: Budget }

/**
 * A second command for the same transaction waits here, and then reads what the first one did. Whoever inserts a row that names the account
 * shares its key, and does not wait here: enough of them would keep this one waiting.
 */
const LOCK_ACCOUNT = 'SELECT balance FROM accounts WHERE id = $1 FOR NO KEY UPDATE'
/** A second refund of a debit would be a second entry under this name, which the table's key refuses. */
const refundOf = (transactionId: string) => `${transactionId}_refund`
const FIND_ENTRY = 'SELECT 1 FROM ledger_entries WHERE account = $1 AND transaction_id = $2'
const ADD_TO_BALANCE = 'UPDATE accounts SET balance = balance + $1 WHERE id = $2'
const OPEN = 'INSERT INTO open_debits (transaction_id, boot_id, capability_id) VALUES ($1, $2, $3)'
const FIND_SPENDER = `SELECT capability_id AS "capabilityId" FROM open_debits WHERE transaction_id = $1 FOR UPDATE`
const CLOSE = 'DELETE FROM open_debits WHERE transaction_id = $1 RETURNING transaction_id'

const creditsOnly = (credits: number): Amounts => ({ calls: 0, credits, usdc: 0 })

/**
 * The account pays for a call that makes no attempt: one double-entry transaction of kind `call`, open until `settleDebit` or
 * `refundCredits` ends it, or `recoverDebits` once the process of `bootId` is dead. Idempotent by `transactionId`. Not ok, and
 * nothing is written, when the balance is less than `amount` or there is no such account; not ok either when this very
 * transaction was given back already. What an agent has done counts on the budgets of its capability, which are locked before the account;
 * `budget` is the one that has no room for it.
 * @throws {GatewayError} input_invalid when `amount` is no whole number of credits, at least 1
 */
export const debitCredits = command({ kind: 'transaction', touches: 'records', startsWork: true })(
  function* (input: {
    accountId: string
    amount: number
    transactionId: string
    bootId: string
    reference: string
    /** The agent's; left out for callers without one. */
    capabilityId?: string | undefined
    now: Millis
  }): Command<Debited> {
    const { accountId, amount, transactionId, bootId, reference, capabilityId, now } = input
    if (!Number.isSafeInteger(amount) || amount <= 0)
      throw new GatewayError('input_invalid', 'Debit a whole number of credits, at least 1.')
    const spender = capabilityId === undefined ? undefined : { capabilityId, credentialId: null }
    const budget = spender && (yield* judgeBudgets(spender, creditsOnly(amount), now))
    const account = yield* first<{ balance: number }>(LOCK_ACCOUNT, accountId)
    if (!account) return { ok: false, balance: 0 }
    const { balance } = account
    if (yield* first(FIND_ENTRY, accountId, transactionId)) {
      const refund = refundOf(transactionId)
      const isReturned =
        (yield* first(FIND_ENTRY, accountId, refund)) ?? (yield* first(FIND_ENTRY, UNCLAIMED, refund))
      return { ok: !isReturned, balance }
    }
    if (budget) return { ok: false, balance, budget }
    if (balance < amount) return { ok: false, balance }
    if (spender) yield* countOnBudgets(spender, creditsOnly(amount), now)
    yield* all(ADD_TO_BALANCE, -amount, accountId)
    yield* recordMovement({
      transactionId,
      accountId,
      against: 'usage',
      amount: -amount,
      kind: 'call',
      reference,
      now,
    })
    yield* all(OPEN, transactionId, bootId, capabilityId ?? null)
    return { ok: true, balance: balance - amount }
  },
)

/**
 * Ends the debit with its receipt. False, and nothing is stored, when it was given back, or nothing was debited. Idempotent by
 * the receipt's id.
 */
export const settleDebit = command({ kind: 'transaction', touches: 'records' })(function* (input: {
  transactionId: string
  receipt: StoredReceipt
}): Command<boolean> {
  const { transactionId, receipt } = input
  if (!(yield* first(CLOSE, transactionId)))
    return (yield* first('SELECT 1 FROM receipts WHERE id = $1', receipt.id)) !== undefined
  yield* insertReceipt(receipt)
  return true
})

const FIND_DEBIT = `SELECT account AS "accountId", amount, reference, created_at AS "createdAt" FROM ledger_entries
  WHERE transaction_id = $1 AND kind = 'call' AND amount < 0`
/**
 * Gives back what `debitCredits` took in this transaction, once (kind `refund`, the debit's reference). Not ok when it has its
 * receipt or was given back before, or nothing was debited: then `balance` is 0 where no debit names an account.
 */
export const refundCredits = command({ kind: 'transaction', touches: 'records' })(function* (input: {
  transactionId: string
  now: Millis
}): Command<Charged> {
  const { transactionId, now } = input
  const debit = yield* first<{ accountId: string; amount: number; reference: string; createdAt: Millis }>(
    FIND_DEBIT,
    transactionId,
  )
  if (!debit) return { ok: false, balance: 0 }
  const { accountId, amount, reference, createdAt } = debit
  const open = yield* first<{ capabilityId: string | null }>(FIND_SPENDER, transactionId)
  if (open?.capabilityId)
    yield* returnBudgets({ ...open, credentialId: null }, creditsOnly(-amount), createdAt)
  const account = yield* first<{ balance: number }>(LOCK_ACCOUNT, accountId)
  const balance = account?.balance ?? 0
  if (!account || !(yield* first(CLOSE, transactionId))) return { ok: false, balance }
  const back = { accountId, amount: -amount, reference, now }
  return { ok: true, balance: yield* returnCredits({ ...back, transactionId: refundOf(transactionId) }) }
})

type Recovered = { refunded: number }
const FIND_OPEN = `SELECT o.transaction_id AS "transactionId", e.account AS "accountId"
  FROM open_debits o JOIN ledger_entries e ON e.transaction_id = o.transaction_id AND e.kind = 'call' AND e.amount < 0
  WHERE o.boot_id = $1`
/**
 * Gives back what the given process starts left open: nobody was answered for it.
 * @param id that transaction alone
 */
export function* recoverDebitsOf(
  owners: readonly string[],
  { now, id }: Omit<RecoverInput, 'bootId'>,
): Command<Recovered> {
  const open: { transactionId: string; accountId: string }[] = []
  const [alone, ids] = id === undefined ? ['', []] : ['AND o.transaction_id = $2', [id]]
  for (const bootId of owners)
    open.push(...(yield* all<(typeof open)[number]>(`${FIND_OPEN} ${alone}`, bootId, ...ids)))
  let refunded = 0
  for (const { transactionId } of inOrder(open))
    if ((yield* refundCredits({ transactionId, now })).ok) refunded++
  return { refunded }
}

/** Names the process starts with open debits, other than $1. */
export const OPEN_DEBIT_OWNERS = `SELECT DISTINCT boot_id AS "bootId" FROM open_debits WHERE boot_id <> $1`
/** Debits of dead processes that have neither receipt nor refund are given back. Living processes' are not touched. */
export const recoverDebits = command({ kind: 'transaction', touches: 'access' })(function* (
  input: RecoverInput,
): Command<Recovered> {
  const owners = yield* all<{ bootId: string }>(OPEN_DEBIT_OWNERS, input.bootId)
  return yield* recoverDebitsOf(
    // One engine has one owner at a time, so every other process start is dead; PostgreSQL asks the leases instead.
    owners.map((owner) => owner.bootId),
    input,
  )
})

/** Transactions of the open debits of a process start, as ids. */
export const listOpenDebits = command({ kind: 'read' })(function* (
  input: UnfinishedInput,
): Command<readonly { id: string }[]> {
  const rows = yield* all<{ id: string }>(
    `SELECT transaction_id AS id FROM open_debits WHERE boot_id = $1 AND transaction_id > $2
     ORDER BY transaction_id LIMIT $3`,
    input.bootId,
    input.after,
    input.limit,
  )
  return rows.map((row) => ({ ...row }))
})
