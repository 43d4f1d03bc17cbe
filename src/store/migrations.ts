// The tables, as versioned steps that both engines run at open. A released step is never edited: add another.
import { GatewayError } from '../core/errors.ts'
import { all, type Command, first } from './command.ts'
import { preparedFrom, separationTables } from './action-tables.ts'
import { budgetTables, totalBudgets, wipeRevoked } from './budget-tables.ts'
import type { Dialect } from './dialects.ts'
import { accessVersion } from './access-version.ts'
import { capabilityParts, connectionTables, peopleTables, widenForRoles } from './identity-tables.ts'
import { policyTables } from './policy-tables.ts'
import { signInTables } from './people-tables.ts'
import { idempotencyRecords, keyedAttempts } from './idempotency-tables.ts'
import { marketEvidenceTables, marketTrustTables } from './market-trust-tables.ts'
import { mintedTables } from './minted-tables.ts'
import { auditTables, reconciliationTables, rotationTables } from './audit-tables.ts'
import { discoveryTables, settledListings } from './discovery-tables.ts'
import { countedSales, finalTransfers, marketMoneyTables } from './market-money-tables.ts'
import {
  marketSellerTables,
  marketVersionIndex,
  offeredVersions,
  untriedEvents,
} from './market-seller-tables.ts'
import { oauthTables } from './oauth-tables.ts'
import { notificationTables } from './notification-tables.ts'
import {
  paymentRecords,
  paymentTables,
  refundTables,
  trustedTransactions,
  watchedClaims,
} from './payment-tables.ts'
import { pushTables } from './push-tables.ts'
import { rateTables } from './rate-tables.ts'
import { spendTables } from './spend-tables.ts'
import { listLater, unclusterTexts, widenLedgerKinds } from './table-rebuilds.ts'

const actionTables = ({ id, int, clustered, plain }: Dialect): readonly string[] => [
  // `''` where there is no capability or no credential: SQLite could drop NOT NULL only by copying the table.
  `ALTER TABLE attempts ADD COLUMN kind TEXT NOT NULL DEFAULT 'fetch' CHECK (kind IN ('fetch', 'action', 'edge'))`,
  `ALTER TABLE attempts ADD COLUMN permit_id ${id}`,
  `CREATE UNIQUE INDEX attempts_permit ON attempts (permit_id) WHERE permit_id IS NOT NULL`,
  `CREATE TABLE mandates (
    id ${id} PRIMARY KEY,
    account_id ${id} NOT NULL REFERENCES accounts (id),
    digest ${id} NOT NULL,
    purpose TEXT NOT NULL,
    credential_id ${id} NOT NULL,
    host TEXT NOT NULL,
    path_prefix TEXT NOT NULL,
    methods TEXT NOT NULL,
    max_calls ${int} CHECK (max_calls > 0),
    max_credits ${int} CHECK (max_credits > 0),
    requires_approval ${int} NOT NULL CHECK (requires_approval IN (0, 1)),
    expires_at ${int} NOT NULL,
    calls ${int} NOT NULL DEFAULT 0 CHECK (calls >= 0 AND (max_calls IS NULL OR calls <= max_calls)),
    credits ${int} NOT NULL DEFAULT 0 CHECK (credits >= 0 AND (max_credits IS NULL OR credits <= max_credits)),
    created_at ${int} NOT NULL,
    revoked_at ${int},
    CHECK (max_calls IS NOT NULL OR max_credits IS NOT NULL)
  ) ${plain}`,
  `CREATE UNIQUE INDEX mandates_digest ON mandates (account_id, digest)`,
  `CREATE INDEX mandates_account ON mandates (account_id, id)`,
  // The table is not clustered: an index entry then names its row with four bytes instead of a whole id.
  `CREATE TABLE permits (
    id ${id} PRIMARY KEY,
    account_id ${id} NOT NULL,
    mandate_id ${id} NOT NULL,
    credential_id ${id} NOT NULL,
    credential_version ${int} NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('pending_approval', 'ready', 'refused', 'executed', 'expired')),
    token_sha256 TEXT NOT NULL,
    request_digest TEXT NOT NULL,
    method TEXT NOT NULL,
    host TEXT NOT NULL,
    cost ${int} NOT NULL CHECK (cost >= 0),
    summary TEXT,
    created_at ${int} NOT NULL,
    expires_at ${int} NOT NULL,
    decided_at ${int},
    decided_by ${id},
    attempt_id ${id},
    CHECK ((state = 'executed') = (attempt_id IS NOT NULL))
  ) ${plain}`,
  `CREATE INDEX permits_account ON permits (account_id, id)`,
  `CREATE INDEX permits_pending ON permits (account_id, id) WHERE state = 'pending_approval'`,
  `CREATE INDEX permits_open ON permits (mandate_id, expires_at) WHERE state IN ('pending_approval', 'ready')`,
  `CREATE TABLE action_counts (
    account_id ${id} PRIMARY KEY,
    permits_prepared ${int} NOT NULL DEFAULT 0,
    permits_approved ${int} NOT NULL DEFAULT 0,
    permits_refused ${int} NOT NULL DEFAULT 0,
    executions ${int} NOT NULL DEFAULT 0,
    settled ${int} NOT NULL DEFAULT 0,
    ambiguous ${int} NOT NULL DEFAULT 0,
    refunded ${int} NOT NULL DEFAULT 0,
    credits_charged ${int} NOT NULL DEFAULT 0,
    credits_refunded ${int} NOT NULL DEFAULT 0
  ) ${clustered}`,
  `CREATE TABLE edge_hosts (
    token ${id} PRIMARY KEY,
    host TEXT NOT NULL,
    account_id ${id} NOT NULL REFERENCES accounts (id),
    created_at ${int} NOT NULL
  ) ${clustered}`,
]

