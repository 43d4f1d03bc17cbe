// The market's ledger: signed entries that sum to zero in each transaction, and the balance of each account beside them. What moves
// money calls `post` in its own transaction; nobody writes an entry in another way.
import { newId } from '../../lib/ids.ts'
import { all, columns, type Command, command, first, type SqlValue } from '../command.ts'
import type { Millis } from '../model.ts'
import type {
  LedgerProof,
  MarketAccount,
  MarketBalance,
  MarketEntry,
  MarketEntryKind,
  StatementEntry,
} from '../ports/market-money.ts'

export interface Posting {
  readonly network: string
  readonly kind: MarketEntryKind
  readonly reference: string
  readonly now: Millis
  /** Each account once. */
  readonly amounts: Readonly<Partial<Record<MarketAccount, number>>>
}

const ADD = `INSERT INTO market_balances (account, network, balance, entries, touched_at) VALUES ($1, $2, $3, 1, $4)
  ON CONFLICT (account, network) DO UPDATE SET balance = market_balances.balance + excluded.balance,
    entries = market_balances.entries + 1,
    touched_at = CASE WHEN market_balances.touched_at > excluded.touched_at THEN market_balances.touched_at
      ELSE excluded.touched_at END
  RETURNING balance, entries AS seq, touched_at AS at`
const ENTRY = [
  'account',
  'network',
  'at',
  'seq',
  'transactionId',
  'amount',
  'balance',
  'kind',
  'reference',
] as const
const INSERT_INTO = `INSERT INTO market_entries (account, network, at, seq, transaction_id, amount, balance, kind, reference) VALUES`

/** Rows are locked in this order. Those that every sale changes come last, and are held the shortest. */
const RANKS = ['seller', 'retained', 'transit', 'fees', 'cash']
const rankOf = (account: string) => RANKS.indexOf(account.replace(/:.*/, ''))

/**
 * Writes one transaction. Amounts of nothing are left out, but for the one of a seller: each of its sales is a line.
 * @throws {Error} when they do not sum to zero
 */
export function* post({ network, kind, reference, now, amounts }: Posting): Command<void> {
  const lines = Object.entries(amounts)
    .map(([account, amount = 0]) => [account, amount] as const)
    .filter(([account, amount]) => amount !== 0 || account.startsWith('seller:'))
    .toSorted(([one], [other]) => rankOf(one) - rankOf(other) || (one < other ? -1 : 1))
  const sum = lines.reduce((total, [, amount]) => total + amount, 0)
  if (sum !== 0) throw new Error(`the entries of ${kind} ${reference} sum to ${sum}`)
  if (lines.length === 0) return
  const transactionId = newId('mtx', now)
  const values: SqlValue[] = []
  for (const [account, amount] of lines) {
    const after = yield* first<{ balance: number; seq: number; at: Millis }>(
      ADD,
      account,
      network,
      amount,
      now,
    )
    if (!after) throw new Error('an upsert answers with its row')
    values.push(account, network, after.at, after.seq, transactionId, amount, after.balance, kind, reference)
  }
  const rows = lines.map(
    (_, line) => `(${ENTRY.map((_, i) => `$${line * ENTRY.length + i + 1}`).join(', ')})`,
  )
  yield* all(`${INSERT_INTO} ${rows.join(', ')}`, ...values)
}

/** What an account holds; held for the caller's transaction, so that nobody takes it meanwhile. */
export function* holdBalance(account: MarketAccount, network: string): Command<number> {
  const row = yield* first<{ balance: number }>(
    'SELECT balance FROM market_balances WHERE account = $1 AND network = $2 FOR UPDATE',
    account,
    network,
  )
  return row?.balance ?? 0
}

const BALANCE_BEFORE = `SELECT balance FROM market_entries WHERE account = $1 AND network = $2 AND at < $3
  ORDER BY at DESC, seq DESC LIMIT 1`
/** What an account held at a moment: the balance after its last line before. */
export const marketBalanceBefore = command({ kind: 'lookup' })(function* (input: {
  account: string
  network: string
  before: Millis
}): Command<number> {
  const row = yield* first<{ balance: number }>(BALANCE_BEFORE, input.account, input.network, input.before)
  return row?.balance ?? 0
})

const EARNED_SINCE = `SELECT CAST(COALESCE(sum(amount), 0) AS BIGINT) AS earned FROM market_entries
  WHERE account = $1 AND network = $2 AND at >= $3 AND kind IN ('sale', 'sale_restored')`
/**
 * For commands: what sales brought an account since then. What was taken back meanwhile is in it: the rest waits a little longer, where
 * the balance of that moment would pay new sales out for old ones that were paid since.
 */
export function* earnedSince(account: MarketAccount, network: string, since: Millis): Command<number> {
  const row = yield* first<{ earned: number }>(EARNED_SINCE, account, network, since)
  return row?.earned ?? 0
}

