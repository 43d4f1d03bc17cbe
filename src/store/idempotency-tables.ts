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
