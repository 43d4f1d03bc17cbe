// Locks where advisory ones are of no use: rows that nobody reads or changes, locked FOR UPDATE. A lock on a row ends with its transaction, as
// an advisory lock does, and a transaction ends with its connection. The rows are made before they are needed and are a fixed number, so that
// payers share them: two that do wait for each other, and nothing else happens.
import { GatewayError } from '../../../core/errors.ts'
import { all, type Command, first } from '../../command.ts'
import {
  type Coordination,
  type Dead,
  LOCK_SPACE,
  MIGRATIONS_NUMBER,
  PARTITIONS_NUMBER,
  PAYER_SPACE,
  PUSH_SPACE,
} from './coordination.ts'
import { holdTimedLease, TIMED_LEASE_TABLE } from './timed-lease.ts'

export const LOCK_TABLE = 'lock_rows'

/** A power of two. */
const ROWS_OF_A_SPACE = 1024

const MAKE = `CREATE TABLE IF NOT EXISTS ${LOCK_TABLE} (space INT NOT NULL, number INT NOT NULL, PRIMARY KEY (space, number))`
const FILL = `INSERT INTO ${LOCK_TABLE} (space, number)
  SELECT ${LOCK_SPACE}, number FROM (VALUES (${PARTITIONS_NUMBER}), (${MIGRATIONS_NUMBER})) AS own (number)
  UNION ALL SELECT space, number FROM (VALUES (${PAYER_SPACE}), (${PUSH_SPACE})) AS spaces (space),
    generate_series(0, ${ROWS_OF_A_SPACE - 1}) AS numbers (number)
  ON CONFLICT DO NOTHING`

// Two that make a table at once: IF NOT EXISTS looks before the other has committed (unique_violation, duplicate_table, duplicate_object).
const MADE_AT_ONCE = new Set(['23505', '42P07', '42710'])
const MAX_TRIES = 5

/**
 * Makes the rows, outside of any transaction, since migrations wait for one of them.
 * @param run a statement by itself, which throws the server's error
 */
export async function makeLockRows(run: (text: string) => Promise<unknown>): Promise<void> {
  for (let tries = 1; ; tries++)
    try {
      await run(MAKE)
      break
    } catch (thrown) {
      if (tries === MAX_TRIES || !MADE_AT_ONCE.has(String((thrown as { code?: unknown }).code))) throw thrown
    }
  await run(FILL)
}

const LOCK = `SELECT number FROM ${LOCK_TABLE} WHERE space = $1 AND number = $2 FOR UPDATE`
export const TRY_PARTITIONS_ROW = `SELECT TRUE AS "isOurs" FROM ${LOCK_TABLE}
  WHERE space = ${LOCK_SPACE} AND number = ${PARTITIONS_NUMBER} FOR UPDATE SKIP LOCKED`

function* lockRow(space: number, number: number): Command<void> {
  if (yield* first(LOCK, space, number)) return
  // A row that is not there keeps nobody out.
  throw new GatewayError(
    'store_unavailable',
    `A row of the table ${LOCK_TABLE} was removed. The next start of a gateway makes it anew; nothing was charged or sent.`,
  )
}

/** What is done under it is done by one process at a time. */
export const lockMigrationsRow = (): Command<void> => lockRow(LOCK_SPACE, MIGRATIONS_NUMBER)

/** Whoever has work and no lease gets one that is over, so that there is a row to lock: it comes back by changing that. */
const LIST = `INSERT INTO ${TIMED_LEASE_TABLE} (boot_id, expires_at)
  SELECT boot_id, timestamptz 'epoch' FROM json_array_elements_text($1::json) AS working (boot_id) ORDER BY boot_id
  ON CONFLICT (boot_id) DO NOTHING`
const EXPIRED = `SELECT boot_id AS "bootId" FROM ${TIMED_LEASE_TABLE}
  WHERE boot_id <> $1 AND expires_at < clock_timestamp() ORDER BY boot_id FOR UPDATE SKIP LOCKED`

export const rowLocks: Coordination = {
  leaseTable: TIMED_LEASE_TABLE,
  holdLease: holdTimedLease,
  *findDead(bootId, working): Command<Dead> {
    if (working.length > 0) yield* all(LIST, JSON.stringify(working))
    const listed = (yield* all<{ bootId: string }>(EXPIRED, bootId)).map((lease) => lease.bootId)
    return { dead: listed, listed }
  },
  *lock(space, numbers): Command<void> {
    const rows = new Set(numbers.map((number) => number & (ROWS_OF_A_SPACE - 1)))
    for (const row of [...rows].toSorted((a, b) => a - b)) yield* lockRow(space, row)
  },
  tryPartitions: TRY_PARTITIONS_ROW,
}