const BALANCES = `SELECT ${columns(['account', 'network', 'balance', 'entries'])} FROM market_balances`
/** What accounts hold on every network, of those whose names begin so, in order of name; `after` goes on behind an account. */
export const listMarketBalances = command({ kind: 'read' })(function* (input: {
  prefix: string
  after?: { account: string; network: string } | undefined
  limit: number
}): Command<readonly MarketBalance[]> {
  const { prefix, after, limit } = input
  const rows = yield* all<MarketBalance>(
    `${BALANCES} WHERE account >= $1 AND account < $2 AND (account, network) > ($3, $4) ORDER BY account, network LIMIT $5`,
    prefix,
    `${prefix}\u{10FFFF}`,
    after?.account ?? '',
    after?.network ?? '',
    limit,
  )
  return rows.map((row) => ({ ...row }))
})

/** What one account holds, by network. */
export const marketBalancesOf = command({ kind: 'read' })(function* (
  account: string,
): Command<readonly MarketBalance[]> {
  const rows = yield* all<MarketBalance>(`${BALANCES} WHERE account = $1 ORDER BY network`, account)
  return rows.map((row) => ({ ...row }))
})

type Sums = LedgerProof['sums']
const KIND = `CASE WHEN account IN ('cash', 'fees') THEN account WHEN account < 'seller' THEN 'retained'
  WHEN account < 'transit' THEN 'seller' ELSE 'transit' END`
/** One statement, so that no transaction is seen in part. */
const SUMS = `SELECT ${KIND} AS kind, CAST(sum(balance) AS BIGINT) AS sum FROM market_balances WHERE network = $1 GROUP BY ${KIND}`
/** Sums of a network by kind of account; every balance is read, as a proof of the ledger has to. */
export const sumMarketBalances = command({ kind: 'read' })(function* (network: string): Command<Sums> {
  const rows = yield* all<{ kind: keyof Sums; sum: number }>(SUMS, network)
  const sums = { cash: 0, fees: 0, seller: 0, retained: 0, transit: 0 }
  for (const { kind, sum } of rows) sums[kind] = sum
  return sums
})

const STATEMENT = `SELECT ${ENTRY.map((name) => `e.${name === 'transactionId' ? 'transaction_id AS "transactionId"' : name}`).join(', ')},
    s.claim_id AS "claimId", s.service_id AS "serviceId", s.route AS route,
    CASE WHEN r.id IS NOT NULL THEN m.fee + m.proceeds WHEN p.id IS NOT NULL THEN p.amount ELSE COALESCE(s.amount, 0) END AS gross,
    CASE WHEN r.id IS NOT NULL THEN m.fee WHEN p.id IS NOT NULL THEN 0 ELSE COALESCE(s.fee, 0) END AS fee,
    COALESCE(c.state, r.state, p.state, '') AS state, COALESCE(c.tx, r.tx, p.tx) AS "transaction",
    COALESCE(c.receipt_id, r.receipt_id, p.receipt_id) AS "receiptId"
  FROM market_entries e
    LEFT JOIN payment_claims c ON c.id = e.reference
    LEFT JOIN refunds r ON r.id = e.reference
    LEFT JOIN market_refunds m ON m.refund_id = e.reference
    LEFT JOIN market_payouts p ON p.id = e.reference
    LEFT JOIN market_sales s ON s.claim_id = COALESCE(c.id, r.claim_id)
  WHERE e.account = $1 AND e.network = $2 AND e.at >= $3 AND e.at < $4 AND (e.at, e.seq) > ($5, $6)
  ORDER BY e.at, e.seq LIMIT $7`
/** Lines of an account between two moments, oldest first, behind `after`. Costs as much as it answers. */
export const listMarketEntries = command({ kind: 'read' })(function* (input: {
  account: string
  network: string
  since: Millis
  until: Millis
  after?: Pick<MarketEntry, 'at' | 'seq'> | undefined
  limit: number
}): Command<readonly StatementEntry[]> {
  const { account, network, since, until, after, limit } = input
  const rows = yield* all<StatementEntry>(
    STATEMENT,
    account,
    network,
    since,
    until,
    after?.at ?? -1,
    after?.seq ?? -1,
    limit,
  )
  return rows.map((row) => ({ ...row }))
})

const UNDER_WAY = `SELECT CAST(COALESCE(sum(amount), 0) AS BIGINT) AS sum FROM (
    SELECT amount FROM market_payouts WHERE state IN ('recorded', 'submitted') AND network = $1
    UNION ALL SELECT m.fee + m.proceeds FROM refunds r JOIN market_refunds m ON m.refund_id = r.id
    WHERE r.state IN ('recorded', 'submitted') AND r.network = $2) AS open`
const UNBALANCED = `SELECT CAST(count(*) AS INTEGER) AS count FROM market_balances b WHERE network = $1
  AND (b.balance <> (SELECT e.balance FROM market_entries e WHERE e.account = b.account AND e.network = b.network
      ORDER BY e.at DESC, e.seq DESC LIMIT 1)
    OR b.entries <> (SELECT e.seq FROM market_entries e WHERE e.account = b.account AND e.network = b.network
      ORDER BY e.at DESC, e.seq DESC LIMIT 1))`
/** What must be true of the ledger of a network. Reads every balance. */
export const proveMarketLedger = command({ kind: 'read' })(function* (network: string): Command<LedgerProof> {
  const sums = yield* sumMarketBalances(network)
  const open = yield* first<{ sum: number }>(UNDER_WAY, network, network)
  const wrong = yield* first<{ count: number }>(UNBALANCED, network)
  return { sums, underWay: open?.sum ?? 0, unbalanced: wrong?.count ?? 0 }
})
