// All processes on one database lock in the same way at one time: one that looks at advisory locks sees nothing of rows, and would take
// those who use them for dead. So each way has a table of leases of its own, and where one is used the other's is not there. Whoever takes a
// lease, or looks for dead ones, names that table, so that the database itself stops who is of the other way: a process whose rights were changed
// while it ran, one that was cut off meanwhile, and the release before, which knows advisory locks alone. It holds no lease, so it begins
// nothing, and finds nobody dead. A row that says which way it is would help only against those who read it.
//
// A start changes the way when its trial says so and nobody holds a lease of the other. While somebody does, locks that have come back are not
// used yet (rows keep their promises on every database), and locks that are gone stop the start: who holds some cannot be told from the dead.
import { GatewayError } from '../../../core/errors.ts'
import type { Command, Row } from '../../command.ts'
import { advisoryLocks } from './advisory-locks.ts'
import { type Coordination, LOCK_SPACE } from './coordination.ts'
import { rowLocks } from './row-locks.ts'
import { TIMED_LEASE_TABLE } from './timed-lease.ts'

/** What the leases of advisory locks are called while rows are used. */
const LAID_ASIDE = 'boots_unused'

export interface Agreement {
  readonly coordination: Coordination
  /** Why advisory locks are not used, as the end of a sentence; undefined: they are. */
  readonly fallback: string | undefined
}

function* once<R extends Row>(text: string): Command<readonly R[]> {
  return (yield { text, values: [], once: true }) as readonly R[]
}

const HOLDERS = `SELECT count(*) AS holders FROM pg_locks
  WHERE locktype = 'advisory' AND granted AND classid::bigint = ${LOCK_SPACE} AND objsubid = 2 AND objid::bigint BETWEEN 1 AND 2147483647
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`
const LIVING = `SELECT count(*) AS living FROM ${TIMED_LEASE_TABLE} WHERE expires_at > clock_timestamp()`

/** Whether a database uses rows, by which table there is. */
export const USES_ROWS = `SELECT to_regclass('${TIMED_LEASE_TABLE}') IS NOT NULL AS "usesRows"`

/**
 * Decides in which way processes on this database lock. Comes last in the transaction of the migrations: it keeps leases from being taken.
 * @param fault what the trial of the advisory locks found
 * @throws {GatewayError} store_unavailable, where others hold locks that this process cannot see
 */
export function* agreeOnLocks(fault: string | undefined): Command<Agreement> {
  const [found] = yield* once<{ usesRows: boolean }>(USES_ROWS)
  const usesRows = found?.usesRows === true
  if (fault === undefined && !usesRows) return { coordination: advisoryLocks, fallback: undefined }
  if (fault === undefined) {
    yield* once(`LOCK TABLE ${TIMED_LEASE_TABLE} IN ACCESS EXCLUSIVE MODE`)
    const [leases] = yield* once<{ living: number }>(LIVING)
    if (leases?.living !== 0)
      return {
        coordination: rowLocks,
        fallback: 'they work again, and other processes are alive that were started while they did not',
      }
    yield* once(`DROP TABLE ${TIMED_LEASE_TABLE}`)
    yield* once(`ALTER TABLE ${LAID_ASIDE} RENAME TO ${advisoryLocks.leaseTable}`)
    return { coordination: advisoryLocks, fallback: undefined }
  }
  if (!usesRows) {
    // From here on nobody takes a lease of the other way; whoever has one is seen.
    yield* once(`ALTER TABLE ${advisoryLocks.leaseTable} RENAME TO ${LAID_ASIDE}`)
    const [locks] = yield* once<{ holders: number }>(HOLDERS)
    if (locks?.holders !== 0)
      throw new GatewayError(
        'store_unavailable',
        `Other processes on this database hold advisory locks, and for this one those are of no use: ${fault}. It would take them for dead. ` +
          'Let it use them (GRANT EXECUTE), or stop the others first.',
      )
    yield* once(
      `CREATE TABLE ${TIMED_LEASE_TABLE} (boot_id TEXT COLLATE "C" PRIMARY KEY, expires_at TIMESTAMPTZ NOT NULL)`,
    )
  }
  return { coordination: rowLocks, fallback: fault }
}
