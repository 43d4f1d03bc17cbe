// The rows of a PostgreSQL database as they are committed at one moment: all tables in one transaction that keeps its snapshot.
import type { DatabaseAddress } from '../postgres/pool.ts'
import { type RowSource, TransferFault } from './ports.ts'
import {
  connectForTransfer,
  copyOut,
  ofServer,
  queryRows,
  readColumns,
  readSize,
  readVersion,
  WITHOUT_LIMITS,
} from './postgres-rows.ts'
import { refuseOtherVersion } from './tables.ts'

/** @throws {TransferFault} where the server cannot be used, or the database is none of a gateway */
export async function openPostgresSource(address: DatabaseAddress): Promise<RowSource> {
  const client = await connectForTransfer(address)
  try {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
    await client.query(WITHOUT_LIMITS)
    const schemaVersion = await readVersion(client)
    if (schemaVersion === 0)
      throw new TransferFault(
        'There is no data of a gateway in the database that GATEWAY_DATABASE_URL names. Is it the right one?',
      )
    refuseOtherVersion(schemaVersion)
    const columns = await readColumns(client)
    const size = await readSize(client)
    return {
      engine: 'postgres',
      schemaVersion,
      size,
      columnsOf: (table) => columns.get(table),
      rowsOf: (table) => copyOut(client, table, columns.get(table) ?? []),
      query: (text) => queryRows(client, text),
      close: () => client.end(),
    }
  } catch (thrown) {
    await client.end().catch(() => {})
    throw ofServer(thrown)
  }
}
