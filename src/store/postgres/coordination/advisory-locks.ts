// Advisory locks of the server. A process that is alive holds a session lock on a connection of its own; the server drops the lock
// with the connection, so after a `kill -9` the others know at once, without heartbeats or clocks. The process itself asks on that connection
// whether its session is there yet: a server that is gone, or cut off, says no goodbye.
import { randomInt } from 'node:crypto'
import pg from 'pg'
import { all, type Command } from '../../command.ts'
import { connectionConfig } from '../pool.ts'
import {
  type Coordination,
  type Dead,
  LOCK_SPACE,
  MIGRATIONS_NUMBER,
  PARTITIONS_NUMBER,
} from './coordination.ts'
import { type Moment, moment, since } from './moment.ts'

const MAX_KEY = 2 ** 31 - 1
const RECONNECT_MS = 250
/** Nothing is begun after two of these without an answer, long before the server gives a session up that says nothing. */
const CHECK_MS = 3000
const SILENCE_S = 30
/** After which whoever asked for the lock stands in its queue. */
const QUEUED_MS = 100
/** No process where the server takes no writes: whoever takes over looks for the lock on another one, where they are taken. */
const BACKEND = `SELECT CASE WHEN current_setting('transaction_read_only', true) = 'on' THEN NULL ELSE pg_backend_pid() END AS pid`

export const LOCK_MIGRATIONS = `SELECT pg_advisory_xact_lock(${LOCK_SPACE}, ${MIGRATIONS_NUMBER})`
/** Those of a session, for what takes many transactions. */
export const TRY_PARTITIONS = `SELECT pg_try_advisory_lock(${LOCK_SPACE}, ${PARTITIONS_NUMBER}) AS "isOurs"`
export const UNLOCK_PARTITIONS = `SELECT pg_advisory_unlock(${LOCK_SPACE}, ${PARTITIONS_NUMBER})`

/** What holds the lock. */
interface LeaseSession {
  readonly client: pg.Client
  readonly pid: number | undefined
  /** When the last question that it has answered was asked. */
  answered: Moment
}

async function pidOf(client: pg.Client, patienceMs?: number): Promise<number | undefined> {
  // The driver's types do not know that a statement can have a limit of its own.
  const question = { text: BACKEND, query_timeout: patienceMs } as pg.QueryConfig
  return (await client.query<{ pid: number | null }>(question)).rows[0]?.pid ?? undefined
}

/**
 * Takes a lease for this process start, and takes it again whenever the connection is lost.
 * @throws the driver's error when the first connection fails
 */
