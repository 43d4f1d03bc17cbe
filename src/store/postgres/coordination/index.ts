// How a process finds out, at its start, in which way it keeps out of the way of others.
import type { Command } from '../../command.ts'
import { LOCK_MIGRATIONS } from './advisory-locks.ts'
import { tryAdvisoryLocks } from './lock-trial.ts'
import { lockMigrationsRow, makeLockRows } from './row-locks.ts'
import { refusePooler, type SessionPair, withTwoSessions } from './sessions.ts'

export { agreeOnLocks, type Agreement } from './agreement.ts'
export { LOCK_TABLE } from './row-locks.ts'
export { LEASE_MS } from './timed-lease.ts'
export type { Coordination, Lease } from './coordination.ts'

/** @returns why advisory locks are of no use, as the end of a sentence, once there is what takes their place; undefined: they are of use */
async function replaceLocks(pair: SessionPair): Promise<string | undefined> {
  const fault = await tryAdvisoryLocks(pair)
  // The trial leaves its second session in a transaction.
  if (fault !== undefined) await makeLockRows((text) => pair[0].query(text))
  return fault
}

/**
 * Tries the advisory locks of a database, and makes what is used in their place where they are of no use.
 * @param url past any pooler
 * @returns why they are of no use, as the end of a sentence; undefined: they are of use
 * @throws {GatewayError} store_unavailable, behind a pooler that lends sessions on; else the driver's error
 */
export const prepareLocks = (url: string): Promise<string | undefined> =>
  withTwoSessions(url, async (pair) => {
    await refusePooler(pair)
    return replaceLocks(pair)
  })

/** The same, for who locks migrations and nothing else, which no pooler disturbs. */
export const prepareMigrationLock = (url: string): Promise<string | undefined> =>
  withTwoSessions(url, replaceLocks)

/** One process at a time brings the tables up to date: what comes after it in the transaction is done under it. */
export function* lockMigrations(fault: string | undefined): Command<void> {
  if (fault === undefined) yield { text: LOCK_MIGRATIONS, values: [], once: true }
  else yield* lockMigrationsRow()
}
