// Gateway processes that are alive. Each holds a session lock on a connection of its own; the server drops the lock
// with the connection, so after a `kill -9` the others know at once, without heartbeats or clocks.
import { randomInt } from 'node:crypto'
import pg from 'pg'
import { GatewayError } from '../../core/errors.ts'
import type { Logger } from '../../lib/log.ts'
import { all, type Command } from '../command.ts'
import { recoverAttemptsOf, UNFINISHED_ATTEMPT_OWNERS } from '../commands/attempts.ts'
import { OPEN_DEBIT_OWNERS, recoverDebitsOf } from '../commands/charges.ts'
import { recoverClaimsOf, UNFINISHED_CLAIM_OWNERS } from '../commands/claims.ts'
import { RUNNING_ROTATION_OWNERS, takeOverRotationOf } from '../commands/rotations.ts'
import type { Rotation } from '../ports/rotations.ts'
import type { Attempt, Millis } from '../model.ts'
import { connectionConfig } from './pool.ts'

/** First key of every advisory lock of the gateway, so that other users of the database stay out of the way. */
export const LOCK_SPACE = 0x6177
const MIGRATION_KEY = 0
const MAX_KEY = 2 ** 31 - 1
const RECONNECT_MS = 250

export const LOCK_MIGRATIONS = `SELECT pg_advisory_xact_lock(${LOCK_SPACE}, ${MIGRATION_KEY})`

export interface Lease {
  /** False while the lock is lost: others may take this process for dead, so it must start nothing. */
  readonly isHeld: () => boolean
  readonly close: () => Promise<void>
}

/**
 * Takes a lease for this process start, and takes it again whenever the connection is lost.
 * @throws the driver's error when the first connection fails
 */
export async function holdLease(parts: { url: string; bootId: string; log: Logger }): Promise<Lease> {
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

const BACKEND = 'SELECT pg_backend_pid() AS pid'
/** A pooler that gives its sessions out in turn gives the right ones by chance. */
const PROBES = 8
const PROBE_MS = 5000
/**
 * A lease behind a pooler that lends sessions on would be held by whoever has the session now, and two processes would take each other for dead.
 * Such a one gives the session of a connection that waits to another that begins a transaction, which is seen here.
 * @throws {GatewayError} store_unavailable, where there is one
 */
export async function refusePooler(url: string): Promise<void> {
  const connection = {
    ...connectionConfig(url),
    application_name: 'agent-gateway start',
    // One that has a single session would let the second connection wait for the first.
    query_timeout: PROBE_MS,
  }
  const waiting = new pg.Client(connection)
  const beginning = new pg.Client(connection)
  const pidOf = async (client: pg.Client) => (await client.query<{ pid: number }>(BACKEND)).rows[0]?.pid
  try {
    // What breaks meanwhile is reported by the query that it breaks.
    for (const client of [waiting, beginning]) client.on('error', () => {})
    await Promise.all([waiting.connect(), beginning.connect()])
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
  } finally {
    await Promise.allSettled([waiting.end(), beginning.end()])
  }
  throw new GatewayError(
    'store_unavailable',
    'The database is reached through a pooler that gives sessions away between transactions, and each process holds a lock in a session of ' +
      'its own. Leave GATEWAY_DATABASE_URL as it is and set GATEWAY_DATABASE_DIRECT_URL to the address of PostgreSQL itself.',
  )
}

type Recovered = { refunded: readonly Attempt[]; ambiguous: readonly Attempt[] }

/**
 * Leases whose lock nobody holds, of which `listed` are in the table. Their locks are taken until the transaction ends, so
 * that only one process tidies up after them.
 * @param owners statement that names the process starts with unfinished rows, other than $1
 */
function* findExpiredLeases(
  bootId: string,
  owners: string,
): Command<{ dead: readonly string[]; listed: readonly string[] }> {
  // This statement comes first: a process that starts between the two has no unfinished rows in its answer.
  const working = yield* all<{ bootId: string }>(owners, bootId)
  const seen = yield* all<{ bootId: string; isDead: boolean }>(
    `SELECT boot_id AS "bootId", pg_try_advisory_xact_lock(${LOCK_SPACE}, lock_key::int) AS "isDead"
     FROM boots WHERE boot_id <> $1 ORDER BY boot_id`,
    bootId,
  )
  const listed = seen.filter((lease) => lease.isDead).map((lease) => lease.bootId)
  const known = new Set(seen.map((lease) => lease.bootId))
  // A process whose lease an earlier recovery removed may have begun something once more before it noticed.
  const forgotten = working.map((owner) => owner.bootId).filter((other) => !known.has(other))
  return { dead: [...listed, ...forgotten], listed }
}

/** `recoverAttempts`, for the processes whose leases have expired. */
export function* recoverAttempts(input: { bootId: string; now: Millis }): Command<Recovered> {
  const { dead, listed } = yield* findExpiredLeases(input.bootId, UNFINISHED_ATTEMPT_OWNERS)
  const recovered = yield* recoverAttemptsOf(dead, input.now)
  for (const bootId of listed) yield* all('DELETE FROM boots WHERE boot_id = $1', bootId)
  return recovered
}

/** `recoverClaims`, for the same. The leases stay listed, since the attempts of those processes may not be settled yet. */
export function* recoverClaims(input: {
  bootId: string
  now: Millis
}): Command<{ canceled: number; unknown: number }> {
  const { dead } = yield* findExpiredLeases(input.bootId, UNFINISHED_CLAIM_OWNERS)
  return yield* recoverClaimsOf(dead, input.now)
}

/** `recoverDebits`, for the same; the leases stay listed here too. */
export function* recoverDebits(input: { bootId: string; now: Millis }): Command<{ refunded: number }> {
  const { dead } = yield* findExpiredLeases(input.bootId, OPEN_DEBIT_OWNERS)
  return yield* recoverDebitsOf(dead, input.now)
}

/** `takeOverRotation`, from a process whose lease has expired. */
export function* takeOverRotation(input: { bootId: string; now: Millis }): Command<Rotation | undefined> {
  const { dead } = yield* findExpiredLeases(input.bootId, RUNNING_ROTATION_OWNERS)
  return yield* takeOverRotationOf(dead, input)
}
