// The carrying itself: rows from one place to the other, and what is compared before they count.
import type { StoreConfig } from '../index.ts'
import { carriedTablesOf, differingTables, type OnRows, readBackupFile, type Tallied } from './backup-file.ts'
import { type RowReader, type RowSink, type RowSource, TransferFault } from './ports.ts'
import { openSqliteSink } from './sqlite-sink.ts'
import { openSqliteSource } from './sqlite-source.ts'
import { createTallier, type Tally, tallied, tallyOf } from './tally.ts'

/** The rows of the configured database. @throws {TransferFault} */
export async function openSource(config: StoreConfig): Promise<RowSource> {
  if (config.databaseUrl === undefined) return openSqliteSource(config.dataDir)
  // Loaded on demand, as the driver is for a gateway.
  const { openPostgresSource } = await import('./postgres-source.ts')
  return openPostgresSource({ url: config.databaseUrl, directUrl: config.databaseDirectUrl })
}

/**
 * The configured database, which has to be empty.
 * @param schemaVersion of the rows that will be loaded
 * @throws {TransferFault}
 */
export async function openSink(config: StoreConfig, schemaVersion: number, now: number): Promise<RowSink> {
  if (config.databaseUrl === undefined) return openSqliteSink(config.dataDir, schemaVersion, now)
  const { openPostgresSink } = await import('./postgres-sink.ts')
  const address = { url: config.databaseUrl, directUrl: config.databaseDirectUrl }
  return openPostgresSink(address, schemaVersion, now)
}

/** Carries every table. @returns what was carried. @throws {TransferFault} */
export async function carry(source: RowSource, sink: RowSink, onRows: OnRows): Promise<Tallied> {
  const tables: Record<string, Tally> = {}
  let before = 0
  for (const table of carriedTablesOf(source)) {
    const tallier = createTallier()
    const columns = source.columnsOf(table) ?? []
    await loadTable(
      sink,
      table,
      columns,
      counted(tallied(source.rowsOf(table), tallier), tallier, before, onRows),
    )
    tables[table] = tallier.end()
    before += tallier.end().rows
  }
  return tables
}

/** The same from a file. @returns what the file says that it holds, which is what was read */
export async function carryFile(file: string, sink: RowSink, onRows: OnRows): Promise<Tallied> {
  let before = 0
  const { tables } = await readBackupFile(file, {
    async table(table, columns, pieces) {
      const tallier = createTallier()
      await loadTable(sink, table, columns, counted(tallied(pieces, tallier), tallier, before, onRows))
      before += tallier.end().rows
    },
  })
  return tables
}

async function* counted(
  pieces: AsyncIterable<Buffer>,
  tallier: { end(): Tally },
  before: number,
  onRows: OnRows,
): AsyncGenerator<Buffer> {
  for await (const piece of pieces) {
    yield piece
    onRows(before + tallier.end().rows)
  }
}

async function loadTable(
  sink: RowSink,
  table: string,
  columns: readonly string[],
  pieces: AsyncIterable<Buffer>,
): Promise<void> {
  const expected = sink.columnsOf(table)
  if (expected?.join() !== columns.join())
    throw new TransferFault(
      `The table ${table} has other columns here than where the rows come from. Use the release that wrote them.`,
    )
  await sink.load(table, columns, pieces)
}

/** Reads back what was loaded. @throws {TransferFault} naming the tables that differ */
export async function checkLoaded(sink: RowReader, expected: Tallied): Promise<void> {
  const loaded: Record<string, Tally> = {}
  for (const table of carriedTablesOf(sink)) loaded[table] = await tallyOf(sink.rowsOf(table))
  const differing = differingTables(expected, loaded)
  if (differing.length > 0)
    throw new TransferFault(
      `What was written reads back differently: ${differing.join(', ')}. Nothing was kept. Look at the disk, and run this again.`,
    )
}

const UNBALANCED = `SELECT a.id FROM accounts a
  LEFT JOIN (SELECT account, sum(amount) AS total FROM ledger_entries GROUP BY account) l ON l.account = a.id
  WHERE a.balance <> COALESCE(l.total, 0) ORDER BY a.id LIMIT 5`
const LEDGER_TOTAL = 'SELECT CAST(COALESCE(sum(amount), 0) AS BIGINT) AS total FROM ledger_entries'
const UNBALANCED_SELLERS = `SELECT b.account AS id FROM market_balances b
  LEFT JOIN (SELECT account, network, sum(amount) AS total FROM market_entries GROUP BY account, network) e
    ON e.account = b.account AND e.network = b.network
  WHERE b.balance <> COALESCE(e.total, 0) ORDER BY b.account LIMIT 5`

/** Whether every balance is what its ledger adds up to. @returns what is not, in words */
export async function findImbalances(reader: RowReader): Promise<readonly string[]> {
  const accounts = await reader.query<{ id: string }>(UNBALANCED)
  const [sum] = await reader.query<{ total: number }>(LEDGER_TOTAL)
  const sellers = reader.columnsOf('market_balances')
    ? await reader.query<{ id: string }>(UNBALANCED_SELLERS)
    : []
  return [
    ...accounts.map(({ id }) => `the balance of ${id} is not what its ledger adds up to`),
    ...(sum?.total === 0 ? [] : [`the ledger as a whole adds up to ${sum?.total}, not to zero`]),
    ...sellers.map(({ id }) => `what is owed to ${id} is not what its entries add up to`),
  ]
}
