// Divides a table by time while calls go on. What takes long (looking through all rows, building an index) keeps nobody waiting; the change
// itself takes the table for a moment. An interruption at any place leaves a table that works, and the division can be begun again.
import { GatewayError } from '../../../core/errors.ts'
import type { Millis } from '../../model.ts'
import { TABLE_VERSION } from '../../migrations.ts'
import { findDivisions, serverVersion } from './catalogue.ts'
import { addPartitions } from './keep.ts'
import {
  boundAt,
  FIRST_BOUND_AHEAD_MS,
  firstPartitionName,
  guardOf,
  type Layout,
  LAYOUTS,
  type PartitionedTable,
  type Period,
  periodEnd,
} from './layout.ts'
import { copyReferences, DROP_TRIGGER, MAKE_TRIGGER, makeTable } from './references.ts'
import { takePartitions } from './exclusive.ts'
import { givingWay, type OwnSession, rowsOf, type Session } from './session.ts'

/** Told before each step, which may take long. */
export type Say = (step: string) => void

/**
 * Divides a table: what is in it becomes its first piece, which ends at the beginning of a period to come.
 * @param session a session of its own, past any pooler; `openSession` opens another, where a lock needs one
 * @returns the name of the first piece; undefined when the table is in pieces already
 * @throws {GatewayError} state_conflict, with what to do
 */
export async function divideTable(
  session: Session,
  {
    table,
    period,
    now,
    say,
    openSession,
  }: {
    table: PartitionedTable
    period: Period
    now: Millis
    say: Say
    openSession: () => Promise<OwnSession>
  },
): Promise<string | undefined> {
  await requireFit(session)
  const giveBack = await takePartitions(session, openSession)
  if (giveBack === undefined)
    throw new GatewayError(
      'state_conflict',
      'Somebody else divides a table of this database. Try again when it is done.',
    )
  try {
    if ((await findDivisions(session)).some((division) => division.table === table)) return undefined
    return await divide(session, LAYOUTS[table], period, now, say)
  } finally {
    await giveBack()
  }
}

async function requireFit(session: Session): Promise<void> {
  const version = await serverVersion(session)
  if (!(version >= 130_000))
    throw new GatewayError('state_conflict', 'Tables are divided on PostgreSQL 13 and newer alone.')
  const [found] = await rowsOf<{ migrations: string | null }>(
    session,
    `SELECT to_regclass('migrations') AS migrations`,
  )
  const [reached] =
    found?.migrations == null
      ? []
      : await rowsOf<{ version: number }>(session, 'SELECT max(version)::int AS version FROM migrations')
  if (reached?.version !== TABLE_VERSION)
    throw new GatewayError(
      'state_conflict',
      `The database has table version ${reached?.version ?? 0}, this release knows ${TABLE_VERSION}: start a gateway of this release on it first.`,
    )
}

async function divide(
  session: Session,
  layout: Layout,
  period: Period,
  now: Millis,
  say: Say,
): Promise<string> {
  const { table, key } = layout
  const guard = guardOf(table)
  const bound = periodEnd(period, now + FIRST_BOUND_AHEAD_MS)
  const first = firstPartitionName(table, bound)
  try {
    say('keeping apart what is unique')
    await prepare(session, layout)
    // The server need not look through the rows of the first piece while it has the table if they are known to be of it.
    say('looking through all rows; calls go on')
    await givingWay(session, async () => {
      await session.query(`ALTER TABLE ${table} DROP CONSTRAINT IF EXISTS ${guard}`)
      await session.query(
        `ALTER TABLE ${table} ADD CONSTRAINT ${guard} CHECK (${key} < '${boundAt(layout, bound)}') NOT VALID`,
      )
    })
    await session.query(`ALTER TABLE ${table} VALIDATE CONSTRAINT ${guard}`)
    say('dividing the table')
    await givingWay(session, () => swap(session, layout, { period, now, bound, first, guard }))
  } catch (thrown) {
    // Rows of the next period would be refused by it. If this connection is lost, the gateway takes it away (keep.ts).
    const drop = () => session.query(`ALTER TABLE ${table} DROP CONSTRAINT IF EXISTS ${guard}`)
    await givingWay(session, drop).catch(() => undefined)
    throw thrown
  }
  say('taking its measure')
  await session.query(`ANALYZE ${table}`)
  return first
}

async function prepare(session: Session, { table, replaced }: Layout): Promise<void> {
  if (table !== 'ledger_entries') return
  await givingWay(session, async () => {
    await makeTable(session)
    await session.query(DROP_TRIGGER)
    await session.query(MAKE_TRIGGER)
  })
  await copyReferences(session)
  for (const { name, on } of replaced) {
    // One that was interrupted is there and of no use.
    await session.query(`DROP INDEX CONCURRENTLY IF EXISTS ${name}`)
    await session.query(`CREATE INDEX CONCURRENTLY ${name} ON ${table} ${on}`)
  }
}

interface Swap {
  readonly period: Period
  readonly now: Millis
  readonly bound: Millis
  readonly first: string
  readonly guard: string
}

/** The old table gets another name and becomes a piece of a new one that has its name. */
async function swap(
  session: Session,
  layout: Layout,
  { period, now, bound, first, guard }: Swap,
): Promise<void> {
  const { table, key, indexes, replaced } = layout
  await session.query(`LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`)
  if (table === 'ledger_entries') await session.query(DROP_TRIGGER)
  for (const { unique } of replaced) await session.query(`DROP INDEX ${unique}`)
  await session.query(`ALTER TABLE ${table} RENAME TO ${first}`)
  const suffix = first.slice(table.length)
  for (const { name } of await rowsOf<{ name: string }>(session, INDEXES, first))
    await session.query(`ALTER INDEX ${name} RENAME TO ${name}${suffix}`)
  await session.query(
    `CREATE TABLE ${table} (LIKE ${first} INCLUDING DEFAULTS INCLUDING CONSTRAINTS) PARTITION BY RANGE (${key})`,
  )
  await session.query(`ALTER TABLE ${table} DROP CONSTRAINT ${guard}`)
  for (const text of indexes) await session.query(text)
  for (const { name, on } of replaced) await session.query(`CREATE INDEX ${name} ON ${table} ${on}`)
  await session.query(
    `ALTER TABLE ${table} ATTACH PARTITION ${first} FOR VALUES FROM (MINVALUE) TO ('${boundAt(layout, bound)}')`,
  )
  await session.query(`ALTER TABLE ${first} DROP CONSTRAINT ${guard}`)
  if (table === 'ledger_entries') await session.query(MAKE_TRIGGER)
  await addPartitions(session, layout, period, bound, now)
  // What the operator allowed other roles on the table holds for the new one.
  for (const { grant } of await rowsOf<{ grant: string }>(session, GRANTS, first, table))
    await session.query(grant)
}

const INDEXES = `SELECT c.relname AS name FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE i.indrelid = to_regclass($1)`
const GRANTS = `SELECT format('GRANT %s ON %I TO %s%s', a.privilege_type, $2::text,
    CASE WHEN a.grantee = 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END,
    CASE WHEN a.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END) AS "grant"
  FROM pg_class c, aclexplode(c.relacl) a WHERE c.oid = to_regclass($1) AND a.grantee <> c.relowner`
