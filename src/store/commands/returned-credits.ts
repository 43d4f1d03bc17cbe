// Credits that come back to the account that they were taken from. They come back whatever it holds by now: what refused them would keep
// everything from its turn that is given back in the same transaction.
import { type Command, first } from '../command.ts'
import { MAX_BALANCE } from '../migrations.ts'
import { balanceOf, type Movement, recordMovement } from './accounts.ts'
import { UNCLAIMED } from './bought-credits.ts'

const ADD = 'UPDATE accounts SET balance = balance + $1 WHERE id = $2 AND balance <= $3 RETURNING balance'
/** @returns undefined, and nothing is added, where there is no such account, or it would hold more than is counted */
export function* addCredits(accountId: string, amount: number): Command<{ balance: number } | undefined> {
  return yield* first<{ balance: number }>(ADD, amount, accountId, MAX_BALANCE - amount)
}

/**
 * One movement of kind `refund` against `system:usage`. Where the account is unknown, or would hold more than is counted, the credits
 * stand as `system:unclaimed` for the operator to hand out, as those of a purchase do.
 * @returns the balance of the account, with the credits where it could have them
 */
export function* returnCredits(
  back: Pick<Movement, 'transactionId' | 'accountId' | 'amount' | 'reference' | 'now'>,
): Command<number> {
  const { accountId, amount } = back
  const row = yield* addCredits(accountId, amount)
  yield* recordMovement({
    ...back,
    accountId: row ? accountId : UNCLAIMED,
    against: 'usage',
    kind: 'refund',
  })
  return row?.balance ?? (yield* balanceOf(accountId))
}
