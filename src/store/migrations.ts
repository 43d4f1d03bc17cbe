// The tables, as versioned steps that both engines run at open. A released step is never edited: add another.
import { GatewayError } from '../errors.ts'
import { all, type Command, first } from './command.ts'

interface Dialect {
  /** Text compared byte by byte, as ids are. */
  readonly id: string
  readonly int: string
  readonly bytes: string
  /** Suffix of a table kept in primary-key order, and of one that is not. */
  readonly clustered: string
  readonly plain: string
}

export const sqliteDialect: Dialect = {
  id: 'TEXT',
  int: 'INTEGER',
  bytes: 'BLOB',
  clustered: 'STRICT, WITHOUT ROWID',
  plain: 'STRICT',
}
export const postgresDialect: Dialect = {
  id: 'TEXT COLLATE "C"',
  int: 'BIGINT',
  bytes: 'BYTEA',
  clustered: '',
  plain: '',
}

// 2^53 - 1: what a JavaScript number holds exactly.
export const MAX_BALANCE = Number.MAX_SAFE_INTEGER

const steps: readonly ((d: Dialect) => readonly string[])[] = [
  ({ id, int, bytes, clustered, plain }) => [
    `CREATE TABLE accounts (
      id ${id} PRIMARY KEY,
      name TEXT NOT NULL,
      balance ${int} NOT NULL DEFAULT 0 CHECK (balance >= 0 AND balance <= ${MAX_BALANCE}),
      created_at ${int} NOT NULL
    ) ${plain}`,
    `CREATE TABLE service_keys (
      id ${id} PRIMARY KEY,
      account_id ${id} NOT NULL REFERENCES accounts (id),
      key_hash ${bytes} NOT NULL UNIQUE,
      label TEXT NOT NULL,
      admin ${int} NOT NULL CHECK (admin IN (0, 1)),
      created_at ${int} NOT NULL,
      revoked_at ${int}
    ) ${plain}`,
    `CREATE INDEX service_keys_account ON service_keys (account_id, id)`,
    // Two rows a movement, amounts summing to zero. Ordered by account and time, which is how it is read.
    `CREATE TABLE ledger_entries (
      account ${id} NOT NULL,
      transaction_id ${id} NOT NULL,
      amount ${int} NOT NULL CHECK (amount <> 0),
      kind TEXT NOT NULL CHECK (kind IN ('grant', 'egress', 'refund')),
      reference ${id} NOT NULL,
      created_at ${int} NOT NULL,
      PRIMARY KEY (account, transaction_id)
    ) ${clustered}`,
    `CREATE UNIQUE INDEX ledger_grants ON ledger_entries (account, reference) WHERE kind = 'grant' AND amount > 0`,
    `CREATE TABLE credentials (
      id ${id} PRIMARY KEY,
      account_id ${id} NOT NULL REFERENCES accounts (id),
      provider TEXT NOT NULL,
      label TEXT NOT NULL,
      scope TEXT NOT NULL,
      header TEXT NOT NULL,
      scheme TEXT NOT NULL,
      version ${int} NOT NULL,
      created_at ${int} NOT NULL,
      rotated_at ${int},
      revoked_at ${int},
      ciphertext TEXT NOT NULL,
      iv TEXT NOT NULL,
      tag TEXT NOT NULL,
      wrap_kid TEXT NOT NULL,
      wrap_enc TEXT NOT NULL,
      wrap_key TEXT NOT NULL
    ) ${plain}`,
    `CREATE INDEX credentials_account ON credentials (account_id, id)`,
    `CREATE TABLE capabilities (
      id ${id} PRIMARY KEY,
      account_id ${id} NOT NULL REFERENCES accounts (id),
      credential_id ${id} NOT NULL REFERENCES credentials (id),
      parent_id ${id},
      token_hash ${bytes} NOT NULL UNIQUE,
      label TEXT NOT NULL,
      scope TEXT NOT NULL,
      max_uses ${int},
      uses ${int} NOT NULL,
      created_at ${int} NOT NULL,
      expires_at ${int} NOT NULL,
      revoked_at ${int}
    ) ${plain}`,
    `CREATE INDEX capabilities_account ON capabilities (account_id, id)`,
    `CREATE INDEX capabilities_credential ON capabilities (credential_id, id)`,
    `CREATE INDEX capabilities_expiry ON capabilities (expires_at)`,
    // Every capability with itself and all it was narrowed from: uses and revocation follow this without recursion.
    `CREATE TABLE capability_lineage (
      capability_id ${id} NOT NULL,
      ancestor_id ${id} NOT NULL,
      PRIMARY KEY (capability_id, ancestor_id)
    ) ${clustered}`,
    `CREATE INDEX capability_descendants ON capability_lineage (ancestor_id, capability_id)`,
    `CREATE TABLE attempts (
      id ${id} PRIMARY KEY,
      account_id ${id} NOT NULL,
      capability_id ${id} NOT NULL,
      credential_id ${id} NOT NULL,
      credential_version ${int} NOT NULL,
      boot_id ${id} NOT NULL,
      cost ${int} NOT NULL CHECK (cost >= 0),
      state TEXT NOT NULL CHECK (state IN ('reserved', 'sending', 'settled', 'ambiguous', 'refunded')),
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
      receipt_id ${id}
    ) ${clustered}`,
    `CREATE INDEX attempts_account ON attempts (account_id, id)`,
    `CREATE INDEX attempts_capability ON attempts (capability_id, id)`,
    `CREATE INDEX attempts_unfinished ON attempts (boot_id, id) WHERE state IN ('reserved', 'sending')`,
    `CREATE INDEX attempts_unsigned ON attempts (id) WHERE receipt_id IS NULL AND state IN ('settled', 'ambiguous')`,
    `CREATE TABLE receipts (
      id ${id} PRIMARY KEY,
      account_id ${id} NOT NULL,
      jws TEXT NOT NULL,
      created_at ${int} NOT NULL
    ) ${clustered}`,
    `CREATE TABLE published_keys (
      kid TEXT PRIMARY KEY,
      purpose TEXT NOT NULL CHECK (purpose IN ('sign', 'wrap')),
      jwk TEXT NOT NULL,
      not_before ${int} NOT NULL,
      retired_at ${int}
    ) ${plain}`,
    `CREATE TABLE tasks (
      id ${id} PRIMARY KEY,
      context_id ${id} NOT NULL,
      owner ${id},
      state TEXT NOT NULL,
      revision ${int} NOT NULL,
      json TEXT NOT NULL,
      updated_at ${int} NOT NULL,
      expires_at ${int} NOT NULL
    ) ${clustered}`,
    `CREATE INDEX tasks_owner ON tasks (owner, updated_at, id)`,
    `CREATE INDEX tasks_expiry ON tasks (expires_at)`,
    // PostgreSQL only uses these two; they cost nothing where they stay empty.
    `CREATE TABLE boots (boot_id ${id} PRIMARY KEY, lock_key ${int} NOT NULL UNIQUE) ${plain}`,
    `CREATE TABLE documents (
      name TEXT PRIMARY KEY,
      revision ${int} NOT NULL,
      json TEXT NOT NULL
    ) ${plain}`,
  ],
]

/** What the `migrations` table names as its highest version once this release has opened the database. */
export const TABLE_VERSION = steps.length

/**
 * Brings the tables to this version, in the caller's transaction.
 * @throws {GatewayError} when a newer release has been here: its tables are not ours to guess at
 */
export function* migrate(dialect: Dialect, now: number): Command<void> {
  yield* all(
    `CREATE TABLE IF NOT EXISTS migrations (version ${dialect.int} PRIMARY KEY, applied_at ${dialect.int} NOT NULL)`,
  )
  const done = yield* first<{ version: number | null }>('SELECT max(version) AS version FROM migrations')
  const reached = done?.version ?? 0
  if (reached > steps.length)
    throw new GatewayError(
      'store_unavailable',
      `The database has table version ${reached}, this release knows ${steps.length}: run the newer release again.`,
    )
  for (const [index, step] of steps.entries()) {
    if (index < reached) continue
    for (const text of step(dialect)) yield { text, values: [], once: true }
    yield* all('INSERT INTO migrations (version, applied_at) VALUES ($1, $2)', index + 1, now)
  }
}
