// Which tables can be kept in pieces by time, and which piece a row goes to. The time in front of every id is what they are divided by, so that
// the primary key stays unique over all pieces, and a receipt is looked for in one of them.
import { firstIdAt, type IdPrefix } from '../../../lib/ids.ts'
import type { Millis } from '../../model.ts'

export const PERIODS = ['month', 'day'] as const
export type Period = (typeof PERIODS)[number]

export const PARTITIONED_TABLES = ['receipts', 'ledger_entries'] as const
export type PartitionedTable = (typeof PARTITIONED_TABLES)[number]

export interface Layout {
  readonly table: PartitionedTable
  /** The column that its rows are divided by: ids, in order of time. */
  readonly key: string
  readonly prefix: IdPrefix
  /** What the table itself has: each is unique over all pieces, or not unique. */
  readonly indexes: readonly string[]
  /** `unique`: an index of the table while it is whole, by its name; `name`: the one on the same columns that takes its place and is not unique. */
  readonly replaced: readonly { readonly unique: string; readonly name: string; readonly on: string }[]
  /** Whether a piece may be taken away. Balances are sums of the ledger: all of it stays. */
  readonly mayLeave: boolean
}

export const LAYOUTS: Readonly<Record<PartitionedTable, Layout>> = {
  receipts: {
    table: 'receipts',
    key: 'id',
    prefix: 'rcp',
    indexes: ['ALTER TABLE receipts ADD CONSTRAINT receipts_pkey PRIMARY KEY (id)'],
    replaced: [],
    mayLeave: true,
  },
  ledger_entries: {
    table: 'ledger_entries',
    key: 'transaction_id',
    prefix: 'txn',
    indexes: [
      'ALTER TABLE ledger_entries ADD CONSTRAINT ledger_entries_pkey PRIMARY KEY (account, transaction_id)',
      `CREATE UNIQUE INDEX ledger_calls ON ledger_entries (transaction_id) WHERE kind = 'call' AND amount < 0`,
    ],
    // A reference says nothing of a time: what is granted or bought once is kept apart (references.ts).
    replaced: [
      {
        unique: 'ledger_grants',
        name: 'ledger_grants_by_reference',
        on: `(account, reference) WHERE kind = 'grant' AND amount > 0`,
      },
      {
        unique: 'ledger_purchases',
        name: 'ledger_purchases_by_reference',
        on: `(reference) WHERE kind = 'purchase' AND amount > 0`,
      },
    ],
    mayLeave: false,
  },
}

/** @returns the end (UTC) of the period that `at` lies in, where the next one begins */
export function periodEnd(period: Period, at: Millis): Millis {
  const date = new Date(at)
  return period === 'month'
    ? Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1)
    : Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate() + 1)
}

/** The first key at or after a moment: what ends one piece and begins the next. */
export const boundAt = ({ prefix }: Layout, at: Millis): string => firstIdAt(prefix, at)

/** `receipts_2026_12`, `receipts_2026_12_05`: the name says from when its rows are, and for how long. */
export function partitionName(table: PartitionedTable, period: Period, start: Millis): string {
  const day = new Date(start).toISOString().slice(0, period === 'month' ? 7 : 10)
  return `${table}_${day.replaceAll('-', '_')}`
}

/** The piece with all that was there when the table was divided, which ends at `bound`. */
export const firstPartitionName = (table: PartitionedTable, bound: Millis): string =>
  `${table}_before_${new Date(bound).toISOString().slice(0, 10).replaceAll('-', '_')}`

const NAME = /_\d{4}_\d\d(_\d\d)?$/

/** @returns how long the piece of this name is; undefined where it is none, or the first one */
export function periodOf(name: string): Period | undefined {
  const found = name.includes('_before_') ? null : NAME.exec(name)
  return found ? (found[1] === undefined ? 'month' : 'day') : undefined
}

/** The constraint that a table has while it is being divided: all of its rows are of the first piece. */
export const guardOf = (table: PartitionedTable): string => `${table}_first_partition`

const DAY_MS = 24 * 3600 * 1000
/** A gateway that nobody looks after for so long has its pieces made already; and clocks that are wrong by less find theirs. */
const AHEAD: Readonly<Record<Period, number>> = { month: 62 * DAY_MS, day: 14 * DAY_MS }
/** A table is divided at a moment that is so far off at least: until then all of its rows can be looked through without a hurry. */
export const FIRST_BOUND_AHEAD_MS = DAY_MS

/**
 * The pieces that are missing.
 * @param from where the last one ends
 */
export function missingPartitions(
  table: PartitionedTable,
  period: Period,
  from: Millis,
  now: Millis,
): readonly { readonly name: string; readonly start: Millis; readonly end: Millis }[] {
  const missing = []
  for (let start = from; start <= now + AHEAD[period];) {
    const end = periodEnd(period, start)
    missing.push({ name: partitionName(table, period, start), start, end })
    start = end
  }
  return missing
}
