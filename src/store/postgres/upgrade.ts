// Brings the tables to this release, and settles how processes lock, in one transaction: an upgrade that fails leaves the release before its
// tables. A step of a large table takes as long as it takes; what it may not do is keep calls of other processes waiting for a lock that it
// does not get itself.
import type { Command, Row } from '../command.ts'
import { postgresDialect } from '../dialects.ts'
import { openTables } from '../table-terms.ts'
import { agreeOnLocks, type Agreement, lockMigrations } from './coordination/index.ts'
import { givingWay, LOCK_PATIENCE, type Session, withSession } from './partitions/session.ts'
import { refuseUnfinished } from './unfinished.ts'

/**
 * @param url through a pooler too: nothing outlives the transaction
 * @param fault what the trial of the advisory locks found
 * @throws the driver's error, or a {GatewayError} where this release cannot use the database
 */
export const upgradeTables = (url: string, fault: string | undefined): Promise<Agreement> =>
  withSession({ url }, (session) =>
    givingWay(session, async () => {
      await session.query('SET LOCAL statement_timeout = 0')
      await session.query(ENDS_WITH_PROCESS, [JSON.stringify(BOUNDS)])
      // Another process may be at it, and that takes as long; nobody queues up behind this lock who serves already.
      await session.query('SET LOCAL lock_timeout = 0')
      await drive(session, lockMigrations(fault))
      await session.query(LOCK_PATIENCE)
      await drive(session, refuseUnfinished())
      await drive(session, openTables(postgresDialect, Date.now()))
      return drive(session, agreeOnLocks(fault))
    }),
  )

/** A process that is gone, or stands still, in the middle keeps neither tables nor the other starts waiting. */
const BOUNDS = {
  idle_in_transaction_session_timeout: '30s',
  // A machine that vanishes is noticed within half a minute,
  tcp_keepalives_idle: '10',
  tcp_keepalives_interval: '5',
  tcp_keepalives_count: '4',
  // and while a statement runs from PostgreSQL 14 on.
  client_connection_check_interval: '5s',
}
/** For the transaction; of what a server does not know it sets nothing. */
const ENDS_WITH_PROCESS = `SELECT set_config(bound.key, bound.value, true) FROM json_each_text($1::json) AS bound
  JOIN pg_settings ON pg_settings.name = bound.key`

async function drive<T>(session: Session, command: Command<T>): Promise<T> {
  let step = command.next()
  while (!step.done) {
    const { text, values } = step.value
    step = command.next((await session.query<Row>(text, [...values])).rows)
  }
  return step.value
}
