// Makes the pieces that the next weeks need, long before they are needed. Every process looks, one of them does it.
import type { Logger } from '../../../lib/log.ts'
import type { Millis } from '../../model.ts'
import { type Division, findDivisions } from './catalogue.ts'
import {
  boundAt,
  guardOf,
  type Layout,
  LAYOUTS,
  missingPartitions,
  PARTITIONED_TABLES,
  type Period,
} from './layout.ts'
import { givingWay, rowsOf, type Session } from './session.ts'

/**
 * Adds the pieces that are missing ahead of `now`, and takes away what an interrupted division left in the way of rows to come.
 * @param parts.tryPartitions says whether nobody else does so, or divides a table, until the transaction ends
 */
export async function keepPartitions(
  session: Session,
  { now, tryPartitions, log }: { now: Millis; tryPartitions: string; log: Pick<Logger, 'info'> },
): Promise<void> {
  const missing = (await findDivisions(session)).filter((division) => missingOf(division, now).length > 0)
  const guarded = await findGuards(session)
  if (missing.length === 0 && guarded.length === 0) return
  await givingWay(session, async () => {
    const [lock] = await rowsOf<{ isOurs: boolean }>(session, tryPartitions)
    if (lock?.isOurs !== true) return
    for (const table of guarded) {
      await session.query(`ALTER TABLE ${table} DROP CONSTRAINT IF EXISTS ${guardOf(table)}`)
      log.info({ table }, 'an interrupted division of a table was taken back; divide it again')
    }
    // Somebody else may have made them since they were looked for.
    for (const division of await findDivisions(session))
      for (const { name, start, end } of missingOf(division, now)) {
        await addPartition(session, LAYOUTS[division.table], name, start, end)
        log.info({ partition: name }, 'a partition was added')
      }
  })
}

function missingOf({ table, partitions }: Division, now: Millis) {
  const last = partitions.at(-1)
  return last?.period === undefined ? [] : missingPartitions(table, last.period, last.to, now)
}

/** Attaching asks for less than making it in its place: calls go on writing meanwhile. */
export async function addPartition(
  session: Session,
  layout: Layout,
  name: string,
  start: Millis,
  end: Millis,
): Promise<void> {
  const { table } = layout
  await session.query(`CREATE TABLE ${name} (LIKE ${table} INCLUDING DEFAULTS INCLUDING CONSTRAINTS)`)
  await session.query(
    `ALTER TABLE ${table} ATTACH PARTITION ${name} FOR VALUES FROM ('${boundAt(layout, start)}') TO ('${boundAt(layout, end)}')`,
  )
}

/** Adds all that are missing behind `from`, in the caller's transaction. */
export async function addPartitions(
  session: Session,
  layout: Layout,
  period: Period,
  from: Millis,
  now: Millis,
): Promise<void> {
  for (const { name, start, end } of missingPartitions(layout.table, period, from, now))
    await addPartition(session, layout, name, start, end)
}

async function findGuards(session: Session) {
  const found = await rowsOf<{ name: string }>(
    session,
    `SELECT c.relname AS name FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid
     WHERE k.conname = ANY ($1) AND pg_table_is_visible(c.oid)`,
    PARTITIONED_TABLES.map(guardOf),
  )
  return PARTITIONED_TABLES.filter((table) => found.some(({ name }) => name === table))
}