const emailTables = ({ id, int, bytes, clustered, plain }: Dialect): readonly string[] => [
  `CREATE TABLE email_keys (
    id ${id} PRIMARY KEY,
    key_hash ${bytes} NOT NULL UNIQUE,
    created_at ${int} NOT NULL,
    revoked_at ${int}
  ) ${plain}`,
  `CREATE TABLE email_quota (
    key_id ${id} NOT NULL,
    day ${id} NOT NULL,
    used ${int} NOT NULL CHECK (used >= 0),
    PRIMARY KEY (key_id, day)
  ) ${clustered}`,
  `CREATE INDEX email_quota_day ON email_quota (day)`,
]

/** Each list of permits by state has an index of its own that holds no other state, in the order in which it is read. */
const permitIndexes = (): readonly string[] => [
  `CREATE INDEX permits_ready ON permits (account_id, id) WHERE state = 'ready'`,
  `CREATE INDEX permits_refused ON permits (account_id, id) WHERE state = 'refused'`,
]

/** A list of what did not go well reads no attempt that did: those are most of an account's, and hardly a call changes these. */
const attemptIndexes = (): readonly string[] => [
  `CREATE INDEX attempts_ambiguous ON attempts (account_id, id) WHERE state = 'ambiguous'`,
  `CREATE INDEX attempts_refunded ON attempts (account_id, id) WHERE state = 'refunded'`,
]

/** The claims that are there release nothing by themselves any more: who paid signs for what is kept of them, a day at most. */
const claimSecrets = ({ int }: Dialect): readonly string[] => [
  `ALTER TABLE payment_claims ADD COLUMN secret TEXT CHECK (secret IN ('challenge', 'identifier'))`,
  `ALTER TABLE payment_claims ADD COLUMN signed_in_at ${int}`,
]

const keyRevocations = ({ int }: Dialect): readonly string[] => [
  `ALTER TABLE published_keys ADD COLUMN revoked_at ${int}`,
  `ALTER TABLE published_keys ADD COLUMN revocation_reason TEXT`,
]

