// Which gateway processes are alive. Each holds a session lock on a connection of its own; the server drops the lock
// with the connection, so after a `kill -9` the others know at once, without heartbeats or clocks.
import { randomInt } from 'node:crypto'
import pg from 'pg'
import type { Logger } from '../../log.ts'
import { all, type Command } from '../command.ts'
import { recoverBoots, UNFINISHED_BOOTS } from '../commands/attempts.ts'
import type { Attempt, Millis } from '../ports.ts'
import { connectionConfig } from './pool.ts'

/** First key of every advisory lock of the gateway, so that other users of the database stay out of the way. */
const LOCK_SPACE = 0x6177
const MIGRATION_KEY = 0
const MAX_KEY = 2 ** 31 - 1
const RECONNECT_MS = 250

export const LOCK_MIGRATIONS = `SELECT pg_advisory_xact_lock(${LOCK_SPACE}, ${MIGRATION_KEY})`

export interface Liveness {
  /** False while the lock is lost: others may take this process for dead, so it must start nothing. */
  readonly isHeld: () => boolean
  readonly close: () => Promise<void>
}

export async function holdLiveness(parts: { url: string; bootId: string; log: Logger }): Promise<Liveness> {
  const { url, bootId, log } = parts
  const key = randomInt(1, MAX_KEY)
  let held: pg.Client | undefined
  let isClosed = false
  let retry: NodeJS.Timeout | undefined

  async function connect(): Promise<void> {
    const client = new pg.Client({
      ...connectionConfig(url),
      application_name: 'agent-gateway liveness',
    })
    const lose = () => {
      if (held !== client) return
      held = undefined
      if (isClosed) return
      log.warn('the liveness lock was lost: no attempts are started until it is held again')
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
      // Locked first, shown second: nobody ever sees this boot without its lock.
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
        () => log.info('the liveness lock is held again'),
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

type Recovered = { refunded: readonly Attempt[]; ambiguous: readonly Attempt[] }

/** Settles what boots without a lock left behind. Their locks are taken meanwhile, so only one process does it. */
export function* recoverDeadBoots(input: { bootId: string; now: Millis }): Command<Recovered> {
  const seen = yield* all<{ bootId: string; isDead: boolean }>(
    `SELECT boot_id AS "bootId", pg_try_advisory_xact_lock(${LOCK_SPACE}, lock_key::int) AS "isDead"
     FROM boots WHERE boot_id <> $1 ORDER BY boot_id`,
    input.bootId,
  )
  const dead = seen.filter((boot) => boot.isDead).map((boot) => boot.bootId)
  const known = new Set(seen.map((boot) => boot.bootId))
  // A boot whose row an earlier recovery removed, and that reserved once more before it noticed.
  const unfinished = yield* all<{ bootId: string }>(UNFINISHED_BOOTS, input.bootId)
  const forgotten = unfinished.map((boot) => boot.bootId).filter((bootId) => !known.has(bootId))
  const recovered = yield* recoverBoots([...dead, ...forgotten], input.now)
  for (const bootId of dead) yield* all('DELETE FROM boots WHERE boot_id = $1', bootId)
  return recovered
}
