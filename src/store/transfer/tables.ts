// What becomes of each table when data leaves a database: it is carried, or left with a reason. The order is that of loading, so that a row comes
// after those that it refers to. A table that is not named here fails test/contract/store-transfer.test.ts.

import { TABLE_VERSION } from '../migrations.ts'
import { TransferFault } from './ports.ts'

/** Carried whole, but for columns that say how one engine keeps a row. */
export interface Carried {
  readonly fate: 'carried'
  readonly withoutColumns?: readonly string[]
}
/** Made anew, or of a process that is not there any more. */
export interface Left {
  readonly fate: 'left'
  readonly because: string
}

const carried: Carried = { fate: 'carried' }
const left = (because: string): Left => ({ fate: 'left', because })

/** Every table of either engine. */
export const TABLE_FATES: Readonly<Record<string, Carried | Left>> = {
  migrations: left('the tables are made anew, at the version of the data'),
  table_terms: left('which releases can use the tables: whoever starts on them says so'),
  boots: left('process starts that hold a lock in the database they came from'),
  boots_unused: left('the same, laid aside where advisory locks are of no use'),
  process_leases: left('process starts that renew a row in the database they came from'),
  lock_rows: left('rows that are locked and say nothing'),
  leader_leases: left('work that a process of the old database does'),
  rate_counts: left('counts of the last minute, in a table without a log'),
  access_version: left('one word that processes remember rows under: a new database has a new one'),
  ledger_arrivals: left('how SQLite writes the ledger: its rows are carried as those of ledger_entries'),

  accounts: carried,
  people: carried,
  documents: { fate: 'carried', withoutColumns: ['revision'] },
  published_keys: carried,
  service_keys: carried,
  credentials: carried,
  capabilities: carried,
  capability_lineage: carried,
  budgets: carried,
  ledger_entries: carried,
  open_debits: carried,
  // SQLite writes some of its indexes later; what is loaded is in all of them.
  attempts: { fate: 'carried', withoutColumns: ['listed'] },
  attempt_reconciliations: carried,
  kept_answers: carried,
  kept_bytes: carried,
  receipts: carried,
  receipt_withdrawals: carried,
  payment_claims: carried,
  claim_results: carried,
  claim_closures: carried,
  trusted_transactions: carried,
  payer_totals: carried,
  settlement_counters: carried,
  settlement_takes: carried,
  refunds: carried,
  quotes: carried,
  purchase_references: carried,
  tasks: carried,
  push_configs: carried,
  mandates: carried,
  permits: carried,
  permit_decisions: carried,
  permit_evidence: carried,
  evidence_bytes: carried,
  action_counts: carried,
  edge_hosts: carried,
  email_keys: carried,
  email_quota: carried,
  discovery_resources: carried,
  settled_listings: carried,
  settled_listing_payers: carried,
  audit_events: carried,
  audit_chains: carried,
  audit_heads: carried,
  audit_marks: carried,
  authority_rotations: carried,
  minted_tokens: carried,
  memberships: carried,
  sessions: carried,
  connections: carried,
  access_tokens: carried,
  passkeys: carried,
  recovery_codes: carried,
  invitations: carried,
  sign_in_challenges: carried,
  provider_identities: carried,
  oauth_rows: carried,
  policy_revisions: carried,
  notification_targets: carried,
  notifications: carried,
  spend_accounts: carried,
  spend_counted: carried,
  spend_totals: carried,
  market_sellers: carried,
  market_seller_addresses: carried,
  market_hosts: carried,
  market_host_holders: carried,
  market_listings: carried,
  market_listing_versions: carried,
  market_events: carried,
  market_sales: carried,
  market_balances: carried,
  market_entries: carried,
  market_refunds: carried,
  market_payout_batches: carried,
  market_payouts: carried,
  market_payout_holds: carried,
  market_day_stats: carried,
  market_payers: carried,
  market_funders: carried,
  market_standings: carried,
  market_ratings: carried,
}

/** In the order of loading. */
export const CARRIED_TABLES: readonly string[] = Object.entries(TABLE_FATES).flatMap(([name, { fate }]) =>
  fate === 'carried' ? [name] : [],
)

/** The columns of a table that are carried, in the one order that rows are written and summed in. */
export function carriedColumns(table: string, present: readonly string[]): readonly string[] {
  const fate = TABLE_FATES[table]
  const without = fate?.fate === 'carried' ? fate.withoutColumns : undefined
  return present.filter((column) => !without?.includes(column)).toSorted()
}

/** Releases before had tables that are named nowhere here; a start of this release brings them to what it knows. */
const OLDEST_CARRIED = 31

/** @throws {TransferFault} where some of the data would be left behind */
export function refuseOtherVersion(schemaVersion: number): void {
  if (schemaVersion > TABLE_VERSION)
    throw new TransferFault(
      `The database is of a newer release (table version ${schemaVersion}; this one knows ${TABLE_VERSION}), and what that added would be left behind. Run this with that release.`,
    )
  if (schemaVersion < OLDEST_CARRIED)
    throw new TransferFault(
      `The database is of an early release (table version ${schemaVersion}). Start the gateway of this release on it once, which brings it up to date; then run this again.`,
    )
}
