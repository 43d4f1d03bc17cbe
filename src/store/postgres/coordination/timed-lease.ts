// A lease that has to be renewed, where no lock of a session says who is alive. Two clocks judge it, and neither is compared with the other:
// others take a process for dead once its row has expired by the clock of the database; the process itself stops earlier, by how much time
// has passed for it since it asked for the last renewal that it was granted. So one that was stopped, or cut off, starts nothing.
import pg from 'pg'
import type { Logger } from '../../../lib/log.ts'
import { connectionConfig } from '../pool.ts'
import type { Lease } from './coordination.ts'
import { type Moment, moment, since } from './moment.ts'

/** For how long a renewal is good, by the clock of the database: who is dead is noticed after it. */
export const LEASE_MS = 15_000
/** For how much less the process itself believes in it: clocks of one database that disagree, one that is set, one that runs faster. */
const MARGIN_MS = 5000
const RENEW_MS = 3000
/** A renewal that is not answered is given up before the next would be due. */
const PATIENCE_MS = 2500
const LIMIT = `SET statement_timeout = ${PATIENCE_MS}`

export const TIMED_LEASE_TABLE = 'process_leases'
// Who was taken for dead lists itself again; what it had under way is not its own any more, and every step of that asks.
const RENEW = `INSERT INTO ${TIMED_LEASE_TABLE} (boot_id, expires_at) VALUES ($1, clock_timestamp() + interval '${LEASE_MS} milliseconds')
  ON CONFLICT (boot_id) DO UPDATE SET expires_at = clock_timestamp() + interval '${LEASE_MS} milliseconds'`

/** Takes a lease on a connection of its own and renews it until it is closed. @throws the driver's error when the first time fails */
export async function holdTimedLease({
  url,
  bootId,
  log,
}: {
  url: string
  bootId: string
  log: Logger
}): Promise<Lease> {
  let client: pg.Client | undefined
  let renewed: Moment | undefined
  let isLost = false
  let isClosed = false
  let timer: NodeJS.Timeout | undefined
  let renewing: Promise<void> | undefined

  const isHeld = () => renewed !== undefined && since(renewed) < LEASE_MS - MARGIN_MS

  async function connect(patienceMs: number | undefined): Promise<pg.Client> {
    const fresh = new pg.Client({
      ...connectionConfig(url),
      application_name: 'agent-gateway lease',
      ...(patienceMs !== undefined && { connectionTimeoutMillis: patienceMs, query_timeout: patienceMs }),
    })
    // A connection that breaks is reported by the renewal that it breaks.
    fresh.on('error', () => {})
    try {
      await fresh.connect()
      if (patienceMs !== undefined) await fresh.query(LIMIT)
      return fresh
    } catch (thrown) {
      await fresh.end().catch(() => undefined)
      throw thrown
    }
  }
  /** @param patienceMs of each step. A start has none but the limits of every connection: nothing has begun, and nobody counts on an answer in time */
  async function renew(patienceMs?: number): Promise<void> {
    try {
      client ??= await connect(patienceMs)
      // The server begins to count when it has the request, which is later.
      const asked = moment()
      await client.query(within(patienceMs, RENEW))
      renewed = asked
      if (patienceMs === undefined) await client.query(LIMIT)
    } catch (thrown) {
      const broken = client
      client = undefined
      // Not waited for: a connection that says nothing would not say goodbye either.
      void broken?.end().catch(() => undefined)
      throw thrown
    }
  }
  // The driver's types do not know that a statement can have a limit of its own.
  const within = (patienceMs: number | undefined, text: string) =>
    ({ text, values: [bootId], query_timeout: patienceMs }) as pg.QueryConfig
  function noteLoss(): void {
    if (isLost || isHeld()) return
    isLost = true
    log.warn('the lease was lost: no attempts are started until it is held again')
  }
  function again(): void {
    timer = setTimeout(() => {
      noteLoss()
      renewing = renew(PATIENCE_MS)
        .then(() => {
          if (isLost) log.info('the lease is held again')
          isLost = false
        }, noteLoss)
        .finally(() => isClosed || again())
    }, RENEW_MS)
  }

  await renew()
  again()
  return {
    isHeld,
    async close() {
      isClosed = true
      clearTimeout(timer)
      await renewing
      await client
        ?.query(within(PATIENCE_MS, `DELETE FROM ${TIMED_LEASE_TABLE} WHERE boot_id = $1`))
        .catch(() => undefined)
      await client?.end()
    },
  }
}
