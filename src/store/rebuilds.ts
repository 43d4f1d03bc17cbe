// Steps that give a table another shape where the engine cannot change it in place: a new table takes the old one's rows
// and name.
import type { Dialect } from './dialects.ts'

/** The kinds stand in the ports: one more of them must not cost another copy of the largest table. */
export function widenLedgerKinds({ engine, id, int, clustered }: Dialect): readonly string[] {
  if (engine === 'postgres')
    return [
      `ALTER TABLE ledger_entries DROP CONSTRAINT ledger_entries_kind_check,
       ADD CONSTRAINT ledger_entries_kind_check CHECK (kind <> '')`,
    ]
  // SQLite cannot change a constraint.
  return [
    `CREATE TABLE ledger_entries_new (
      account ${id} NOT NULL,
      transaction_id ${id} NOT NULL,
      amount ${int} NOT NULL CHECK (amount <> 0),
      kind TEXT NOT NULL CHECK (kind <> ''),
      reference ${id} NOT NULL,
      created_at ${int} NOT NULL,
      PRIMARY KEY (account, transaction_id)
    ) ${clustered}`,
    `INSERT INTO ledger_entries_new (account, transaction_id, amount, kind, reference, created_at)
     SELECT account, transaction_id, amount, kind, reference, created_at FROM ledger_entries
     ORDER BY account, transaction_id`,
    `DROP TABLE ledger_entries`,
    `ALTER TABLE ledger_entries_new RENAME TO ledger_entries`,
    `CREATE UNIQUE INDEX ledger_grants ON ledger_entries (account, reference) WHERE kind = 'grant' AND amount > 0`,
  ]
}

/**
 * Tables of long texts, kept in order of arrival. In primary-key order SQLite keeps at most a quarter of a page of a row in
 * place (fileformat2, 1.6): each signed receipt took a page of its own, and each commit wrote them. PostgreSQL has one form.
 */
export function unclusterTexts({ engine, id, int, plain }: Dialect): readonly string[] {
  if (engine === 'postgres') return []
  const rebuild = (table: string, columns: string) => [
    `CREATE TABLE ${table}_new (${columns}) ${plain}`,
    `INSERT INTO ${table}_new SELECT * FROM ${table} ORDER BY id`,
    `DROP TABLE ${table}`,
    `ALTER TABLE ${table}_new RENAME TO ${table}`,
  ]
  return [
    ...rebuild(
      'receipts',
      `id ${id} PRIMARY KEY, account_id ${id} NOT NULL, jws TEXT NOT NULL, created_at ${int} NOT NULL`,
    ),
    ...rebuild(
      'quotes',
      `id ${id} PRIMARY KEY, jws TEXT NOT NULL, created_at ${int} NOT NULL, expires_at ${int} NOT NULL`,
    ),
    `CREATE INDEX quotes_expiry ON quotes (expires_at)`,
    ...rebuild(
      'tasks',
      `id ${id} PRIMARY KEY, context_id ${id} NOT NULL, owner ${id}, state TEXT NOT NULL, revision ${int} NOT NULL,
      json TEXT NOT NULL, updated_at ${int} NOT NULL, expires_at ${int} NOT NULL`,
    ),
    `CREATE INDEX tasks_owner ON tasks (owner, updated_at, id)`,
    `CREATE INDEX tasks_expiry ON tasks (expires_at)`,
  ]
}
