// Tables of calls that may be repeated without being carried out twice.
import type { Dialect } from './dialects.ts'

/**
 * One row for each key that callers gave to a charged request, unique by lineage and key. `answer` is sealed by the part that
 * stores it; `replay_receipt_id` names the receipt that says so, once the answer was given again.
 */
export const idempotencyRecords = ({ id, int, bytes, plain }: Dialect): readonly string[] => [
  `CREATE TABLE idempotency_records (
    key_hash ${id} PRIMARY KEY,
    fingerprint TEXT NOT NULL,
    attempt_id ${id} NOT NULL,
    expires_at ${int} NOT NULL,
    replay_receipt_id ${id},
    answer ${bytes}
  ) ${plain}`,
  `CREATE INDEX idempotency_records_expiry ON idempotency_records (expires_at)`,
]

/**
 * A key stands in its attempt, and its answer beside it in order of time, so that a call under a key writes one page more than one
 * without. Before, it had a row of its own with two indexes; what stood there was of this release alone. Answers have no second index
 * for that either: most are short, and one of 1 to 2 KiB takes a page that it could have shared.
 */
export const keyedAttempts = ({ id, int, bytes, clustered }: Dialect): readonly string[] => [
  `DROP TABLE idempotency_records`,
  `ALTER TABLE attempts ADD COLUMN key_hash ${id}`,
  `ALTER TABLE attempts ADD COLUMN max_bytes ${int}`,
  `ALTER TABLE attempts ADD COLUMN replay_receipt_id ${id}`,
  `CREATE UNIQUE INDEX attempts_key ON attempts (key_hash) WHERE key_hash IS NOT NULL`,
  `CREATE TABLE kept_answers (
    attempt_id ${id} PRIMARY KEY,
    account_id ${id} NOT NULL,
    sealed ${bytes} NOT NULL
  ) ${clustered}`,
  `CREATE TABLE kept_bytes (
    account_id ${id} PRIMARY KEY,
    bytes ${int} NOT NULL CHECK (bytes >= 0)
  ) ${clustered}`,
]
