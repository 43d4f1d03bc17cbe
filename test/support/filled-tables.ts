// A row in every table that a backup carries, with texts that have to be escaped: what is left out anywhere is missed.
import { DatabaseSync } from 'node:sqlite'
import { sqliteDialect } from '../../src/store/dialects.ts'
import { migrate } from '../../src/store/migrations.ts'
import { openDatabase } from '../../src/store/sqlite/database.ts'
import { CARRIED_TABLES } from '../../src/store/transfer/tables.ts'

/** Everything that the format of rows writes in another way, and what it must leave alone. */
export const NASTY = 'tab\t line\nreturn\r back\\slash \\N \\. \b\f\v "quote" é漢\u{1f511}'

/** What a rule over several columns, or a sum, asks for. */
const VALUES: Readonly<Record<string, Readonly<Record<string, string | number | null>>>> = {
  accounts: { balance: 7 },
  ledger_entries: { account: 'accounts', amount: 7, kind: 'grant' },
  capabilities: { credential_id: null },
  mandates: { max_calls: 5, calls: 1, max_credits: 5, credits: 1 },
  permits: { state: 'executed' },
  payment_claims: { state: 'claimed' },
  push_configs: { wire: '1.0' },
  market_sales: { amount: 2, fee: 1, proceeds: 1 },
  market_balances: { account: 'seller', network: 'n', balance: 3 },
  market_entries: { account: 'seller', network: 'n', amount: 3 },
}
/** Names of tables as ids of their rows: a reference finds its row. */
const REFERENCES: Readonly<Record<string, string>> = {
  account_id: 'accounts',
  credential_id: 'credentials',
  person_id: 'people',
  connection_id: 'connections',
}

interface Column {
  readonly name: string
  readonly type: string
}

/** Makes the database of a data directory, at the given version, with a row in each of its tables. */
export function fillTables(file: string, version?: number): void {
  const made = openDatabase(file)
  made.exec('BEGIN')
  made.drive(migrate(sqliteDialect, 1, version))
  made.exec('COMMIT')
  made.close()
  const db = new DatabaseSync(file)
  try {
    for (const table of CARRIED_TABLES) {
      if (table === 'documents') continue
      const found = db.prepare('SELECT sql FROM sqlite_schema WHERE name = ?').get(table) as
        { sql: string } | undefined
      if (!found) continue
      const columns = db.prepare(`PRAGMA table_info(${table})`).all() as unknown as Column[]
      const values = columns.map((column) => valueOf(table, column, found.sql))
      db.prepare(`INSERT INTO ${table} VALUES (${columns.map(() => '?').join(', ')})`).run(...values)
    }
    // The other half of the movement is where SQLite stages it.
    db.exec(`INSERT INTO ledger_arrivals (transaction_id, account, amount, kind, reference, created_at)
      VALUES ('t', 'system:grants', -7, 'grant', 'r', 1)`)
  } finally {
    db.close()
  }
}

function valueOf(table: string, { name, type }: Column, sql: string): string | number | Uint8Array | null {
  const given = VALUES[table]?.[name]
  if (given !== undefined) return given
  if (name === 'id') return table
  const reference = REFERENCES[name]
  if (reference !== undefined) return reference
  if (type === 'BLOB') return new TextEncoder().encode(`${table}.${name} \u0000\\x\n`)
  // The rule stands behind the column, and may name it in lower case only.
  const [, choice] =
    new RegExp(`\\b${name}\\b[^,]*?CHECK \\(\\s*${name} (?:IN \\(|= )'?(\\w+)`).exec(sql) ?? []
  if (choice !== undefined) return type === 'INTEGER' ? Number(choice) : choice
  return type === 'INTEGER' ? 1 : `${table}.${name} ${NASTY}`
}
