// One SQLite connection: opened durable, statements prepared once, commands driven synchronously.
import { statSync } from 'node:fs'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import type { Command, Row, SqlValue, Statement } from '../command.ts'
import { createPrivate } from './private-files.ts'

export interface SqliteDatabase {
  readonly exec: (text: string) => void
  /** The write lock is taken at once. */
  readonly begin: () => void
  /** Everything written since `begin` is on disk when this returns. */
  readonly commit: () => void
  /** Undoes what `begin` began, if it is still open: SQLite ends some transactions on its own. */
  readonly rollback: () => void
  /** Runs it while SQLite overwrites with zeros what is moved or removed, whole pages and parts of them. */
  readonly overwriting: <T>(run: () => T) => T
  /**
   * Empties the log of writes, which still holds pages as they were. Whoever reads the file meanwhile, such as a backup, is not
   * waited for long.
   */
  readonly emptyLog: () => void
  /** Whether the file lacks pages that it says it has; false while the log of writes holds any. */
  readonly isCut: (file: string) => boolean
  readonly drive: <T>(command: Command<T>) => T
  readonly close: () => void
}

interface Prepared {
  readonly statement: StatementSync
  readonly names: readonly string[]
  readonly order: readonly number[] | undefined
}

// A backup tool may hold the file for a while; another gateway is refused before it gets here.
const BUSY_TIMEOUT_MS = 5000
/** Where a reader stands in the way, the log is emptied by the next checkpoint instead. */
const WIPE_TIMEOUT_MS = 200
const READ_CACHE_KIB = 8 * 1024
/** Many times what a group of commits changes. The rest is in the system's cache, so that more here was only memory. */
const WRITE_CACHE_KIB = 4 * 1024
const WAL_LIMIT_BYTES = 64 * 1024 * 1024
/** 16 MiB of WAL between checkpoints: pages that every group changes are copied back once, not every fourth group. */
const CHECKPOINT_PAGES = 4000

const BEGIN: Statement = { text: 'BEGIN IMMEDIATE', values: [] }
const COMMIT: Statement = { text: 'COMMIT', values: [] }
const NOTHING: readonly Row[] = []

/** @throws {Error} when the file cannot be opened with the durability that is promised */
export function openDatabase(file: string, options: { readOnly?: boolean } = {}): SqliteDatabase {
  if (!options.readOnly) createPrivate(file)
  const db = new DatabaseSync(file, { readOnly: options.readOnly ?? false, timeout: BUSY_TIMEOUT_MS })
  db.exec(`PRAGMA cache_size = -${options.readOnly ? READ_CACHE_KIB : WRITE_CACHE_KIB}`)
  if (!options.readOnly) {
    db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON')
    db.exec(`PRAGMA journal_size_limit = ${WAL_LIMIT_BYTES}; PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`)
    // The journal of savepoints and statements stays in memory; by default it is a file on disk.
    db.exec('PRAGMA temp_store = MEMORY')
    // Both are asserted because an answer means "on disk": some file systems refuse WAL, some builds default to less.
    expectPragma(db, 'journal_mode', 'wal')
    expectPragma(db, 'synchronous', 2)
  }

  const prepared = new Map<string, Prepared>()
  function run({ text, values, once }: Statement): readonly Row[] {
    if (once) {
      db.exec(text)
      return []
    }
    let known = prepared.get(text)
    if (!known) {
      const { text: spelling, order } = toSqlite(text)
      const statement = db.prepare(spelling)
      // Rows are read as arrays: node:sqlite gives each object a hidden class of its own, slow to make and slow to read.
      statement.setReturnArrays(true)
      const names = statement.columns().map(({ name }) => name)
      prepared.set(text, (known = { statement, names, order }))
    }
    const { statement, names, order } = known
    const rows = statement.all(...(order ? inOrder(values, order) : values)) as unknown as SqlValue[][]
    return rows.length === 0 ? NOTHING : rows.map((cells) => toRow(names, cells))
  }
  function drive<T>(command: Command<T>): T {
    let step = command.next()
    while (!step.done) step = command.next(run(step.value))
    return step.value
  }
  return {
    exec: (text) => db.exec(text),
    begin: () => void run(BEGIN),
    commit: () => void run(COMMIT),
    rollback() {
      if (db.isTransaction) db.exec('ROLLBACK')
    },
    overwriting(run) {
      db.exec('PRAGMA secure_delete = ON')
      try {
        return run()
      } finally {
        db.exec('PRAGMA secure_delete = OFF')
      }
    },
    emptyLog() {
      db.exec(`PRAGMA busy_timeout = ${WIPE_TIMEOUT_MS}`)
      db.exec(`PRAGMA wal_checkpoint(TRUNCATE); PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`)
    },
    isCut(path) {
      if (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size) return false
      const pragma = (name: string) => Number(Object.values(db.prepare(`PRAGMA ${name}`).get() ?? {})[0])
      return statSync(path).size < pragma('page_count') * pragma('page_size')
    },
    drive,
    close() {
      prepared.clear()
      db.close()
    },
  }
}

/**
 * Translates a statement to SQLite, with placeholders without numbers, since Node 22.19 to 24.0 cannot fill numbered ones by
 * position. Row locks go: they have no meaning where there is one writer.
 * @returns order: which value each placeholder takes; undefined where they stand in the order of the values, each once
 */
export function toSqlite(text: string): { text: string; order: readonly number[] | undefined } {
  const order: number[] = []
  const spelling = text
    .replace(/\$(\d+)/g, (_, number: string) => {
      order.push(Number(number) - 1)
      return '?'
    })
    .replace(/\bFOR (SHARE|UPDATE|NO KEY UPDATE)( SKIP LOCKED)?\b/g, '')
  return { text: spelling, order: order.every((at, i) => at === i) ? undefined : order }
}

function toRow(names: readonly string[], cells: readonly SqlValue[]): Row {
  const row: Record<string, SqlValue> = {}
  let i = 0
  for (const name of names) row[name] = cells[i++] ?? null
  return row
}

function inOrder(values: readonly SqlValue[], order: readonly number[]): SqlValue[] {
  const ordered: SqlValue[] = []
  for (const at of order) ordered.push(values[at] ?? null)
  return ordered
}

function expectPragma(db: DatabaseSync, name: string, expected: string | number): void {
  const found = Object.values(db.prepare(`PRAGMA ${name}`).get() ?? {})[0]
  if (found !== expected)
    throw new Error(
      `SQLite runs with ${name}=${String(found)} where ${expected} is needed for durable answers.`,
    )
}
