// What processes tell each other of the limits that they count (core/rate-sharing.ts). SQLite has one process.
import type { Dialect } from './dialects.ts'

/** Unlogged: what a crash forgets was a minute old at most. */
export const rateTables = ({ engine, id, int }: Dialect): readonly string[] =>
  engine === 'sqlite'
    ? []
    : [
        `CREATE UNLOGGED TABLE rate_counts (name ${id}, boot_id ${id}, used ${int} NOT NULL, ends_at ${int} NOT NULL, PRIMARY KEY (name, boot_id))`,
        `CREATE INDEX rate_counts_ends ON rate_counts (ends_at)`,
      ]
