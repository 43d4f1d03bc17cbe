// Lists that people look through, newest first, narrowed by any of several facts. Attempts have no index for them, because every index
// of attempts is paid for by every call: the rows of an account are read in the order of time, at most so many at once, and whoever wants
// to look further goes on from where that ended. SQLite reads 100,000 attempts in 33 ms, 20,000 hold up nobody.
import { firstIdAt, type IdPrefix } from '../../lib/ids.ts'
import { all, columns, type Command, command, first, type SqlValue, where } from '../command.ts'
import { selectPage } from '../page.ts'
import type { Attempt, Millis } from '../model.ts'
import type { LedgerEntry } from '../ports/accounts.ts'
import type { ClaimBlock, ClaimState, PaymentClaim } from '../ports/payments.ts'
import type { StoredTask } from '../ports/records.ts'
import type {
  AttemptSearch,
  Between,
  ClaimSearch,
  DayOfClaims,
  DayOfLedger,
  LedgerSearch,
  RevenueGroup,
  SearchPage,
  SearchRequest,
} from '../ports/searches.ts'
import { ENTRY } from './accounts.ts'
import { ATTEMPT, IN_STATE, toAttempt } from './attempts.ts'
import { CLAIM, type ClaimRow, toClaim } from './claims.ts'
import { TASK } from './records.ts'

const LOOK_AT = 20_000

type Conditions = readonly (readonly [string, SqlValue | undefined])[]

interface Source<R, T> {
  readonly columns: string
  readonly from: string
  readonly id: string
  /** What an index finds, so that no row that does not fit is read. */
  readonly indexed: Conditions
  readonly filters: Conditions
  toItem(row: R): T
  idOf(item: T): string
}

/** @returns at most `limit` rows that fit, of the `lookAt` newest ones before the cursor */
function* search<R, T>(source: Source<R, T>, request: SearchRequest): Command<SearchPage<T>> {
  const { from, id, indexed, filters } = source
  const isNarrowed = filters.some(([, value]) => value !== undefined)
  const floor = isNarrowed ? yield* floorOf(source, request) : undefined
  const found = yield* selectPage(
    { columns: source.columns, from, id },
    [...indexed, ...filters, [`${id} >= $`, floor]],
    request,
    (row: R) => source.toItem(row),
    (item: T) => source.idOf(item),
  )
  return { items: found.items, next: found.next ?? floor ?? null }
}

/** The last row that is looked at; undefined where the list ends before. */
function* floorOf<R, T>(
  { from, id, indexed }: Source<R, T>,
  { before, lookAt = LOOK_AT }: SearchRequest,
): Command<string | undefined> {
  const { text, values } = where([...indexed, [`${id} < $`, before]])
  const row = yield* first<{ id: string }>(
    `SELECT ${id} AS id FROM ${from} WHERE ${text} ORDER BY ${id} DESC LIMIT 1 OFFSET $${values.length + 1}`,
    ...values,
    lookAt - 1,
  )
  return row?.id
}

/** Ids are in the order of time. */
const between = (id: string, prefix: IdPrefix, { since, until }: Between): Conditions => [
  [`${id} >= $`, since === undefined ? undefined : firstIdAt(prefix, since)],
  [`${id} < $`, until === undefined ? undefined : firstIdAt(prefix, until)],
]

/** Attempts of an account that fit, newest first. */
export const searchAttempts = command({ kind: 'read' })(function (
  filter: AttemptSearch,
  request: SearchRequest,
): Command<SearchPage<Attempt>> {
  return searchAttemptsFrom('attempts', filter, request)
})

/** @param from the table, or what an engine reads in its place */
export const searchAttemptsFrom = (
  from: string,
  filter: AttemptSearch,
  request: SearchRequest,
): Command<SearchPage<Attempt>> =>
  search<Attempt, Attempt>(
    {
      columns: ATTEMPT,
      from,
      id: 'id',
      indexed: [
        // A capability is of one account, so its own index finds fewer rows; nobody but SQLite has to be told.
        [
          filter.capabilityId === undefined || filter.state !== undefined
            ? 'account_id = $'
            : `account_id || '' = $`,
          filter.accountId,
        ],
        ['capability_id = $', filter.capabilityId],
        ...(filter.state === undefined ? [] : [[IN_STATE[filter.state], filter.state] as const]),
        ...between('id', 'att', filter),
      ],
      filters: [
        ['kind = $', filter.kind],
        ['host = $', filter.host],
        ['method = $', filter.method],
        ['credential_id = $', filter.credentialId],
        [
          'capability_id IN (SELECT l.capability_id FROM capability_lineage l WHERE l.ancestor_id = $)',
          filter.belowCapabilityId,
        ],
      ],
      toItem: toAttempt,
      idOf: (attempt) => attempt.id,
    },
    request,
  )

