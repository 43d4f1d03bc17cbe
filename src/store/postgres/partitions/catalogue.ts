// What the server says about pieces of tables.
import { timeOfId } from '../../../lib/ids.ts'
import type { Millis } from '../../model.ts'
import { LAYOUTS, PARTITIONED_TABLES, type PartitionedTable, type Period, periodOf } from './layout.ts'
import { rowsOf, type Session } from './session.ts'

export interface Partition {
  readonly name: string
  /** Undefined of the first one, with what was there when the table was divided. */
  readonly period: Period | undefined
  /** Rows of ids from this moment on; undefined where there is no first moment. */
  readonly from: Millis | undefined
  /** Rows of ids before this moment. */
  readonly to: Millis
  /** The server's own estimate; -1 where it has not looked yet. */
  readonly rows: number
  readonly bytes: number
  /** Taking it out was begun and cut off: its rows are not found in the table any more, and it is no table of its own yet. */
  readonly isHalfDetached: boolean
}

/** Pieces of a table in order of time. */
export interface Division {
  readonly table: PartitionedTable
  readonly partitions: readonly Partition[]
}

// Names are looked up as a statement of the gateway would, in the search path.
const PARTITIONED = `SELECT c.relname AS name FROM pg_class c
  WHERE c.relkind = 'p' AND c.relname = ANY ($1) AND pg_table_is_visible(c.oid)`
const PARTITIONS = `SELECT c.relname AS name, pg_get_expr(c.relpartbound, c.oid) AS bound, c.reltuples::float8 AS rows,
    pg_total_relation_size(c.oid)::float8 AS bytes, i.inhdetachpending AS "isHalfDetached"
  FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
  WHERE i.inhparent = to_regclass($1)`
/** The column that says so came with PostgreSQL 14. */
const PARTITIONS_13 = PARTITIONS.replace('i.inhdetachpending', 'FALSE')

const FROM = /FROM \('([^']+)'\)/
const TO = /TO \('([^']+)'\)/

export async function serverVersion(session: Session): Promise<number> {
  const [row] = await rowsOf<{ version: string }>(
    session,
    `SELECT current_setting('server_version_num') AS version`,
  )
  return Number(row?.version)
}

/** @returns the tables that are kept in pieces */
export async function findDivisions(session: Session): Promise<readonly Division[]> {
  const names = new Set(
    (await rowsOf<{ name: string }>(session, PARTITIONED, [...PARTITIONED_TABLES])).map(({ name }) => name),
  )
  if (names.size === 0) return []
  const text = (await serverVersion(session)) >= 140_000 ? PARTITIONS : PARTITIONS_13
  const divisions: Division[] = []
  for (const { table } of Object.values(LAYOUTS)) {
    if (!names.has(table)) continue
    const rows = await rowsOf<{
      name: string
      bound: string
      rows: number
      bytes: number
      isHalfDetached: boolean
    }>(session, text, table)
    const partitions = rows.flatMap(({ name, bound, ...row }) => {
      const to = timeOfId(TO.exec(bound)?.[1] ?? '')
      const from = timeOfId(FROM.exec(bound)?.[1] ?? '')
      // One without an end was made by somebody else, and no row of ours needs another beside it.
      return to === undefined ? [] : [{ name, period: periodOf(name), from, to, ...row }]
    })
    divisions.push({ table, partitions: partitions.toSorted((a, b) => a.to - b.to) })
  }
  return divisions
}
