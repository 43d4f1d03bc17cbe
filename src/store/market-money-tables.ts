// Money of the market: sales, the ledger of what is owed, and payouts. Amounts are summed here, so that they are numbers; a claim
// whose amount is no safe integer sells nothing.
import type { Dialect } from './dialects.ts'

export const marketMoneyTables = ({ id, int, clustered, plain }: Dialect): readonly string[] => [
  // `is_booked`: the ledger counts it. A sale is booked when its claim settles, and not any more while a chain takes that back.
  `CREATE TABLE market_sales (
    claim_id ${id} PRIMARY KEY,
    seller_id ${id} NOT NULL,
    service_id ${id} NOT NULL,
    listing_version ${int} NOT NULL,
    route TEXT NOT NULL,
    network TEXT NOT NULL,
    fee_bps ${int} NOT NULL,
    fee_fixed ${int} NOT NULL,
    fee_minimum ${int} NOT NULL,
    amount ${int} NOT NULL CHECK (amount >= 0),
    fee ${int} NOT NULL CHECK (fee >= 0),
    proceeds ${int} NOT NULL CHECK (proceeds >= 0),
    payout_mode TEXT NOT NULL CHECK (payout_mode IN ('batched_onchain', 'same_owner_retained')),
    is_booked ${int} NOT NULL DEFAULT 0 CHECK (is_booked IN (0, 1)),
    created_at ${int} NOT NULL,
    CHECK (fee + proceeds = amount)
  ) ${clustered}`,
  // One row an account and network: what its entries sum to. Who changes it holds it, so that entries of an account have an order.
  `CREATE TABLE market_balances (
    account ${id} NOT NULL,
    network ${id} NOT NULL,
    balance ${int} NOT NULL,
    entries ${int} NOT NULL,
    touched_at ${int} NOT NULL,
    PRIMARY KEY (account, network)
  ) ${clustered}`,
  // Each entry knows the balance after it: what an account held at some moment is one row, however many came before.
  `CREATE TABLE market_entries (
    account ${id} NOT NULL,
    network ${id} NOT NULL,
    at ${int} NOT NULL,
    seq ${int} NOT NULL,
    transaction_id ${id} NOT NULL,
    amount ${int} NOT NULL,
    balance ${int} NOT NULL,
    kind TEXT NOT NULL,
    reference ${id} NOT NULL,
    PRIMARY KEY (account, network, at, seq)
  ) ${clustered}`,
  // How a refund of a sale was shared between the seller and the platform; it goes back in the same way if it fails.
  `CREATE TABLE market_refunds (
    refund_id ${id} PRIMARY KEY,
    claim_id ${id} NOT NULL,
    account ${id} NOT NULL,
    fee ${int} NOT NULL CHECK (fee >= 0),
    proceeds ${int} NOT NULL CHECK (proceeds >= 0)
  ) ${clustered}`,
  `CREATE INDEX market_refunds_claim ON market_refunds (claim_id)`,
  `CREATE TABLE market_payout_batches (
    id ${id} PRIMARY KEY,
    network ${id} NOT NULL,
    period TEXT NOT NULL,
    minimum ${int} NOT NULL,
    created_at ${int} NOT NULL,
    finished_at ${int}
  ) ${plain}`,
  `CREATE UNIQUE INDEX market_payout_batches_period ON market_payout_batches (network, period)`,
  `CREATE TABLE market_payouts (
    id ${id} PRIMARY KEY,
    batch_id ${id} NOT NULL,
    seller_id ${id} NOT NULL,
    network ${id} NOT NULL,
    asset TEXT NOT NULL,
    recipient TEXT NOT NULL,
    amount ${int} NOT NULL CHECK (amount > 0),
    sender TEXT NOT NULL,
    nonce TEXT NOT NULL UNIQUE,
    valid_before ${int} NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('recorded', 'submitted', 'settled', 'failed')),
    tries ${int} NOT NULL DEFAULT 0,
    tx TEXT,
    failure TEXT,
    receipt_id ${id},
    created_at ${int} NOT NULL,
    submitted_at ${int},
    finished_at ${int},
    looked_at ${int} NOT NULL DEFAULT 0
  ) ${plain}`,
  // Read before a payout is written: a seller has one under way on a network. Where a chain takes an earlier one back, there are two.
  `CREATE INDEX market_payouts_one ON market_payouts (seller_id, network) WHERE state IN ('recorded', 'submitted')`,
  `CREATE INDEX market_payouts_open ON market_payouts (looked_at, id) WHERE state IN ('recorded', 'submitted')`,
  `CREATE INDEX market_payouts_settled ON market_payouts (finished_at) WHERE state = 'settled'`,
  `CREATE INDEX market_payouts_proven ON market_payouts (id) WHERE state = 'settled'`,
  `CREATE INDEX market_payouts_seller ON market_payouts (seller_id, id)`,
  `CREATE INDEX market_payouts_batch ON market_payouts (batch_id, id)`,
  // Why what is owed was not paid the last time.
  `CREATE TABLE market_payout_holds (
    seller_id ${id} NOT NULL,
    network ${id} NOT NULL,
    reason TEXT NOT NULL,
    since ${int} NOT NULL,
    looked_at ${int} NOT NULL,
    PRIMARY KEY (seller_id, network)
  ) ${clustered}`,
  // Work that one process does for all of them, until it says so again or lets it go.
  `CREATE TABLE leader_leases (
    name ${id} PRIMARY KEY,
    holder ${id} NOT NULL,
    held_until ${int} NOT NULL
  ) ${clustered}`,
]

/**
 * A transfer counts as sent for ever once its block was found a while after it settled: until then every start looks again, however
 * long nobody ran. Refunds of before were looked at by the release that sent them.
 */
export const finalTransfers = ({ int }: Dialect): readonly string[] => [
  `ALTER TABLE refunds ADD COLUMN final_at ${int}`,
  `UPDATE refunds SET final_at = finished_at WHERE state = 'settled'`,
  `CREATE INDEX refunds_watched ON refunds (finished_at) WHERE state = 'settled' AND final_at IS NULL`,
  `ALTER TABLE market_payouts ADD COLUMN final_at ${int}`,
  `CREATE INDEX market_payouts_watched ON market_payouts (finished_at) WHERE state = 'settled' AND final_at IS NULL`,
]

/**
 * On which day, and in which bucket of latencies, figures count a sale: NULL where they do not. What is booked and not counted is an index
 * of its own, nearly always empty. Releases before counted whatever they booked.
 */
export const countedSales = ({ int }: Dialect): readonly string[] => [
  `ALTER TABLE market_sales ADD COLUMN counted_day ${int}`,
  `ALTER TABLE market_sales ADD COLUMN counted_bucket ${int}`,
  `UPDATE market_sales SET counted_day = created_at / 86400000 WHERE is_booked = 1`,
  `CREATE INDEX market_sales_uncounted ON market_sales (claim_id) WHERE is_booked = 1 AND counted_day IS NULL`,
  `ALTER TABLE market_refunds ADD COLUMN counted_day ${int}`,
  `UPDATE market_refunds SET counted_day = (SELECT finished_at / 86400000 FROM refunds r WHERE r.id = refund_id)
    WHERE EXISTS (SELECT 1 FROM refunds r WHERE r.id = refund_id AND r.state = 'settled')`,
]