/** The assistant that a capability is of: it, or one that it was narrowed from, is the root of a connection of the account. */
export const findConnectionOfCapability = command({ kind: 'read' })(function* (
  capabilityId: string,
  accountId: string,
): Command<{ readonly id: string; readonly clientName: string } | undefined> {
  const row = yield* first<{ id: string; clientName: string }>(
    `SELECT c.id, c.client_name AS "clientName" FROM capability_lineage l JOIN connections c ON c.capability_id = l.ancestor_id
     WHERE l.capability_id = $1 AND c.account_id = $2`,
    capabilityId,
    accountId,
  )
  return row && { ...row }
})

/** Word for word what the index of claims that did not settle holds: SQLite recognises it by that alone. */
const UNSETTLED = `state IN ('pending', 'unknown', 'failed', 'canceled')`
const isUnsettled = (state: ClaimState | undefined) =>
  state !== undefined && ['pending', 'unknown', 'failed', 'canceled'].includes(state)

const isHex = (address: string | undefined) => address !== undefined && /^0x/i.test(address)

/** Decimal text of any length as a number: of two texts without leading zeros the longer one is more. */
const atLeast = (than: '<' | '>', amount: string | undefined): readonly [string, string | undefined] => {
  const digits = amount?.length ?? 0
  return [`(length(amount) ${than} ${digits} OR (length(amount) = ${digits} AND amount ${than}= $))`, amount]
}

/** Payments of the whole installation that fit, newest first. */
export const searchClaims = command({ kind: 'read' })(function (
  filter: ClaimSearch,
  request: SearchRequest,
): Command<SearchPage<PaymentClaim>> {
  return search<ClaimRow, PaymentClaim>(
    {
      columns: CLAIM,
      from: 'payment_claims',
      id: 'id',
      // What support looks for has an index: one payer's, and what did not end well. The rest is met often, or looked through.
      indexed: [
        ['payer = $', filter.payer],
        [`${UNSETTLED} AND state = $`, isUnsettled(filter.state) ? filter.state : undefined],
        ...between('id', 'clm', filter),
      ],
      filters: [
        ['state = $', isUnsettled(filter.state) ? undefined : filter.state],
        ['origin = $', filter.origin],
        ['network = $', filter.network],
        // Capitals are a checksum on EVM chains, and count on others.
        isHex(filter.payTo)
          ? ['lower(pay_to) = $', filter.payTo?.toLowerCase()]
          : ['pay_to = $', filter.payTo],
        ['tool = $', filter.tool],
        ['resource = $', filter.resource],
        atLeast('>', filter.minAmount),
        atLeast('<', filter.maxAmount),
      ],
      toItem: toClaim,
      idOf: (claim) => claim.id,
    },
    request,
  )
})

/** The block that a claim settled in, where a chain of ours showed it. */
export const getClaimBlock = command({ kind: 'lookup' })(function* (
  id: string,
): Command<ClaimBlock | undefined> {
  const row = yield* first<ClaimBlock>(
    `SELECT block_number AS number, block_hash AS hash FROM payment_claims WHERE id = $1 AND block_hash IS NOT NULL`,
    id,
  )
  return row && { ...row }
})

/** Movements of the credits of an account that fit, newest first. */
export const searchLedger = command({ kind: 'read' })(function (
  filter: LedgerSearch,
  request: SearchRequest,
): Command<SearchPage<LedgerEntry>> {
  return searchLedgerFrom('ledger_entries', filter, request)
})

/** @param from the table, or what an engine reads in its place */
export const searchLedgerFrom = (
  from: string,
  filter: LedgerSearch,
  request: SearchRequest,
): Command<SearchPage<LedgerEntry>> =>
  search<LedgerEntry, LedgerEntry>(
    {
      columns: ENTRY,
      from,
      id: 'transaction_id',
      indexed: [['account = $', filter.accountId], ...between('transaction_id', 'txn', filter)],
      filters: [['kind = $', filter.kind]],
      toItem: (row) => ({ ...row }),
      idOf: (entry) => entry.transactionId,
    },
    request,
  )

const DAY_MS = 86_400_000

/** What an account's credits were taken and added for between two moments, by day and kind. */
export const sumLedger = command({ kind: 'read' })(function (filter: {
  accountId: string
  since: Millis
  until: Millis
}): Command<readonly DayOfLedger[]> {
  return sumLedgerFrom('ledger_entries', filter)
})

/** @param from the table, or what an engine reads in its place */
export function* sumLedgerFrom(
  from: string,
  { accountId, since, until }: { accountId: string; since: Millis; until: Millis },
): Command<readonly DayOfLedger[]> {
  const rows = yield* all<DayOfLedger>(
    `SELECT CAST(created_at / ${DAY_MS} AS INTEGER) AS day, kind,
       CAST(sum(CASE WHEN amount > 0 THEN amount ELSE 0 END) AS BIGINT) AS added,
       CAST(sum(CASE WHEN amount < 0 THEN -amount ELSE 0 END) AS BIGINT) AS taken, CAST(count(*) AS INTEGER) AS count
     FROM ${from} WHERE account = $1 AND transaction_id >= $2 AND transaction_id < $3
     GROUP BY created_at / ${DAY_MS}, kind ORDER BY 1, 2`,
    accountId,
    firstIdAt('txn', since),
    firstIdAt('txn', until),
  )
  return rows.map((row) => ({ ...row }))
}

