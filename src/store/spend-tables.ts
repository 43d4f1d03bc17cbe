// The tables of spend windows: what payments that were inspected may add up to in an hour or a day, and which were counted.
import type { Dialect } from './dialects.ts'

/**
 * `spend_totals` is a running total of each scope: a window is the newest total less the one before its first row, so that a look
 * reads two rows however many were counted. Amounts outgrow 64 bits, so totals are decimal text of one width, which compares as its
 * number does. `spend_counted` holds a row for each payment that was counted, by digests alone, and `spend_accounts` how many an
 * account has: that row is the lock.
 */
export const spendTables = ({ id, int, clustered, plain }: Dialect): readonly string[] => [
  `CREATE TABLE spend_accounts (
    account_id ${id} PRIMARY KEY,
    counted ${int} NOT NULL CHECK (counted >= 0)
  ) ${clustered}`,
  `CREATE TABLE spend_counted (
    payment ${id} PRIMARY KEY,
    account_id ${id} NOT NULL,
    content ${id} NOT NULL,
    amount TEXT NOT NULL,
    counted_at ${int} NOT NULL
  ) ${plain}`,
  `CREATE INDEX spend_counted_account ON spend_counted (account_id, counted_at)`,
  `CREATE INDEX spend_counted_at ON spend_counted (counted_at)`,
  `CREATE TABLE spend_totals (
    scope ${id} NOT NULL,
    total ${id} NOT NULL,
    amount TEXT NOT NULL,
    counted_at ${int} NOT NULL,
    PRIMARY KEY (scope, total)
  ) ${clustered}`,
  `CREATE INDEX spend_totals_scope ON spend_totals (scope, counted_at)`,
  `CREATE INDEX spend_totals_at ON spend_totals (counted_at, total)`,
]
