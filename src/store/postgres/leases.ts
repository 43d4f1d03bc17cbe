// Which gateway processes are alive. Each holds a session lock on a connection of its own; the server drops the lock
// with the connection, so after a `kill -9` the others know at once, without heartbeats or clocks.
import { randomInt } from 'node:crypto'
import pg from 'pg'
import type { Logger } from '../../lib/log.ts'
import { all, type Command } from '../command.ts'
import { recoverBoots, UNFINISHED_BOOTS } from '../commands/attempts.ts'
import { recoverClaimsOf, UNFINISHED_CLAIM_BOOTS } from '../commands/claims.ts'
import type { Attempt, Millis } from '../model.ts'
import { connectionConfig } from './pool.ts'

/** First key of every advisory lock of the gateway, so that other users of the database stay out of the way. */
const LOCK_SPACE = 0x6177
const MIGRATION_KEY = 0
const MAX_KEY = 2 ** 31 - 1
const RECONNECT_MS = 250

export const LOCK_MIGRATIONS = `SELECT pg_advisory_xact_lock(${LOCK_SPACE}, ${MIGRATION_KEY})`

export interface Lease {
  /** False while the lock is lost: others may take this process for dead, so it must start nothing. */
  readonly isHeld: () => boolean
  readonly close: () => Promise<void>
}

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

type Recovered = { refunded: readonly Attempt[]; ambiguous: readonly Attempt[] }

/**
 * Boots without a lock, of which `listed` are in the table. Their locks are taken until the transaction ends, so only
 * one process tidies up after them.
 * @param unfinished statement that names the boots with unfinished rows, other than $1
 */
function* findExpiredLeases(
  bootId: string,
  unfinished: string,
): Command<{ dead: readonly string[]; listed: readonly string[] }> {
  // Asked first: whoever starts between the two statements has no unfinished rows in this answer.
  const working = yield* all<{ bootId: string }>(unfinished, bootId)
  const seen = yield* all<{ bootId: string; isDead: boolean }>(
    `SELECT boot_id AS "bootId", pg_try_advisory_xact_lock(${LOCK_SPACE}, lock_key::int) AS "isDead"
     FROM boots WHERE boot_id <> $1 ORDER BY boot_id`,
    bootId,
  )
  const listed = seen.filter((boot) => boot.isDead).map((boot) => boot.bootId)
  const known = new Set(seen.map((boot) => boot.bootId))
  // A boot whose row an earlier recovery removed, and that began something once more before it noticed.
  const forgotten = working.map((boot) => boot.bootId).filter((other) => !known.has(other))
  return { dead: [...listed, ...forgotten], listed }
}

/** Settles the attempts that dead boots left behind. */
export function* recoverAttempts(input: { bootId: string; now: Millis }): Command<Recovered> {
  const { dead, listed } = yield* findExpiredLeases(input.bootId, UNFINISHED_BOOTS)
  const recovered = yield* recoverBoots(dead, input.now)
  for (const bootId of listed) yield* all('DELETE FROM boots WHERE boot_id = $1', bootId)
  return recovered
}

/** The same for claims. The boots stay listed: their attempts may not have been looked at. */
export function* recoverClaims(input: {
  bootId: string
  now: Millis
}): Command<{ canceled: number; unknown: number }> {
  const { dead } = yield* findExpiredLeases(input.bootId, UNFINISHED_CLAIM_BOOTS)
  return yield* recoverClaimsOf(dead, input.now)
}
