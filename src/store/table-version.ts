// Which version the tables have, and whether they could be brought further. Nothing is written: SQLite is opened to read, PostgreSQL asked in
// a transaction that may only read.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import type pg from 'pg'
import { ConfigError } from '../core/errors.ts'
import type { StoreConfig } from './index.ts'
import { IS_UNFINISHED, UNFINISHED } from './postgres/unfinished.ts'
import { refuseMoved } from './sqlite/moved.ts'
import { refuseUnfinished } from './sqlite/open-failure.ts'
import { TABLE_TERMS } from './table-terms.ts'

export interface FoundTables {
  readonly engine: 'sqlite' | 'postgres'
  /** For a person: the file, or the server's version. No address, which may hold a password. */
  readonly place: string
  /** 0: there are none. */
  readonly reached: number
  /** The oldest version that a release may know and use them; undefined where they do not say. */
  readonly usableFrom: number | undefined
  /** Why no gateway starts here, whatever its release, and what to do. */
  readonly undecided: string | undefined
  /** What stands in the way of a migration, in a sentence. */
  readonly obstacle: string | undefined
  /** Why releases that know no other locks than advisory ones do not see who is alive, as the end of a sentence; undefined: they do, or serve it no more. */
  readonly lockFault: string | undefined
}

const TIMEOUT_MS = 5_000
const OLDEST_POSTGRES = 130_000
const UNOBSTRUCTED = { obstacle: undefined, lockFault: undefined }

/** @throws whatever the engine says where it cannot be read */
export const readTableVersion = (config: StoreConfig): Promise<FoundTables> =>
  config.databaseUrl === undefined
    ? readSqlite(config.dataDir)
    : readPostgres(config.databaseDirectUrl ?? config.databaseUrl)

async function readSqlite(dataDir: string): Promise<FoundTables> {
  const place = join(dataDir, 'gateway.db')
  const undecided = findUndecided(dataDir)
  if (!existsSync(place))
    return { engine: 'sqlite', place, reached: 0, usableFrom: undefined, undecided, ...UNOBSTRUCTED }
  const { DatabaseSync } = await import('node:sqlite')
  const db = new DatabaseSync(addressOf(place), { readOnly: true, timeout: TIMEOUT_MS })
  try {
    return { engine: 'sqlite', place, ...termsIn(db), undecided, ...UNOBSTRUCTED }
  } finally {
    db.close()
  }
}

export interface FoundTerms {
  readonly reached: number
  readonly usableFrom: number | undefined
}
const toTerms = (row: { reached?: unknown; usableFrom?: unknown } | undefined): FoundTerms => ({
  reached: Number(row?.reached ?? 0),
  usableFrom: row?.usableFrom == null ? undefined : Number(row.usableFrom),
})
const REACHED = 'SELECT max(version) AS reached FROM migrations'

/** @param db opened to read; a release before has no terms in it */
export function termsIn(db: DatabaseSync): FoundTerms {
  const hasTerms = db.prepare(`SELECT 1 FROM sqlite_schema WHERE name = 'table_terms'`).get() !== undefined
  return toTerms(db.prepare(hasTerms ? TABLE_TERMS : REACHED).get())
}
/** @param client of a database that has a table of migrations */
export async function termsOf(client: pg.ClientBase): Promise<FoundTerms> {
  const { rows } = await client.query<{ found: boolean }>(
    `SELECT to_regclass('table_terms') IS NOT NULL AS found`,
  )
  return toTerms((await client.query(rows[0]?.found ? TABLE_TERMS : REACHED)).rows[0])
}

/** A restore that did not end, or data that is elsewhere. */
export function findUndecided(dataDir: string): string | undefined {
  try {
    refuseUnfinished(dataDir)
    refuseMoved(dataDir)
    return undefined
  } catch (thrown) {
    if (!(thrown instanceof ConfigError)) throw thrown
    return thrown.problems.join('; ')
  }
}

/**
 * A reader of SQLite makes a log of writes and its index beside the file and leaves them there, and cannot read where it may not make them. Where no log is,
 * nobody has the database open and nothing is missing in it: then it is read as if it never changed.
 */
function addressOf(file: string): URL {
  const url = pathToFileURL(file)
  if (!existsSync(`${file}-wal`)) url.searchParams.set('immutable', '1')
  return url
}

async function readPostgres(url: string): Promise<FoundTables> {
  const { Client } = (await import('pg')).default
  const { findLocks } = await import('./postgres/coordination/inspect.ts')
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: TIMEOUT_MS,
    query_timeout: TIMEOUT_MS,
  })
  // A connection that breaks later is reported by the query it breaks.
  client.on('error', () => {})
  try {
    await client.connect()
    await client.query('BEGIN TRANSACTION READ ONLY')
    const { rows } = await client.query<{
      number: string
      name: string
      migrated: boolean
      unfinished: boolean
      owner: string | null
      role: string
    }>(
      `SELECT current_setting('server_version_num') AS number, current_setting('server_version') AS name,
              to_regclass('migrations') IS NOT NULL AS migrated, ${IS_UNFINISHED} AS unfinished, current_user AS role,
              (SELECT pg_get_userbyid(relowner) FROM pg_class
                WHERE oid = to_regclass('migrations') AND NOT pg_has_role(relowner, 'USAGE')) AS owner`,
    )
    const [{ number = '0', name = '', migrated = false, unfinished = false, owner = null, role = '' } = {}] =
      rows
    const terms = migrated ? await termsOf(client) : { reached: 0, usableFrom: undefined }
    await client.query('ROLLBACK')
    const locks = migrated ? await findLocks(url) : undefined
    const obstacle =
      Number(number) < OLDEST_POSTGRES
        ? `PostgreSQL ${name} is too old: 13 or newer is needed.`
        : owner !== null
          ? `The tables belong to ${owner}: start the gateway as that role, or grant it to ${role}. Another cannot change them.`
          : undefined
    return {
      engine: 'postgres',
      place: `PostgreSQL ${name}`,
      ...terms,
      undecided: unfinished ? UNFINISHED : undefined,
      obstacle,
      lockFault: locks?.usesRows === false ? locks.fault : undefined,
    }
  } finally {
    await client.end().catch(() => {})
  }
}
