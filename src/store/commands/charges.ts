// Credits that a priced call takes from its account, and gives back when nothing happened.
import { GatewayError } from '../../core/errors.ts'
import { all, type Command, command, first } from '../command.ts'
import { recordMovement } from './accounts.ts'
import type { Millis } from '../model.ts'

type Charged = { ok: boolean; balance: number }

/** A second command for the same transaction waits here, and then reads what the first one did. */
const LOCK_ACCOUNT = 'SELECT balance FROM accounts WHERE id = $1 FOR UPDATE'
/** A second refund of a debit would be a second entry under this name, which the table's key refuses. */
const refundOf = (transactionId: string) => `${transactionId}_refund`
const FIND_ENTRY = 'SELECT 1 FROM ledger_entries WHERE account = $1 AND transaction_id = $2'
const ADD_TO_BALANCE = 'UPDATE accounts SET balance = balance + $1 WHERE id = $2'

/**
 * The account pays for a call that makes no attempt: one double-entry transaction of kind `call`. Idempotent by
 * `transactionId`. Not ok, and nothing is written, when the balance is less than `amount` or there is no such account;
 * not ok either when this very transaction was given back already.
 * @throws {GatewayError} input_invalid when `amount` is no whole number of credits, at least 1
 */
export const debitCredits = command({ kind: 'transaction', touches: 'records' })(function* (input: {
  accountId: string
  amount: number
  transactionId: string
  reference: string
  now: Millis
}): Command<Charged> {
  const { accountId, amount, transactionId, reference, now } = input
  if (!Number.isSafeInteger(amount) || amount <= 0)
    throw new GatewayError('input_invalid', 'Debit a whole number of credits, at least 1.')
  const account = yield* first<{ balance: number }>(LOCK_ACCOUNT, accountId)
  if (!account) return { ok: false, balance: 0 }
  const { balance } = account
  if (yield* first(FIND_ENTRY, accountId, transactionId))
    return { ok: !(yield* first(FIND_ENTRY, accountId, refundOf(transactionId))), balance }
  if (balance < amount) return { ok: false, balance }
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
  return { ok: true, balance: balance - amount }
})

const FIND_DEBIT = `SELECT account AS "accountId", amount, reference FROM ledger_entries
  WHERE transaction_id = $1 AND kind = 'call' AND amount < 0`
/**
 * Gives back what `debitCredits` took in this transaction, once (kind `refund`, the debit's reference). Not ok when it was
 * given back before, or nothing was debited: then `balance` is 0 where no debit names an account.
 */
export const refundCredits = command({ kind: 'transaction', touches: 'records' })(function* (input: {
  transactionId: string
  now: Millis
}): Command<Charged> {
  const { transactionId, now } = input
  const debit = yield* first<{ accountId: string; amount: number; reference: string }>(
    FIND_DEBIT,
    transactionId,
  )
  if (!debit) return { ok: false, balance: 0 }
  const { accountId, amount, reference } = debit
  const account = yield* first<{ balance: number }>(LOCK_ACCOUNT, accountId)
  const balance = account?.balance ?? 0
  const refundId = refundOf(transactionId)
  if (!account || (yield* first(FIND_ENTRY, accountId, refundId))) return { ok: false, balance }
  yield* all(ADD_TO_BALANCE, -amount, accountId)
  yield* recordMovement({
    transactionId: refundId,
    accountId,
    against: 'usage',
    amount: -amount,
    kind: 'refund',
    reference,
    now,
  })
  return { ok: true, balance: balance - amount }
})