const holdLease: Coordination['holdLease'] = async ({ url, bootId, log, checkMs = CHECK_MS }) => {
  const key = randomInt(1, MAX_KEY)
  let held: LeaseSession | undefined
  /** The session before, which did not answer in time. It may hold the lock yet. */
  let silent: LeaseSession | undefined
  let asking: Promise<void> | undefined
  let isClosed = false
  let retry: NodeJS.Timeout | undefined

  async function connect(): Promise<void> {
    const client = new pg.Client({
      ...connectionConfig(url),
      application_name: 'agent-gateway lease',
      keepAliveInitialDelayMillis: 10_000,
    })
    client.on('error', () => lose(client))
    client.on('end', () => lose(client))
    try {
      await client.connect()
      // A machine that vanishes without closing its connections is noticed within half a minute, also where an answer to it is under way.
      await client.query('SET tcp_keepalives_idle = 10')
      await client.query('SET tcp_keepalives_interval = 5')
      await client.query('SET tcp_keepalives_count = 4')
      await client.query(`SET tcp_user_timeout = '${SILENCE_S}s'`)
      const pid = await pidOf(client)
      // The lock comes first and the row second, so that nobody ever sees the lease without its lock.
      await takeLock(client)
      const asked = moment()
      await client.query(
        'INSERT INTO boots (boot_id, lock_key) VALUES ($1, $2) ON CONFLICT (boot_id) DO NOTHING',
        [bootId, key],
      )
      held = { client, pid, answered: asked }
    } catch (thrown) {
      await client.end().catch(() => undefined)
      throw thrown
    }
    if (isClosed) await client.end()
  }
  /** The silent session is closed once this one is next, so that nobody finds the lock free in between. */
  async function takeLock(client: pg.Client): Promise<void> {
    const queued = setTimeout(leaveSilent, QUEUED_MS)
    try {
      await client.query('SELECT pg_advisory_lock($1::int, $2::int)', [LOCK_SPACE, key])
    } finally {
      clearTimeout(queued)
      leaveSilent()
    }
  }
  function leaveSilent(): void {
    // Not waited for: it would not say goodbye either.
    void silent?.client.end().catch(() => undefined)
    silent = undefined
  }
  function lose(client: pg.Client): void {
    if (held?.client !== client) return
    held = undefined
    if (isClosed) return
    log.warn('the lease was lost: no attempts are started until it is held again')
    again()
  }
  /** A lock of a session is held for as long as the session is there. */
  async function answers(session: LeaseSession, patienceMs: number): Promise<boolean> {
    const asked = moment()
    const pid = await pidOf(session.client, patienceMs).catch(() => undefined)
    if (pid !== session.pid) return false
    session.answered = asked
    return true
  }
  async function check(session: LeaseSession): Promise<void> {
    if ((await answers(session, checkMs)) || held !== session) return
    silent = session
    lose(session.client)
  }
  function ask(): void {
    if (held !== undefined) asking ??= check(held).finally(() => (asking = undefined))
  }
  async function regain(): Promise<void> {
    const before = silent
    // A server that was only slow answers at last, and has kept the lock.
    const isBack = before !== undefined && (await answers(before, RECONNECT_MS))
    if (isClosed) return
    if (!isBack) return connect()
    silent = undefined
    held = before
  }
  function again(): void {
    retry = setTimeout(() => {
      regain().then(
        () => isClosed || log.info('the lease is held again'),
        () => isClosed || again(),
      )
    }, RECONNECT_MS)
  }

  await connect()
  const timer = setInterval(ask, checkMs).unref()
  return {
    isHeld() {
      if (held === undefined) return false
      if (since(held.answered) < 2 * checkMs) return true
      // Perhaps a clock was set, or the process stood still: the answer says which.
      ask()
      return false
    },
    async close() {
      isClosed = true
      clearTimeout(retry)
      clearInterval(timer)
      await asking
      leaveSilent()
      await held?.client.end()
    },
  }
}

export const advisoryLocks: Coordination = {
  leaseTable: 'boots',
  holdLease,
  /** Leases whose lock nobody holds. Their locks are taken until the transaction ends. */
  *findDead(bootId, working): Command<Dead> {
    const seen = yield* all<{ bootId: string; isDead: boolean }>(
      `SELECT boot_id AS "bootId", pg_try_advisory_xact_lock(${LOCK_SPACE}, lock_key::int) AS "isDead"
       FROM boots WHERE boot_id <> $1 ORDER BY boot_id`,
      bootId,
    )
    const listed = seen.filter((lease) => lease.isDead).map((lease) => lease.bootId)
    const known = new Set(seen.map((lease) => lease.bootId))
    // A process whose lease an earlier recovery removed may have begun something once more before it noticed.
    const forgotten = working.filter((other) => !known.has(other))
    return { dead: [...listed, ...forgotten], listed }
  },
  *lock(space, numbers): Command<void> {
    for (const number of [...new Set(numbers)].toSorted((a, b) => a - b))
      yield* all('SELECT pg_advisory_xact_lock($1::int, $2::int)', space, number)
  },
  tryPartitions: `SELECT pg_try_advisory_xact_lock(${LOCK_SPACE}, ${PARTITIONS_NUMBER}) AS "isOurs"`,
}
