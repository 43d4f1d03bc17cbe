// Rows of one SQLite connection as lines, for the source and the sink.
import type { DatabaseSync } from 'node:sqlite'
import type { Row, SqlValue } from '../command.ts'
import { LEDGER } from '../sqlite/write-behind.ts'
import { type ColumnKind, encodeValue } from './row-text.ts'
import { CARRIED_TABLES, carriedColumns } from './tables.ts'

/** Rows are handed on in pieces of about this many characters. */
const PIECE_LENGTH = 64 * 1024

const KINDS: Readonly<Record<string, ColumnKind>> = { TEXT: 'text', INTEGER: 'integer', BLOB: 'bytes' }

export interface SqliteRows {
  readonly schemaVersion: number
  readonly columnsOf: (table: string) => readonly string[] | undefined
  readonly kindsOf: (table: string) => readonly ColumnKind[]
  readonly rowsOf: (table: string) => AsyncGenerator<Buffer>
  readonly query: <R extends Row>(text: string) => Promise<readonly R[]>
  readonly count: () => number
}

/** What the connection sees; of documents, which are no rows here, the caller knows. */
export function readSqliteRows(db: DatabaseSync): SqliteRows {
  const columns = new Map<string, readonly { name: string; kind: ColumnKind }[]>()
  for (const table of CARRIED_TABLES) {
    const found = db.prepare(`PRAGMA table_info(${table})`).all() as { name: string; type: string }[]
    const kinds = new Map(found.map(({ name, type }) => [name, KINDS[type] ?? 'text']))
    if (found.length > 0)
      columns.set(
        table,
        carriedColumns(table, [...kinds.keys()]).map((name) => ({ name, kind: kinds.get(name) ?? 'text' })),
      )
  }
  const isStaged =
    db.prepare(`SELECT 1 FROM sqlite_schema WHERE name = 'ledger_arrivals'`).get() !== undefined
  const placeOf = (table: string) => (table === 'ledger_entries' && isStaged ? LEDGER : table)
  const { version } = db.prepare('SELECT max(version) AS version FROM migrations').get() as {
    version: number
  }
  return {
    schemaVersion: version,
    columnsOf: (table) => columns.get(table)?.map(({ name }) => name),
    kindsOf: (table) => columns.get(table)?.map(({ kind }) => kind) ?? [],
    async *rowsOf(table) {
      const names = columns.get(table)?.map(({ name }) => name) ?? []
      const statement = db.prepare(`SELECT ${names.join(', ')} FROM ${placeOf(table)}`)
      statement.setReturnArrays(true)
      let piece = ''
      for (const cells of statement.iterate() as unknown as Iterable<SqlValue[]>) {
        for (let at = 0; at < cells.length; at++)
          piece += `${at === 0 ? '' : '\t'}${encodeValue(cells[at] ?? null)}`
        piece += '\n'
        if (piece.length < PIECE_LENGTH) continue
        yield Buffer.from(piece)
        piece = ''
      }
      if (piece !== '') yield Buffer.from(piece)
    },
    query: async <R extends Row>(text: string) => db.prepare(text).all() as unknown as readonly R[],
    count: () =>
      [...columns.keys()].reduce((sum, table) => {
        const { rows } = db.prepare(`SELECT count(*) AS rows FROM ${placeOf(table)}`).get() as {
          rows: number
        }
        return sum + rows
      }, 0),
  }
}

export const bytesOf = (db: DatabaseSync): number =>
  ['page_count', 'page_size']
    .map((name) => Number(Object.values(db.prepare(`PRAGMA ${name}`).get() ?? {})[0]))
    .reduce((product, factor) => product * factor, 1)