/** Nobody wrote down when the keys that are there were used last: it counts from now. */
const emailKeyTraces = ({ engine, id }: Dialect): readonly string[] => [
  `ALTER TABLE email_keys ADD COLUMN last_seen_day ${id} NOT NULL DEFAULT ''`,
  `UPDATE email_keys SET last_seen_day = ${
    engine === 'sqlite' ? `strftime('%Y-%m-%d', 'now')` : `to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD')`
  }`,
  `CREATE INDEX email_keys_seen ON email_keys (last_seen_day)`,
]

/** A call's debit is given back by its transaction alone, which names no account. */
const callDebits = (): readonly string[] => [
  `CREATE UNIQUE INDEX ledger_calls ON ledger_entries (transaction_id) WHERE kind = 'call' AND amount < 0`,
]

/** A call's debit is open until it has a receipt or was given back: its row names the process that has to bring one of them. */
const openDebits = ({ id, clustered }: Dialect): readonly string[] => [
  `CREATE TABLE open_debits (transaction_id ${id} PRIMARY KEY, boot_id ${id} NOT NULL) ${clustered}`,
  `CREATE INDEX open_debits_boot ON open_debits (boot_id, transaction_id)`,
]

/**
 * What a payer has bound, and what it has paid: read before every claim, so an index of its own holds the claims that are open
 * and no others. Amounts are decimal text, since an asset with 18 decimals outgrows 64 bits.
 */
const payerStandings = ({ id, clustered }: Dialect): readonly string[] => [
  `CREATE INDEX claims_open ON payment_claims (payer, network, asset)
    WHERE state IN ('claimed', 'submitted', 'pending', 'unknown')`,
  `CREATE TABLE payer_totals (
    payer ${id} NOT NULL,
    network ${id} NOT NULL,
    asset ${id} NOT NULL,
    settled TEXT NOT NULL,
    PRIMARY KEY (payer, network, asset)
  ) ${clustered}`,
]

/** Settled claims name their block for as long as their chain may replace it; a receipt that it took back says so. */
const settledBlocks = ({ id, int, clustered }: Dialect): readonly string[] => [
  `ALTER TABLE payment_claims ADD COLUMN block_number ${int}`,
  `ALTER TABLE payment_claims ADD COLUMN block_hash TEXT`,
  // In order of time: an entry is appended, and the newest minutes are all that is ever read.
  `CREATE INDEX claims_settled ON payment_claims (finished_at) WHERE state = 'settled'`,
  `CREATE TABLE receipt_withdrawals (
    receipt_id ${id} PRIMARY KEY,
    withdrawn_at ${int} NOT NULL,
    replaced_by ${id}
  ) ${clustered}`,
]

/** What a credential is beyond one secret in one header; the seal binds it (src/egress/sealing.ts). */
const credentialSettings = (): readonly string[] => [
  `ALTER TABLE credentials ADD COLUMN settings TEXT NOT NULL DEFAULT '{}'`,
]

/** The console lists what an account asked to serve. */
const edgeHostsOfAccount = (): readonly string[] => [
  `CREATE INDEX edge_hosts_account ON edge_hosts (account_id, host)`,
]

const trustedTransactionsAndUntriedEvents = (d: Dialect): readonly string[] => [
  ...trustedTransactions(d),
  ...untriedEvents(),
]

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
  (d) => [...widenLedgerKinds(d), ...paymentTables(d)],
  discoveryTables,
  actionTables,
  emailTables,
  permitIndexes,
  emailKeyTraces,
  unclusterTexts,
  listLater,
  attemptIndexes,
  callDebits,
  openDebits,
  claimSecrets,
  payerStandings,
  watchedClaims,
  settledBlocks,
  keyRevocations,
  settledListings,
  refundTables,
  credentialSettings,
  auditTables,
  budgetTables,
  rotationTables,
  idempotencyRecords,
  mintedTables,
  reconciliationTables,
  wipeRevoked,
  marketMoneyTables,
  marketTrustTables,
  marketSellerTables,
  keyedAttempts,
  marketEvidenceTables,
  finalTransfers,
  marketVersionIndex,
  offeredVersions,
  countedSales,
  pushTables,
  widenForRoles,
  peopleTables,
  connectionTables,
  edgeHostsOfAccount,
  totalBudgets,
  signInTables,
  separationTables,
  oauthTables,
  policyTables,
  notificationTables,
  spendTables,
  preparedFrom,
  capabilityParts,
  accessVersion,
  rateTables,
  paymentRecords,
  trustedTransactionsAndUntriedEvents,
]

/** What each version is about, in the words of its step: `names[0]` is version 1. */
export const migrationNames: readonly string[] = steps.map(({ name }, index) =>
  // The first two have no name of their own.
  name === ''
    ? (['first tables', 'payment tables'][index] ?? 'tables')
    : name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`),
)

/** Highest version that the `migrations` table names once this release has opened the database. */
export const TABLE_VERSION = steps.length

/**
 * Brings the tables to version `to`, in the caller's transaction.
 * @throws {GatewayError} when a newer release has been here: its tables are not ours to guess at
 */
export function* migrate(dialect: Dialect, now: number, to: number = TABLE_VERSION): Command<void> {
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
    if (index < reached || index >= to) continue
    for (const text of step(dialect)) yield { text, values: [], once: true }
    yield* all('INSERT INTO migrations (version, applied_at) VALUES ($1, $2)', index + 1, now)
  }
}
