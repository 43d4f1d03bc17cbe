// The keys of callers: one attempt at most is made under each. A key is claimed in the transaction that debits its attempt and
// answered in the one that ends it, so that no crash leaves one without the other.
import { all, type Command, command, first, snakeCase, type Statement, statement } from '../command.ts'
import type { Attempt, Millis } from '../model.ts'
import type { StoredReceipt } from '../ports/attempts.ts'
import type { KeyClaim, KeyRecord } from '../ports/idempotency.ts'
import { attemptFields, insertReceipt, toAttempt } from './attempts.ts'

const ATTEMPT = attemptFields.map((name) => `t.${snakeCase(name)} AS "${name}"`).join(', ')
const FIND_RECORD = `SELECT r.fingerprint, r.answer, r.replay_receipt_id AS "replayReceiptId",
    r.expires_at AS "expiresAt", r.attempt_id AS "attemptId", a.balance, ${ATTEMPT}
  FROM idempotency_records r
    LEFT JOIN attempts t ON t.id = r.attempt_id
    LEFT JOIN accounts a ON a.id = t.account_id
  WHERE r.key_hash = $1`

/** Its attempt's id is null where that is past retention. */
type Found = Omit<KeyRecord, 'attempt' | 'keyHash'> & {
  readonly expiresAt: Millis
  readonly attemptId: string
} & Omit<Attempt, 'id'> & { readonly id: string | null }

/**
 * A key is free again where nothing was sent under it (`refunded`), where its time is over and its outcome known, and where its
 * attempt is past retention. An unfinished or ambiguous attempt holds its key for as long as there is a row of it.
 */
const isFree = ({ state, expiresAt }: Found, now: Millis) =>
  state === 'refunded' || (state === 'settled' && expiresAt <= now)

/** @returns the record that stands in the way of a claim; `stale` names the attempt of one that does not any more */
export function* findRecord(
  { keyHash }: Pick<KeyClaim, 'keyHash'>,
  now: Millis,
): Command<{ readonly held?: KeyRecord; readonly stale?: string }> {
  const found = yield* first<Found>(FIND_RECORD, keyHash)
  if (!found) return {}
  const {
    fingerprint,
    answer,
    replayReceiptId,
    balance,
    expiresAt: _expiry,
    attemptId,
    id,
    ...attempt
  } = found
  if (id === null || isFree(found, now)) return { stale: attemptId }
  const held = { keyHash, fingerprint, answer, replayReceiptId, balance }
  return { held: { ...held, attempt: toAttempt({ ...attempt, id }) } }
}

const CLAIM = `INSERT INTO idempotency_records (key_hash, fingerprint, attempt_id, expires_at) VALUES ($1, $2, $3, $4)`
const FORGET = 'DELETE FROM idempotency_records WHERE key_hash = $1 AND attempt_id = $2'

/** Claims a key that is free: the unique violation of a claim made meanwhile undoes the whole transaction. */
export const claimKey = ({ keyHash, fingerprint, expiresAt }: KeyClaim, attemptId: string): Statement =>
  statement(CLAIM, keyHash, fingerprint, attemptId, expiresAt)

/** Forgets a record that is not in the way any more, unless the key was claimed anew since. */
export const forgetKey = (keyHash: string, attemptId: string): Statement =>
  statement(FORGET, keyHash, attemptId)

/**
 * Stores the receipt of an answer that is given again, once for each attempt.
 * @returns the id of the one that stands, which may be an earlier one; undefined where the record is gone
 */
export const keepReplayReceipt = command({ kind: 'transaction', touches: 'records' })(function* (input: {
  keyHash: string
  attemptId: string
  receipt: StoredReceipt
}): Command<string | undefined> {
  const { keyHash, attemptId, receipt } = input
  const kept = yield* first(
    `UPDATE idempotency_records SET replay_receipt_id = $1
     WHERE key_hash = $2 AND attempt_id = $3 AND replay_receipt_id IS NULL RETURNING key_hash`,
    receipt.id,
    keyHash,
    attemptId,
  )
  if (kept) {
    yield* insertReceipt(receipt)
    return receipt.id
  }
  const standing = yield* first<{ id: string | null }>(
    'SELECT replay_receipt_id AS id FROM idempotency_records WHERE key_hash = $1 AND attempt_id = $2',
    keyHash,
    attemptId,
  )
  return standing?.id ?? undefined
})

/** A key whose attempt is not settled is looked at again after this long: then retention has removed the attempt. */
const HOLD_ON_MS = 31 * 24 * 3600 * 1000

/** Deletes what is over. An unfinished or ambiguous attempt keeps its key, and is put off so that the next sweep does not meet it. */
export function* sweepIdempotency(now: Millis, limit: number): Command<Readonly<Record<string, number>>> {
  const over = 'SELECT key_hash FROM idempotency_records WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2'
  yield* all(
    `UPDATE idempotency_records SET expires_at = $3 WHERE key_hash IN (${over}) AND EXISTS (
       SELECT 1 FROM attempts WHERE id = attempt_id AND state IN ('reserved', 'sending', 'ambiguous'))`,
    now,
    limit,
    now + HOLD_ON_MS,
  )
  const removed = yield* all(
    `DELETE FROM idempotency_records WHERE key_hash IN (${over}) AND NOT EXISTS (
       SELECT 1 FROM attempts WHERE id = attempt_id AND state IN ('reserved', 'sending', 'ambiguous'))
     RETURNING key_hash`,
    now,
    limit,
  )
  return { idempotencyRecords: removed.length }
}
