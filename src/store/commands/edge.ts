// Hosts that accounts asked to serve, and what an edge call costs the merchant.
import { all, type Command, command, first } from '../command.ts'
import { balanceOf, recordMovement } from './accounts.ts'
import { insertAttempt, pay, type Reservation } from './attempts.ts'
import type { Millis } from '../model.ts'

/** Notes that this account asked to serve the host, under the token that its consent record shall carry. Idempotent. */
export const saveEdgeHost = command({ kind: 'statement', touches: 'records' })(function* (input: {
  token: string
  host: string
  accountId: string
  now: Millis
}): Command<void> {
  const { token, host, accountId, now } = input
  yield* all(
    `INSERT INTO edge_hosts (token, host, account_id, created_at) VALUES ($1, $2, $3, $4)
     ON CONFLICT (token) DO NOTHING`,
    token,
    host,
    accountId,
    now,
  )
})

const FIND = 'SELECT host, account_id AS "accountId" FROM edge_hosts WHERE token = $1'
type EdgeHost = { host: string; accountId: string }
/** Undefined when nobody asked to serve a host under this token. */
export const findEdgeHost = command({ kind: 'lookup' })(function* (
  token: string,
): Command<EdgeHost | undefined> {
  const row = yield* first<EdgeHost>(FIND, token)
  return row && { ...row }
})

type Reserved = { ok: true; balance: number } | { ok: false; reason: 'credits'; balance: number }
/** Transaction A of an edge call: the account pays `cost` (kind `edge`) and the attempt appears as it is given. */
export const reserveEdgeCall = command({ kind: 'transaction', touches: 'records', startsWork: true })(
  function* (input: Reservation): Command<Reserved> {
    const { attempt, cost, now } = input
    const { accountId } = attempt
    const paid = yield* pay(accountId, cost)
    if (!paid) return { ok: false, reason: 'credits', balance: yield* balanceOf(accountId) }
    yield* insertAttempt(attempt, input.bootId, cost)
    if (cost > 0)
      yield* recordMovement({
        transactionId: input.transactionId,
        accountId,
        against: 'usage',
        amount: -cost,
        kind: 'edge',
        reference: attempt.id,
        now,
      })
    return { ok: true, balance: paid.balance }
  },
)