const GROUPS = `network, asset, tool, payer, amount`
const daysOf = (from: string) => `SELECT CAST(finished_at / ${DAY_MS} AS INTEGER) AS day, ${GROUPS},
    CAST(count(*) AS INTEGER) AS count
  FROM ${from} WHERE state = 'settled' AND finished_at >= $1 AND finished_at < $2`
const BY_DAY = `GROUP BY finished_at / ${DAY_MS}, ${GROUPS} ORDER BY 1`

/**
 * Payments to this gateway that settled between two moments. Decimal text is added up outside of SQL, so that those of the same price
 * are one row. What others' sellers were paid through /settle is not among them.
 */
export const sumClaims = command({ kind: 'read' })(function* (
  since: Millis,
  until: Millis,
): Command<readonly DayOfClaims[]> {
  const rows = yield* all<DayOfClaims>(
    `${daysOf('payment_claims')} AND origin = 'tool' ${BY_DAY}`,
    since,
    until,
  )
  return rows.map((row) => ({ ...row }))
})

/** Refunds that settled between two moments. */
export const sumRefunds = command({ kind: 'read' })(function* (
  since: Millis,
  until: Millis,
): Command<readonly DayOfClaims[]> {
  const rows = yield* all<DayOfClaims>(`${daysOf('refunds')} ${BY_DAY}`, since, until)
  return rows.map((row) => ({ ...row }))
})

const revenueOf = (from: string) => `SELECT network, asset, tool, amount, CAST(count(*) AS INTEGER) AS count
  FROM ${from} WHERE state = 'settled' AND finished_at >= $1 AND finished_at < $2`
const BY_PRICE = 'GROUP BY network, asset, tool, amount'

/** Payments to this gateway, and refunds, that settled between two moments: those of the same price for the same are one row. */
export const sumRevenue = command({ kind: 'read' })(function* (
  since: Millis,
  until: Millis,
): Command<{ readonly settled: readonly RevenueGroup[]; readonly refunded: readonly RevenueGroup[] }> {
  const settled = yield* all<RevenueGroup>(
    `${revenueOf('payment_claims')} AND origin = 'tool' ${BY_PRICE}`,
    since,
    until,
  )
  // What came through `/settle` was no income of a tool, and is none that is lost where it goes back.
  const refunded = yield* all<RevenueGroup>(
    `${revenueOf('refunds')} AND tool <> 'settle' ${BY_PRICE}`,
    since,
    until,
  )
  return { settled: settled.map((row) => ({ ...row })), refunded: refunded.map((row) => ({ ...row })) }
})

const OWN_TASKS = `(owner = $1 OR owner IN (SELECT c.id FROM capabilities c WHERE c.account_id = $1))`

/** Tasks of an account and of all who hold a capability of it, newest status first. */
export const listTasksOfAccount = command({ kind: 'read' })(function* (
  { accountId, state }: { accountId: string; state?: string | undefined },
  { limit, before }: SearchRequest,
): Command<SearchPage<StoredTask>> {
  const [, at, id = ''] = /^(\d{1,15})~(\w+)$/.exec(before ?? '') ?? []
  const conditions: string[] = []
  const values: SqlValue[] = [accountId]
  if (state !== undefined) conditions.push(`AND state = $${values.push(state)}`)
  if (at !== undefined)
    conditions.push(`AND (updated_at, id) < ($${values.push(Number(at))}, $${values.push(id)})`)
  const rows = yield* all<StoredTask>(
    `SELECT ${TASK} FROM tasks WHERE ${OWN_TASKS} ${conditions.join(' ')}
     ORDER BY updated_at DESC, id DESC LIMIT $${values.push(limit + 1)}`,
    ...values,
  )
  const items = rows.slice(0, limit).map((row) => ({ ...row }))
  const last = items.at(-1)
  return { items, next: rows.length > limit && last ? `${last.updatedAt}~${last.id}` : null }
})

/** Undefined where it is of another account, or of nobody. */
export const getTaskOfAccount = command({ kind: 'read' })(function* (
  id: string,
  accountId: string,
): Command<StoredTask | undefined> {
  const row = yield* first<StoredTask>(
    `SELECT ${TASK} FROM tasks WHERE ${OWN_TASKS} AND id = $2`,
    accountId,
    id,
  )
  return row && { ...row }
})

/** Hosts that an account asked to serve, in alphabetical order. */
export const listEdgeHosts = command({ kind: 'read', namesAccount: true })(function* (
  accountId: string,
): Command<readonly { readonly host: string; readonly createdAt: Millis }[]> {
  const rows = yield* all<{ host: string; createdAt: Millis }>(
    `SELECT ${columns(['host', 'createdAt'])} FROM edge_hosts WHERE account_id = $1 ORDER BY host LIMIT 500`,
    accountId,
  )
  return rows.map((row) => ({ ...row }))
})
