// Steps of the tables of payments: what migrations.ts has no room for.
import type { Dialect } from './dialects.ts'

/** Claims, their results and settlements, as they were first released. */
export const paymentTables = ({ id, int, bytes, clustered, plain }: Dialect): readonly string[] => [
  // A payment buys credits once, whatever else goes wrong.
  `CREATE UNIQUE INDEX ledger_purchases ON ledger_entries (reference) WHERE kind = 'purchase' AND amount > 0`,
  // The table is not clustered: an index entry then names its row with four bytes instead of a whole id.
  `CREATE TABLE payment_claims (
    id ${id} PRIMARY KEY,
    origin TEXT NOT NULL CHECK (origin IN ('tool', 'settle')),
    network TEXT NOT NULL,
    asset TEXT NOT NULL,
    payer TEXT NOT NULL,
    nonce TEXT NOT NULL,
    pay_to TEXT NOT NULL,
    amount TEXT NOT NULL,
    valid_before ${int},
    state TEXT NOT NULL CHECK (
      state IN ('claimed', 'submitted', 'pending', 'settled', 'failed', 'canceled', 'unknown')
    ),
    tool TEXT NOT NULL,
    method TEXT NOT NULL,
    resource TEXT NOT NULL,
    request_digest TEXT NOT NULL,
    requirement_digest TEXT NOT NULL,
    presentation_digest TEXT NOT NULL,
    identifier TEXT,
    purchase_account_id ${id},
    purchase_credits ${int} CHECK (purchase_credits > 0),
    account_id ${id},
    boot_id ${id} NOT NULL,
    payment_key ${bytes},
    identifier_key ${bytes},
    upstream TEXT,
    tx TEXT,
    reason TEXT,
    result_sha256 TEXT,
    receipt_id ${id},
    created_at ${int} NOT NULL,
    submitted_at ${int},
    finished_at ${int},
    looked_at ${int} NOT NULL DEFAULT 0,
    CHECK ((state = 'canceled') = (payment_key IS NULL)),
    CHECK ((purchase_account_id IS NULL) = (purchase_credits IS NULL))
  ) ${plain}`,
  `CREATE UNIQUE INDEX claims_payment ON payment_claims (payment_key) WHERE payment_key IS NOT NULL`,
  `CREATE UNIQUE INDEX claims_identifier ON payment_claims (identifier_key) WHERE identifier_key IS NOT NULL`,
  `CREATE INDEX claims_unfinished ON payment_claims (boot_id, id) WHERE state IN ('claimed', 'submitted')`,
  `CREATE INDEX claims_doubtful ON payment_claims (looked_at, id, state) WHERE state IN ('pending', 'unknown')`,
  `CREATE TABLE claim_results (
    claim_id ${id} PRIMARY KEY,
    json TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    expires_at ${int} NOT NULL
  ) ${plain}`,
  `CREATE INDEX claim_results_expiry ON claim_results (expires_at)`,
  `CREATE TABLE settlement_counters (
    holder ${id} NOT NULL,
    month TEXT NOT NULL,
    used ${int} NOT NULL CHECK (used >= 0),
    PRIMARY KEY (holder, month)
  ) ${clustered}`,
  `CREATE INDEX settlement_counters_month ON settlement_counters (month)`,
  `CREATE TABLE settlement_takes (
    claim_id ${id} PRIMARY KEY,
    holder ${id} NOT NULL,
    month TEXT NOT NULL,
    account_id ${id},
    paid_by TEXT NOT NULL CHECK (paid_by IN ('allowance', 'credits'))
  ) ${clustered}`,
  `CREATE INDEX settlement_takes_month ON settlement_takes (month)`,
  `CREATE TABLE quotes (
    id ${id} PRIMARY KEY,
    jws TEXT NOT NULL,
    created_at ${int} NOT NULL,
    expires_at ${int} NOT NULL
  ) ${clustered}`,
  `CREATE INDEX quotes_expiry ON quotes (expires_at)`,
]

/** Payments that were refused while they could still be used are looked at until they cannot; there are never many. */
export const watchedClaims = (): readonly string[] => [
  `CREATE INDEX claims_watched ON payment_claims (looked_at, id) WHERE state = 'failed' AND finished_at IS NULL`,
]

/**
 * Money that goes back to a payer. Amounts are decimal text, as those of claims are. A settled payment is found by its payer
 * too: the entry is written when it settles, and what a payer spent is read from it.
 */
export const refundTables = ({ id, int, plain }: Dialect): readonly string[] => [
  `CREATE TABLE refunds (
    id ${id} PRIMARY KEY,
    claim_id ${id} NOT NULL,
    reference TEXT NOT NULL,
    account_id ${id} NOT NULL,
    network TEXT NOT NULL,
    asset TEXT NOT NULL,
    payer TEXT NOT NULL,
    tool TEXT NOT NULL,
    amount TEXT NOT NULL,
    credits ${int} NOT NULL CHECK (credits >= 0),
    credits_account ${id},
    reason TEXT NOT NULL,
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
  `CREATE UNIQUE INDEX refunds_reference ON refunds (claim_id, reference)`,
  `CREATE INDEX refunds_open ON refunds (looked_at, id) WHERE state IN ('recorded', 'submitted')`,
  `CREATE INDEX refunds_settled ON refunds (finished_at) WHERE state = 'settled'`,
  `CREATE INDEX refunds_payer ON refunds (payer, finished_at) WHERE state = 'settled'`,
  `CREATE INDEX claims_payer ON payment_claims (payer, finished_at) WHERE state = 'settled'`,
]

/**
 * Payments as their operator looks for them: those of a payer, those that did not settle, in the order of time; and what the operator
 * decided of one that nobody else can. A payment that goes well is in the first index alone.
 */
export const paymentRecords = ({ id, int, plain }: Dialect): readonly string[] => [
  `CREATE INDEX claims_of_payer ON payment_claims (payer, id)`,
  `CREATE INDEX claims_unsettled ON payment_claims (state, id)
    WHERE state IN ('pending', 'unknown', 'failed', 'canceled')`,
  `CREATE TABLE claim_closures (
    claim_id ${id} PRIMARY KEY,
    was TEXT NOT NULL,
    reason TEXT NOT NULL,
    closed_by ${id} NOT NULL,
    closed_at ${int} NOT NULL
  ) ${plain}`,
]

/**
 * What a facilitator's word alone settled: no chain of ours says that the transaction is of that claim and of no other, so one pays for one.
 * Rows stay as long as claims do. What settled before begins with a row, also what a chain proved: nobody wrote down which is which, and a
 * network may lose its chain with this very start. The spelling is that of `settleClaim`.
 */
export const trustedTransactions = ({ id, clustered }: Dialect): readonly string[] => [
  `CREATE TABLE trusted_transactions (
    network TEXT NOT NULL,
    tx TEXT NOT NULL,
    claim_id ${id} NOT NULL,
    PRIMARY KEY (network, tx)
  ) ${clustered}`,
  `INSERT INTO trusted_transactions (network, tx, claim_id)
    SELECT network, CASE WHEN network LIKE 'eip155:%' THEN lower(tx) ELSE tx END, min(id) FROM payment_claims
    WHERE state = 'settled' AND tx IS NOT NULL GROUP BY 1, 2`,
]
