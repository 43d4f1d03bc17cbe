// Advisory locks of the server. A process that is alive holds a session lock on a connection of its own; the server drops the lock
// with the connection, so after a `kill -9` the others know at once, without heartbeats or clocks.
import { randomInt } from 'node:crypto'
import pg from 'pg'
import type { Logger } from '../../../lib/log.ts'
import { all, type Command } from '../../command.ts'
import { connectionConfig } from '../pool.ts'
import {
  type Coordination,
  type Dead,
  type Lease,
  LOCK_SPACE,
  MIGRATIONS_NUMBER,
  PARTITIONS_NUMBER,
} from './coordination.ts'

const MAX_KEY = 2 ** 31 - 1
const RECONNECT_MS = 250

export const LOCK_MIGRATIONS = `SELECT pg_advisory_xact_lock(${LOCK_SPACE}, ${MIGRATIONS_NUMBER})`
/** Those of a session, for what takes many transactions. */
export const TRY_PARTITIONS = `SELECT pg_try_advisory_lock(${LOCK_SPACE}, ${PARTITIONS_NUMBER}) AS "isOurs"`
export const UNLOCK_PARTITIONS = `SELECT pg_advisory_unlock(${LOCK_SPACE}, ${PARTITIONS_NUMBER})`

/**
 * Takes a lease for this process start, and takes it again whenever the connection is lost.
 * @throws the driver's error when the first connection fails
 */
async function holdLease(parts: { url: string; bootId: string; log: Logger }): Promise<Lease> {
  const { url, bootId, log } = parts
  const key = randomInt(1, MAX_KEY)
  let held: pg.Client | undefined
  let isClosed = false
  let retry: NodeJS.Timeout | undefined

  async function connect(): Promise<void> {
    const client = new pg.Client({
      ...connectionConfig(url),
      application_name: 'agent-gateway lease',
    })
    const lose = () => {
      if (held !== client) return
      held = undefined
      if (isClosed) return
      log.warn('the lease was lost: no attempts are started until it is held again')
      again()
    }
    client.on('error', lose)
    client.on('end', lose)
    try {
      await client.connect()
      // A machine that vanishes without closing its connections is noticed within half a minute.
      await client.query('SET tcp_keepalives_idle = 10')
      await client.query('SET tcp_keepalives_interval = 5')
      await client.query('SET tcp_keepalives_count = 4')
      // The lock comes first and the row second, so that nobody ever sees the lease without its lock.
      await client.query('SELECT pg_advisory_lock($1::int, $2::int)', [LOCK_SPACE, key])
      await client.query(
        'INSERT INTO boots (boot_id, lock_key) VALUES ($1, $2) ON CONFLICT (boot_id) DO NOTHING',
        [bootId, key],
      )
    } catch (thrown) {
      await client.end().catch(() => undefined)
      throw thrown
    }
    held = client
    if (isClosed) await client.end()
  }
  function again(): void {
    retry = setTimeout(() => {
      connect().then(
        () => log.info('the lease is held again'),
        () => isClosed || again(),
      )
    }, RECONNECT_MS)
  }

  await connect()
  return {
    isHeld: () => held !== undefined,
    async close() {
      isClosed = true
      clearTimeout(retry)
      await held?.end()
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
