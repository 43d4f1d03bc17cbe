// Later steps of the tables of payments: what migrations.ts has no room for.
import type { Dialect } from './dialects.ts'

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
