// Credits that a priced call takes from its account, and gives back when nothing happened.
import { GatewayError } from '../../core/errors.ts'
import { all, type Command, first } from '../command.ts'
import type { Store } from '../ports.ts'
import { recordMovement } from './accounts.ts'

type Input<K extends keyof Store> = Store[K] extends (input: infer I) => unknown ? I : never
type Charged = { ok: boolean; balance: number }

/** Of two commands for the same transaction the second waits here, and then reads what the first one did. */
const LOCK_ACCOUNT = 'SELECT balance FROM accounts WHERE id = $1 FOR UPDATE'
/** A second refund of a debit would be a second entry under this name, which the table's key refuses. */
const refundOf = (transactionId: string) => `${transactionId}_refund`
const FIND_ENTRY = 'SELECT 1 FROM ledger_entries WHERE account = $1 AND transaction_id = $2'
const ADD_TO_BALANCE = 'UPDATE accounts SET balance = balance + $1 WHERE id = $2'

export function* debitCredits(input: Input<'debitCredits'>): Command<Charged> {
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
}

const FIND_DEBIT = `SELECT account AS "accountId", amount, reference FROM ledger_entries
  WHERE transaction_id = $1 AND kind = 'call' AND amount < 0`
export function* refundCredits({ transactionId, now }: Input<'refundCredits'>): Command<Charged> {
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
}
