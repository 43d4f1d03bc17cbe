// A data directory that is being filled. The database is made under another name, which keeps a gateway from starting there, and gets its own by a
// rename once all is on disk: until then there is nothing.
import { existsSync } from 'node:fs'
import { open, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { makeDirectory } from '../make-directory.ts'
import type { Command, Row, SqlValue, Statement } from '../command.ts'
import { sqliteDialect } from '../dialects.ts'
import { migrate } from '../migrations.ts'
import { toSqlite } from '../sqlite/database.ts'
import { lockDirectory } from '../sqlite/lock.ts'
import { movedFile } from '../sqlite/moved.ts'
import { FULL as SQLITE_FULL, IO as SQLITE_IO, primaryCode, UNFINISHED_FILE } from '../sqlite/open-failure.ts'
import {
  DOCUMENT_COLUMNS,
  documentLine,
  isFileName,
  isKnownDocument,
  listDocumentFiles,
} from './file-documents.ts'
import { type RowSink, TransferFault } from './ports.ts'
import { decodeRow, linesOf } from './row-text.ts'
import { bytesOf, readSqliteRows, type SqliteRows } from './sqlite-rows.ts'

const CACHE_KIB = 64 * 1024

/** @throws {TransferFault} where the directory has data in it; {ConfigError} where a gateway runs there */
export async function openSqliteSink(dataDir: string, schemaVersion: number, now: number): Promise<RowSink> {
  makeDirectory(dataDir)
  const lock = lockDirectory(dataDir)
  const file = join(dataDir, UNFINISHED_FILE)
  let db: DatabaseSync
  let rows: SqliteRows
  try {
    await refuseData(dataDir)
    refuseMoved(dataDir)
    await removeUnfinished(dataDir)
    await (await open(file, 'wx', 0o600)).close()
    db = new DatabaseSync(file, { enableForeignKeyConstraints: false })
    // Nothing of it counts until it is renamed, and what was cut off is begun anew: no journal on disk, and one wait for the disk at the end.
    db.exec(`PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA temp_store = MEMORY`)
    db.exec(`PRAGMA cache_size = -${CACHE_KIB}; BEGIN`)
    drive(db, migrate(sqliteDialect, now, schemaVersion))
    rows = readSqliteRows(db)
  } catch (thrown) {
    lock.release()
    throw thrown
  }
  const documents = new Map<string, string>()
  const written: string[] = []
  let isCommitted = false
  let isOpen = true

  function insert(statement: StatementSync, cells: readonly SqlValue[], table: string): void {
    try {
      statement.run(...cells)
    } catch (thrown) {
      throw ofDisk(thrown, dataDir) ?? refused(table, thrown)
    }
  }

  function inWords<T>(work: () => T): T {
    try {
      return work()
    } catch (thrown) {
      throw ofDisk(thrown, dataDir) ?? thrown
    }
  }

  return {
    engine: 'sqlite',
    get schemaVersion() {
      return rows.schemaVersion
    },
    get size() {
      return { rows: rows.count() + documents.size, bytes: bytesOf(db) }
    },
    columnsOf: (table) => (table === 'documents' ? DOCUMENT_COLUMNS : rows.columnsOf(table)),
    async *rowsOf(table) {
      if (table !== 'documents') return yield* rows.rowsOf(table)
      for (const [name, json] of documents) yield documentLine(name, json)
    },
    query: async <R extends Row>(text: string) => db.prepare(text).all() as unknown as readonly R[],

    async load(table, columns, pieces) {
      if (table === 'documents') {
        for await (const piece of pieces)
          for (const line of linesOf(piece)) {
            const [json, name] = decodeRow(line.toString('utf8'), ['text', 'text'])
            if (typeof name !== 'string' || typeof json !== 'string' || !isFileName(name))
              throw new TransferFault('The backup names a document that cannot be a file. Is it one of ours?')
            if (!isKnownDocument(name) && existsSync(join(dataDir, `${name}.json`)))
              throw new TransferFault(
                `The backup holds ${name}.json, which is no document of a gateway, and ${dataDir} has a file of that name. Move yours elsewhere, and run this ` +
                  'again; nothing was kept.',
              )
            documents.set(name, json)
          }
        return
      }
      const kinds = rows.kindsOf(table)
      // Whatever is loaded is in every index at once (sqlite/write-behind.ts).
      const isListed = table === 'attempts'
      const names = isListed ? [...columns, 'listed'] : columns
      const values = [...columns.map(() => '?'), ...(isListed ? ['1'] : [])]
      const statement = db.prepare(`INSERT INTO ${table} (${names.join(', ')}) VALUES (${values.join(', ')})`)
      for await (const piece of pieces)
        for (const line of linesOf(piece)) {
          let cells: SqlValue[]
          try {
            cells = decodeRow(line.toString('utf8'), kinds)
          } catch (thrown) {
            throw refused(table, thrown)
          }
          insert(statement, cells, table)
        }
    },
    async replaceDocument(name, change) {
      documents.set(name, change(documents.get(name)))
    },
    run: async (command) => inWords(() => drive(db, command())),
    async upgrade(at) {
      inWords(() => drive(db, migrate(sqliteDialect, at)))
      rows = readSqliteRows(db)
    },
    async commit() {
      const [broken] = db.prepare('PRAGMA foreign_key_check').all() as { table: string }[]
      if (broken) throw refused(broken.table)
      inWords(() => db.exec('COMMIT'))
      const [verdict] = Object.values(db.prepare('PRAGMA quick_check(1)').get() ?? {})
      if (verdict !== 'ok')
        throw new TransferFault('What was written reads back damaged: the disk or its memory fails.')
      db.close()
      isOpen = false
      await sync(file)
      for (const [name, json] of documents) {
        written.push(name)
        await writeWhole(dataDir, `${name}.json`, json)
      }
      await rename(file, join(dataDir, 'gateway.db'))
      await sync(dataDir)
      isCommitted = true
    },
    async close() {
      if (isOpen) db.close()
      isOpen = false
      if (!isCommitted) {
        for (const name of written) await rm(join(dataDir, `${name}.json`), { force: true })
        await rm(file, { force: true })
      }
      lock.release()
    },
  }
}

/** A gateway would not start on what is restored here, and would name other data than this. */
function refuseMoved(dataDir: string): void {
  const file = movedFile(dataDir)
  if (existsSync(file))
    throw new TransferFault(
      `${file} says that the data of this directory was moved to PostgreSQL, or may have been: no gateway starts beside it. Set GATEWAY_DATA_DIR to a new directory ` +
        'and copy the key files there; or, if this backup is to take the place of that data, remove moved.json and run this again. Nothing was changed.',
    )
}

/** What a restore that was cut off left is made anew. */
async function removeUnfinished(dataDir: string): Promise<void> {
  const file = join(dataDir, UNFINISHED_FILE)
  if (!existsSync(file)) return
  for (const name of await listDocumentFiles(dataDir)) await rm(join(dataDir, `${name}.json`))
  // The last to go: it says that the rest is not whole.
  await rm(file)
}

/** Key files, locks, earlier backups and files of others may be there; nothing that a gateway has written may. */
async function refuseData(dataDir: string): Promise<void> {
  const names = await readdir(dataDir)
  const databases = names.filter((name) => /^gateway\.db(?:-wal|-shm|-journal)?$/.test(name))
  const documents = existsSync(join(dataDir, UNFINISHED_FILE)) ? [] : await listDocumentFiles(dataDir)
  const found = [...databases, ...documents.map((name) => `${name}.json`)]
  if (found.length > 0)
    throw new TransferFault(
      `${dataDir} is not empty: ${found.slice(0, 3).join(', ')}${found.length > 3 ? ' …' : ''}. A restore goes into a directory that holds the key ` +
        'files and no data of a gateway. Set GATEWAY_DATA_DIR to a new one and copy the key files there; nothing was changed.',
    )
}

const refused = (table: string, cause?: unknown) =>
  new TransferFault(
    `A row of ${table} does not fit its table: the file is not what the gateway wrote, or is of a release that this one does not know.`,
    { cause },
  )

/** In words, where it is the disk that fails. */
function ofDisk(thrown: unknown, dataDir: string): TransferFault | undefined {
  switch (primaryCode(thrown)) {
    case SQLITE_FULL:
      return new TransferFault(
        `There is no space left for ${dataDir}. Free some, or name another place; nothing was kept.`,
      )
    case SQLITE_IO:
      return new TransferFault(
        `${dataDir} cannot be read or written: its disk or file system fails. Look at the system's log; nothing was kept.`,
      )
    default:
      return undefined
  }
}

/** Runs a command on the connection, statement by statement. */
function drive<T>(db: DatabaseSync, command: Command<T>): T {
  const run = ({ text, values, once }: Statement): readonly Row[] => {
    if (once) {
      db.exec(text)
      return []
    }
    const { text: spelling, order } = toSqlite(text)
    const filled = order ? order.map((at) => values[at] ?? null) : values
    return db.prepare(spelling).all(...filled) as unknown as readonly Row[]
  }
  let step = command.next()
  while (!step.done) step = command.next(run(step.value))
  return step.value
}

async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function writeWhole(folder: string, name: string, text: string): Promise<void> {
  const aside = join(folder, `${name}.tmp`)
  const handle = await open(aside, 'w', 0o600)
  try {
    await handle.writeFile(text)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(aside, join(folder, name))
}
