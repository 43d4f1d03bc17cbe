// A batch is one run over the sellers of a network. There is one of each period, whoever begins it, and it is open until somebody
// has come to its end: a run that died is gone on with.
import { all, columns, type Command, command, first, insertInto } from '../command.ts'
import type { Millis } from '../model.ts'
import type { Owed, PayoutBatch, PayoutHold } from '../ports/market-money.ts'

const BATCH = ['id', 'network', 'period', 'minimum', 'createdAt', 'finishedAt'] as const
const SELECT = `SELECT ${columns(BATCH)} FROM market_payout_batches`
const INSERT = `${insertInto('market_payout_batches', BATCH)} ON CONFLICT DO NOTHING`

/** Begins the batch of a period, or names the one that there is. */
export const openPayoutBatch = command({ kind: 'transaction', touches: 'records', startsWork: true })(
  function* (batch: Omit<PayoutBatch, 'finishedAt'>): Command<PayoutBatch> {
    const { id, network, period, minimum, createdAt } = batch
    yield* all(INSERT, id, network, period, minimum, createdAt, null)
    const row = yield* first<PayoutBatch>(`${SELECT} WHERE network = $1 AND period = $2`, network, period)
    if (!row) throw new Error('the batch was just written')
    return { ...row }
  },
)

/** Batches that nobody has come to the end of, oldest first. */
export const listOpenPayoutBatches = command({ kind: 'read' })(function* (): Command<readonly PayoutBatch[]> {
  const rows = yield* all<PayoutBatch>(`${SELECT} WHERE finished_at IS NULL ORDER BY id LIMIT 100`)
  return rows.map((row) => ({ ...row }))
})

/** The newest batches, of whatever network. */
export const listPayoutBatches = command({ kind: 'read' })(function* (
  limit: number,
): Command<readonly PayoutBatch[]> {
  const rows = yield* all<PayoutBatch>(`${SELECT} ORDER BY id DESC LIMIT $1`, limit)
  return rows.map((row) => ({ ...row }))
})

/** Every seller was looked at. */
export const finishPayoutBatch = command({ kind: 'statement', touches: 'records' })(function* (
  id: string,
  now: Millis,
): Command<void> {
  yield* all(
    'UPDATE market_payout_batches SET finished_at = $1 WHERE id = $2 AND finished_at IS NULL',
    now,
    id,
  )
})

/** Sellers who are owed at least so much on a network, in order of their ids, behind `after`. */
export const listOwed = command({ kind: 'read' })(function* (input: {
  network: string
  minimum: number
  after?: string | undefined
  limit: number
}): Command<readonly Owed[]> {
  const rows = yield* all<{ account: string; owed: number }>(
    `SELECT account, balance AS owed FROM market_balances
     WHERE account > $1 AND account < 'seller;' AND network = $2 AND balance >= $3 ORDER BY account LIMIT $4`,
    `seller:${input.after ?? ''}`,
    input.network,
    input.minimum,
    input.limit,
  )
  return rows.map(({ account, owed }) => ({ sellerId: account.slice('seller:'.length), owed }))
})

const HOLDS = `SELECT ${columns(['sellerId', 'network', 'reason', 'since', 'lookedAt'])} FROM market_payout_holds`
/** What is kept as owed, and why; of one seller, or the first hundred of all behind `after`. */
export const listPayoutHolds = command({ kind: 'read' })(function* (input: {
  sellerId?: string | undefined
  after?: string | undefined
}): Command<readonly PayoutHold[]> {
  const { sellerId, after = '' } = input
  const rows =
    sellerId === undefined
      ? yield* all<PayoutHold>(`${HOLDS} WHERE seller_id > $1 ORDER BY seller_id, network LIMIT 100`, after)
      : yield* all<PayoutHold>(`${HOLDS} WHERE seller_id = $1 ORDER BY network`, sellerId)
  return rows.map((row) => ({ ...row }))
})

/**
 * Takes a piece of work for one process, or keeps it: false while another one holds it.
 * @param input.isAlone no other process can be alive: what a dead one left is taken over at once
 */
export const takeLeadership = command({ kind: 'statement', touches: 'records' })(function* (input: {
  name: string
  holder: string
  until: Millis
  isAlone: boolean
  now: Millis
}): Command<boolean> {
  const { name, holder, until, isAlone, now } = input
  const row = yield* first(
    `INSERT INTO leader_leases (name, holder, held_until) VALUES ($1, $2, $3)
     ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, held_until = excluded.held_until
     WHERE leader_leases.holder = excluded.holder OR leader_leases.held_until <= $4 OR $5 = 1 RETURNING name`,
    name,
    holder,
    until,
    now,
    isAlone ? 1 : 0,
  )
  return row !== undefined
})

/** The work is done: the next one need not wait. */
export const giveUpLeadership = command({ kind: 'statement', touches: 'records' })(function* (input: {
  name: string
  holder: string
}): Command<void> {
  yield* all('DELETE FROM leader_leases WHERE name = $1 AND holder = $2', input.name, input.holder)
})
