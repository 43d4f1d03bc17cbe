// An empty PostgreSQL database that is being filled, in one transaction: a crash leaves it empty. A table that is committed before says that data is on
// its way, so that no gateway begins an installation of its own there meanwhile.
import type pg from 'pg'
import type { Command, Row } from '../command.ts'
import { postgresDialect } from '../dialects.ts'
import { migrate } from '../migrations.ts'
import { LOCK_TABLE, lockMigrations, prepareMigrationLock } from '../postgres/coordination/index.ts'
import type { DatabaseAddress } from '../postgres/pool.ts'
import { UNFINISHED_TABLE } from '../postgres/unfinished.ts'
import { type RowSink, TransferFault } from './ports.ts'
import {
  connectForTransfer,
  copyIn,
  copyOut,
  ofServer,
  queryRows,
  readColumns,
  readSize,
  readVersion,
  WITHOUT_LIMITS,
} from './postgres-rows.ts'

/** @throws {TransferFault} where the server cannot be used, or the database has something in it */
export async function openPostgresSink(
  address: DatabaseAddress,
  schemaVersion: number,
  now: number,
): Promise<RowSink> {
  const client = await connectForTransfer(address)
  const drive = async <T>(command: Command<T>): Promise<T> => {
    let step = command.next()
    while (!step.done) {
      const { text, values } = step.value
      const { rows } = await client.query<Row>({ text, values: [...values] })
      step = command.next(rows)
    }
    return step.value
  }
  let version = schemaVersion
  let isDecided = false
  let columns: ReadonlyMap<string, readonly string[]>
  let size = { rows: 0, bytes: 0 }
  try {
    const fault = await prepareMigrationLock(address.directUrl ?? address.url)
    const lock = () => drive(lockMigrations(fault))
    await announce(client, lock)
    await client.query('BEGIN')
    await client.query(WITHOUT_LIMITS)
    await lock()
    await refuseData(client)
    await drive(migrate(postgresDialect, now, schemaVersion))
    columns = await readColumns(client)
  } catch (thrown) {
    await client.end().catch(() => {})
    throw ofServer(thrown)
  }
  return {
    engine: 'postgres',
    get schemaVersion() {
      return version
    },
    get size() {
      return size
    },
    columnsOf: (table) => columns.get(table),
    rowsOf: (table) => copyOut(client, table, columns.get(table) ?? []),
    query: (text) => queryRows(client, text),
    async load(table, names, pieces) {
      // Revisions of documents begin anew.
      const isDocuments = table === 'documents'
      if (isDocuments) await client.query('ALTER TABLE documents ALTER COLUMN revision SET DEFAULT 1')
      await copyIn(client, table, names, pieces)
      if (isDocuments) await client.query('ALTER TABLE documents ALTER COLUMN revision DROP DEFAULT')
    },
    async replaceDocument(name, change) {
      try {
        const { rows } = await client.query<{ json: string }>('SELECT json FROM documents WHERE name = $1', [
          name,
        ])
        await client.query(
          `INSERT INTO documents (name, revision, json) VALUES ($1, 1, $2) ON CONFLICT (name) DO UPDATE SET json = $2`,
          [name, change(rows[0]?.json)],
        )
      } catch (thrown) {
        throw ofServer(thrown)
      }
    },
    async run(command) {
      try {
        return await drive(command())
      } catch (thrown) {
        throw ofServer(thrown)
      }
    },
    async upgrade(at) {
      try {
        // A table whose triggers wait for the end of the transaction cannot be altered.
        await client.query('SET CONSTRAINTS ALL IMMEDIATE')
        await drive(migrate(postgresDialect, at))
        await client.query('SET CONSTRAINTS ALL DEFERRED')
        version = await readVersion(client)
        columns = await readColumns(client)
      } catch (thrown) {
        throw ofServer(thrown)
      }
    },
    async commit() {
      try {
        await client.query('ANALYZE')
        size = await readSize(client)
        await client.query(`DROP TABLE ${UNFINISHED_TABLE}`)
        isDecided = true
        await client.query('COMMIT')
      } catch (thrown) {
        throw ofServer(thrown)
      }
    },
    async close() {
      // What ends in words leaves an empty database; what ends with the process leaves the mark.
      if (!isDecided) await client.query(`ROLLBACK; DROP TABLE IF EXISTS ${UNFINISHED_TABLE}`).catch(() => {})
      await client.end()
    },
  }
}

/** Says in the database that data is on its way. */
async function announce(client: pg.Client, lock: () => Promise<void>): Promise<void> {
  await client.query('BEGIN')
  await client.query(WITHOUT_LIMITS)
  await lock()
  await refuseData(client)
  await client.query(
    `CREATE TABLE IF NOT EXISTS ${UNFINISHED_TABLE} (begun_at TIMESTAMPTZ NOT NULL DEFAULT now())`,
  )
  await client.query('COMMIT')
}

async function refuseData(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relnamespace = current_schema()::regnamespace
       AND relkind IN ('r', 'p', 'v', 'm', 'f', 'S') AND relname NOT IN ($1, $2) ORDER BY relname LIMIT 4`,
    [UNFINISHED_TABLE, LOCK_TABLE],
  )
  if (rows.length === 0) return
  const names = rows.slice(0, 3).map(({ name }) => name)
  throw new TransferFault(
    `The database is not empty: ${names.join(', ')}${rows.length > 3 ? ' …' : ''}. Data goes into an empty database alone: make one (CREATE DATABASE) and ` +
      'name it in GATEWAY_DATABASE_URL; nothing was changed.',
  )
}
