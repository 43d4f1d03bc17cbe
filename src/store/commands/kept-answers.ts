// Answers to calls under a caller's key, sealed. Each is stored in the transaction that ends its attempt, so that no crash leaves one
// without the other, and an account has room for so many.
import { newId } from '../../lib/ids.ts'
import { all, type Command, first, statement } from '../command.ts'
import type { Millis } from '../model.ts'

/** How long a key is remembered from its first request, and its answer with it. */
export const KEY_TTL_MS = 24 * 3600 * 1000

/** Sealed answers that an account may have. Beyond it an answer is given and not kept: nobody fills the disk by asking. */
export const MAX_KEPT_BYTES = 64 * 1024 * 1024

/** What an account has is counted as it comes and goes: nobody adds its answers up. No row comes back where there is no room. */
export const COUNT_KEPT = `INSERT INTO kept_bytes (account_id, bytes) VALUES ($1, $2)
  ON CONFLICT (account_id) DO UPDATE SET bytes = kept_bytes.bytes + excluded.bytes
    WHERE kept_bytes.bytes + excluded.bytes <= $3 RETURNING bytes`
const KEEP_ANSWER = 'INSERT INTO kept_answers (attempt_id, account_id, sealed) VALUES ($1, $2, $3)'

/** @returns false, and nothing is stored, where the account has too much of it already */
export function* keepAnswer(attemptId: string, accountId: string, sealed: Uint8Array): Command<boolean> {
  const counted = yield* first(COUNT_KEPT, accountId, sealed.length, MAX_KEPT_BYTES)
  if (counted) yield statement(KEEP_ANSWER, attemptId, accountId, sealed)
  return counted !== undefined
}

/** Deletes answers whose time is over. Their attempts keep the key as long as they are kept themselves. */
export function* sweepKeptAnswers(now: Millis, limit: number): Command<Readonly<Record<string, number>>> {
  // The time in front of an id makes the primary key do.
  const removed = yield* all<{ accountId: string; bytes: number }>(
    `DELETE FROM kept_answers WHERE attempt_id IN (
       SELECT attempt_id FROM kept_answers WHERE attempt_id < $1 ORDER BY attempt_id LIMIT $2
     ) RETURNING account_id AS "accountId", length(sealed) AS bytes`,
    newId('att', now - KEY_TTL_MS + 1).slice(0, 'att_'.length + 9),
    limit,
  )
  const freed = new Map<string, number>()
  for (const { accountId, bytes } of removed) freed.set(accountId, (freed.get(accountId) ?? 0) + bytes)
  for (const [accountId, bytes] of [...freed].toSorted(([a], [b]) => (a < b ? -1 : 1)))
    yield statement('UPDATE kept_bytes SET bytes = bytes - $1 WHERE account_id = $2', bytes, accountId)
  return { keptAnswers: removed.length }
}
