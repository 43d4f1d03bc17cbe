// Hosts that accounts asked to serve, and what an edge call costs the merchant.
import { all, type Command, first } from '../command.ts'
import type { Input, Store } from '../ports.ts'
import { balanceOf, recordMovement } from './accounts.ts'
import { insertAttempt, pay } from './attempts.ts'

export function* saveEdgeHost({ token, host, accountId, now }: Input<'saveEdgeHost'>): Command<void> {
  yield* all(
    `INSERT INTO edge_hosts (token, host, account_id, created_at) VALUES ($1, $2, $3, $4)
     ON CONFLICT (token) DO NOTHING`,
    token,
    host,
    accountId,
    now,
  )
}

const FIND = 'SELECT host, account_id AS "accountId" FROM edge_hosts WHERE token = $1'
type EdgeHost = NonNullable<Awaited<ReturnType<Store['findEdgeHost']>>>
export function* findEdgeHost(token: string): Command<EdgeHost | undefined> {
  const row = yield* first<EdgeHost>(FIND, token)
  return row && { ...row }
}

type Reserved = Awaited<ReturnType<Store['reserveEdgeCall']>>
export function* reserveEdgeCall(input: Input<'reserveEdgeCall'>): Command<Reserved> {
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
}
