// Two sessions of one database, and whether a pooler keeps them apart.
import pg from 'pg'
import { GatewayError } from '../../../core/errors.ts'
import { connectionConfig } from '../pool.ts'

export type SessionPair = readonly [pg.Client, pg.Client]

const ANSWER_MS = 5000

/** Opens two sessions for `work` and closes them behind it. */
export async function withTwoSessions<T>(url: string, work: (pair: SessionPair) => Promise<T>): Promise<T> {
  const connection = {
    ...connectionConfig(url),
    application_name: 'agent-gateway start',
    // A pooler that has a single session would let the second connection wait for the first.
    query_timeout: ANSWER_MS,
  }
  const pair = [new pg.Client(connection), new pg.Client(connection)] as const
  try {
    // What breaks meanwhile is reported by the query that it breaks.
    for (const client of pair) client.on('error', () => {})
    await Promise.all(pair.map((client) => client.connect()))
    return await work(pair)
  } finally {
    await Promise.allSettled(pair.map((client) => client.end()))
  }
}

const BACKEND = 'SELECT pg_backend_pid() AS pid'
/** A pooler that gives its sessions out in turn gives the right ones by chance. */
const PROBES = 8
/**
 * A lease behind a pooler that lends sessions on would be held by whoever has the session now, and two processes would take each other for dead.
 * Such a one gives the session of a connection that waits to another that begins a transaction, which is seen here.
 * @throws {GatewayError} store_unavailable, where there is one
 */
export async function refusePooler([waiting, beginning]: SessionPair): Promise<void> {
  const pidOf = async (client: pg.Client) => (await client.query<{ pid: number }>(BACKEND)).rows[0]?.pid
  let isOwn = true
  for (let i = 0; i < PROBES; i++) {
    const before = await pidOf(waiting)
    await beginning.query('BEGIN')
    const other = await pidOf(beginning)
    const after = await pidOf(waiting)
    await beginning.query('ROLLBACK')
    isOwn &&= before === after && before !== other
  }
  if (isOwn) return
  throw new GatewayError(
    'store_unavailable',
    'The database is reached through a pooler that gives sessions away between transactions, and each process keeps a session of ' +
      'its own. Leave GATEWAY_DATABASE_URL as it is and set GATEWAY_DATABASE_DIRECT_URL to the address of PostgreSQL itself.',
  )
}
