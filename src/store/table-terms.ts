// What an older release may do with the tables of a newer one: whoever brings them to its version writes down from which version on a release
// can use them. So a process of the release before comes up again in the middle of a rolling upgrade, and after a roll-back.
import { all, type Command, first } from './command.ts'
import type { Dialect } from './dialects.ts'
import { migrate, TABLE_VERSION } from './migrations.ts'
import { SIDE_BY_SIDE_FROM } from './releases.ts'

/** The version that the tables have, and the oldest that a release may know and use them. Undefined where that was never written down. */
export const TABLE_TERMS = `SELECT max(version) AS reached,
  (SELECT usable_from FROM table_terms WHERE version = (SELECT max(version) FROM migrations)) AS "usableFrom" FROM migrations`

/** Whether a release can use tables whose version is above what it knows. */
export const isUsable = (usableFrom: number | null | undefined, known: number = TABLE_VERSION): boolean =>
  usableFrom != null && usableFrom <= known

/**
 * Brings the tables to this release, or leaves those of a newer one as they are, in the caller's transaction.
 * @throws {GatewayError} where a newer release has been here whose tables this one cannot use
 */
export function* openTables(dialect: Dialect, now: number): Command<void> {
  const { int } = dialect
  yield* all(`CREATE TABLE IF NOT EXISTS migrations (version ${int} PRIMARY KEY, applied_at ${int} NOT NULL)`)
  yield* all(
    `CREATE TABLE IF NOT EXISTS table_terms (version ${int} PRIMARY KEY, usable_from ${int} NOT NULL)`,
  )
  const found = yield* first<{ reached: number | null; usableFrom: number | null }>(TABLE_TERMS)
  if ((found?.reached ?? 0) > TABLE_VERSION && isUsable(found?.usableFrom)) return
  yield* migrate(dialect, now)
  yield* all(
    `INSERT INTO table_terms (version, usable_from) VALUES ($1, $2)
     ON CONFLICT (version) DO UPDATE SET usable_from = excluded.usable_from`,
    TABLE_VERSION,
    SIDE_BY_SIDE_FROM,
  )
}
