// The counts of limits that processes tell each other: a row for each caller and process, which that process alone writes. The clock is the
// server's.
import { all, type Command } from '../command.ts'
import type { RateCount } from '../ports/rates.ts'
import { SERVER_NOW as NOW } from './server-clock.ts'

const EXCHANGE = `WITH input AS MATERIALIZED (
    SELECT * FROM json_to_recordset($1::json) AS input (name text, used bigint, "leftMs" bigint)
  ), kept AS (
    INSERT INTO rate_counts (name, boot_id, used, ends_at) SELECT name, $2, used, ${NOW} + "leftMs" FROM input
    ON CONFLICT (name, boot_id) DO UPDATE SET used = excluded.used, ends_at = excluded.ends_at
  )
  SELECT name, used, ends_at - ${NOW} AS "leftMs" FROM rate_counts
  WHERE name = ANY (ARRAY(SELECT name FROM input)) AND boot_id <> $2 AND ends_at > ${NOW}`

const FORGET = `DELETE FROM rate_counts WHERE (name, boot_id) IN (
  SELECT name, boot_id FROM rate_counts WHERE ends_at < ${NOW} LIMIT 10000 FOR UPDATE SKIP LOCKED)`

/** Stores what this process has counted, in place of what it told before. @returns what others have in windows that are still open */
export function* exchangeRates(counts: readonly RateCount[], bootId: string): Command<readonly RateCount[]> {
  yield* all(FORGET)
  return yield* all<RateCount>(EXCHANGE, JSON.stringify(counts), bootId)
}
