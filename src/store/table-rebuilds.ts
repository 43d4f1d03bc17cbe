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
 * What it takes to find an attempt in a list is written later (sqlite/write-behind.ts), and so is its account's half of the
 * ledger. Conditions are words joined by OR: for a set of more than two words SQLite builds a table at every write.
 */
export function listLater({ engine, id, int, clustered }: Dialect): readonly string[] {
  if (engine === 'postgres') return []
  const columns = `id, kind, account_id, capability_id, permit_id, credential_id, credential_version, boot_id, cost, state,
    method, host, request_digest, idempotency_key, created_at, sending_at, finished_at, upstream_status, response_digest,
    outcome, receipt_id`
  return [
    `CREATE TABLE attempts_new (
      id ${id} PRIMARY KEY,
      kind TEXT NOT NULL DEFAULT 'fetch' CHECK (kind = 'fetch' OR kind = 'action' OR kind = 'edge'),
      account_id ${id} NOT NULL,
      capability_id ${id} NOT NULL,
      permit_id ${id},
      credential_id ${id} NOT NULL,
      credential_version ${int} NOT NULL,
      boot_id ${id} NOT NULL,
      cost ${int} NOT NULL CHECK (cost >= 0),
      state TEXT NOT NULL CHECK (
        state = 'reserved' OR state = 'sending' OR state = 'settled' OR state = 'ambiguous' OR state = 'refunded'
      ),
      method TEXT NOT NULL,
      host TEXT NOT NULL,
      request_digest TEXT NOT NULL,
      idempotency_key TEXT,
      created_at ${int} NOT NULL,
      sending_at ${int},
      finished_at ${int},
      upstream_status ${int},
      response_digest TEXT,
      outcome TEXT,
      receipt_id ${id},
      listed ${int} NOT NULL DEFAULT 0 CHECK (listed = 0 OR listed = 1)
    ) ${clustered}`,
    `INSERT INTO attempts_new (${columns}, listed) SELECT ${columns}, 1 FROM attempts ORDER BY id`,
    `DROP TABLE attempts`,
    `ALTER TABLE attempts_new RENAME TO attempts`,
    `CREATE INDEX attempts_account ON attempts (account_id, id) WHERE listed = 1`,
    `CREATE INDEX attempts_capability ON attempts (capability_id, id) WHERE listed = 1`,
    `CREATE INDEX attempts_unlisted ON attempts (id) WHERE listed = 0`,
    `CREATE UNIQUE INDEX attempts_permit ON attempts (permit_id) WHERE permit_id IS NOT NULL`,
    `CREATE INDEX attempts_unfinished ON attempts (boot_id, id) WHERE state IN ('reserved', 'sending')`,
    `CREATE INDEX attempts_unsigned ON attempts (id) WHERE receipt_id IS NULL AND state IN ('settled', 'ambiguous')`,
    // The staging table of write-behind: as ledger_entries, but in order of arrival.
    `CREATE TABLE ledger_arrivals (
      transaction_id ${id} NOT NULL,
      account ${id} NOT NULL,
      amount ${int} NOT NULL CHECK (amount <> 0),
      kind TEXT NOT NULL CHECK (kind <> ''),
      reference ${id} NOT NULL,
      created_at ${int} NOT NULL,
      PRIMARY KEY (transaction_id, account)
    ) ${clustered}`,
    // References are mostly ids of ours, which grow: by account, each grant had a page of this index to itself.
    `DROP INDEX ledger_grants`,
    `CREATE UNIQUE INDEX ledger_grants ON ledger_entries (reference, account) WHERE kind = 'grant' AND amount > 0`,
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
