// One connection for changes of tables: each statement is on its own, or several together that give way to calls.
import pg, { type QueryResultRow } from 'pg'
import { connectionConfig, type DatabaseAddress } from '../pool.ts'

/** One session of PostgreSQL, a client or a connection of a pool. */
export interface Session {
  query<R extends QueryResultRow>(text: string, values?: unknown[]): Promise<{ rows: R[] }>
}

/** A session that whoever opened it closes. */
export interface OwnSession extends Session {
  end(): Promise<void>
}

/** Opens a session past any pooler, in which a statement may take as long as it takes. */
export async function openSession({ url, directUrl }: DatabaseAddress): Promise<OwnSession> {
  const client = new pg.Client({
    ...connectionConfig(directUrl ?? url),
    query_timeout: 0,
    statement_timeout: 0,
  })
  // What breaks meanwhile is reported by the query that it breaks.
  client.on('error', () => {})
  await client.connect()
  return client
}

/** The same, closed behind `work`. */
export async function withSession<T>(
  address: DatabaseAddress,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const session = await openSession(address)
  try {
    return await work(session)
  } finally {
    await session.end().catch(() => undefined)
  }
}

export async function rowsOf<R extends QueryResultRow>(
  session: Session,
  text: string,
  ...values: unknown[]
): Promise<readonly R[]> {
  return (await session.query<R>(text, values)).rows
}

// lock_not_available, deadlock_detected and serialization_failure: others go first, and all of it is rolled back.
const GAVE_WAY = new Set<unknown>(['55P03', '40P01', '40001'])
const hasGivenWay = (thrown: unknown) => GAVE_WAY.has((thrown as { code?: unknown }).code)
const TRIES = 60
const PATIENCE_MS = 200
/** From here to the end of the transaction. */
export const LOCK_PATIENCE = `SET LOCAL lock_timeout = ${PATIENCE_MS}`
const PAUSE_MS = 500

/**
 * Several statements as one transaction that wants a whole table for a moment. Calls queue up behind whoever waits for that, so
 * that each try waits for 200 ms at most, and calls go first between the tries.
 * @throws {Error} the server's, when sixty tries have given way: forty seconds where what comes before the lock takes no time
 */
export async function givingWay<T>(session: Session, work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      await session.query('BEGIN ISOLATION LEVEL READ COMMITTED')
      await session.query(LOCK_PATIENCE)
      const result = await work()
      await session.query('COMMIT')
      return result
    } catch (thrown) {
      // A connection that is lost has rolled back already, and says so here once more.
      await session.query('ROLLBACK').catch(() => undefined)
      if (!hasGivenWay(thrown) || tries === TRIES) throw thrown
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
    }
  }
}
