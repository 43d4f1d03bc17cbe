// The rows of a data directory as they are committed at one moment. A transaction that only reads holds that moment: the gateway goes on writing, and
// what it writes waits in the log of writes until the last row is read.
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { DOCUMENT_COLUMNS, listDocumentFiles, readDocumentRows } from './file-documents.ts'
import { type RowSource, TransferFault } from './ports.ts'
import { refuseOtherVersion } from './tables.ts'
import { bytesOf, readSqliteRows } from './sqlite-rows.ts'

const BUSY_TIMEOUT_MS = 5000

/** @throws {TransferFault} where there is no database in the directory, or it cannot be read */
export async function openSqliteSource(dataDir: string): Promise<RowSource> {
  const file = join(dataDir, 'gateway.db')
  if (!statSync(file, { throwIfNoEntry: false })?.size)
    throw new TransferFault(
      `There is no database in ${dataDir}. Set GATEWAY_DATA_DIR (or GATEWAY_DATABASE_URL) as the gateway is started with.`,
    )
  let db: DatabaseSync | undefined
  try {
    db = new DatabaseSync(file, { readOnly: true, timeout: BUSY_TIMEOUT_MS })
    // The first read fixes the moment.
    db.exec('BEGIN; SELECT count(*) FROM migrations')
    const held = db
    const rows = readSqliteRows(held)
    refuseOtherVersion(rows.schemaVersion)
    const documents = await listDocumentFiles(dataDir)
    return {
      engine: 'sqlite',
      schemaVersion: rows.schemaVersion,
      size: { rows: rows.count() + documents.length, bytes: bytesOf(held) },
      columnsOf: (table) => (table === 'documents' ? DOCUMENT_COLUMNS : rows.columnsOf(table)),
      rowsOf: (table) => (table === 'documents' ? readDocumentRows(dataDir) : rows.rowsOf(table)),
      query: rows.query,
      close: async () => held.close(),
    }
  } catch (thrown) {
    db?.close()
    if (thrown instanceof TransferFault) throw thrown
    throw new TransferFault(
      `${file} cannot be read as a database of this gateway. \`agent-gateway doctor\` looks at all of it.`,
      { cause: thrown },
    )
  }
}
