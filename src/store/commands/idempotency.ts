// The keys of callers: one attempt at most is made under each. A key stands in the row of its attempt, which is unique by it, so that
// claiming one is no write of its own. The answers are in kept-answers.ts.
import { type Command, command, first, snakeCase, type Statement, statement } from '../command.ts'
import type { Attempt, Millis } from '../model.ts'
import type { StoredReceipt } from '../ports/attempts.ts'
import type { KeyClaim, KeyRecord, Repeated } from '../ports/idempotency.ts'
import { attemptFields, insertReceipt, type Reservation, toAttempt } from './attempts.ts'
import { KEY_TTL_MS } from './kept-answers.ts'

const ATTEMPT = attemptFields.map((name) => `t.${snakeCase(name)} AS "${name}"`).join(', ')
const FIND_RECORD = `SELECT t.max_bytes AS "maxBytes", t.replay_receipt_id AS "replayReceiptId", k.sealed AS answer,
    a.balance, ${ATTEMPT}
  FROM attempts t
    LEFT JOIN accounts a ON a.id = t.account_id
    LEFT JOIN kept_answers k ON k.attempt_id = t.id
  WHERE t.key_hash = $1`

type Found = Omit<KeyRecord, 'attempt'> & Attempt

/** The word of an attempt that was ambiguous until an operator said that it happened. */
const DECIDED = 'reconciled_happened'
/**
 * A key is free again where nothing was sent under it (`refunded`), where the answer has a status that frees it, and where its time is over and
 * its outcome known. An unfinished or ambiguous attempt holds its key for as long as there is a row of it; so does one that was decided, which
 * may be later than a day after it was sent, when whoever lost its answer still asks.
 */
function isFree({ state, outcome, upstreamStatus, createdAt }: Found, { freedBy, now }: Looked): boolean {
  if (state === 'refunded') return true
  if (state !== 'settled' || outcome === DECIDED) return false
  const wasPutOff = upstreamStatus !== null && freedBy?.includes(upstreamStatus)
  return wasPutOff || createdAt + KEY_TTL_MS <= now
}
type Looked = Omit<KeyClaim, 'maxBytes'> & { readonly now: Millis }

/** @returns the record that stands in the way of a claim; `stale` names the attempt of one that does not any more */
function* findRecord(looked: Looked): Command<{ readonly held?: KeyRecord; readonly stale?: string }> {
  const found = yield* first<Found>(FIND_RECORD, looked.keyHash)
  if (!found) return {}
  if (isFree(found, looked)) return { stale: found.id }
  const { maxBytes, answer, replayReceiptId, balance, ...attempt } = found
  return { held: { maxBytes, answer, replayReceiptId, balance, attempt: toAttempt(attempt) } }
}

/** The record of a key that is taken, for whoever would do something dear or final before they claim it. */
export const findKeyRecord = command({ kind: 'read' })(function* (
  input: Looked,
): Command<KeyRecord | undefined> {
  return (yield* findRecord(input)).held
})

/** Takes a key from an attempt that does not need it any more, unless the key was claimed anew since. */
const freeKey = (keyHash: string, attemptId: string): Statement =>
  statement('UPDATE attempts SET key_hash = NULL WHERE id = $1 AND key_hash = $2', attemptId, keyHash)

/** The key is taken, by whom is to be looked up. */
export interface KeyTaken {
  readonly ok: false
  readonly reason: 'repeated'
  readonly record?: never
}
export const KEY_TAKEN: KeyTaken = { ok: false, reason: 'repeated' }

/**
 * Looks a key up where the reservation under it was refused, and only there: most keys are new. Whatever it was refused for, a key
 * that is taken is said first; in PostgreSQL, who waited for a row finds it used up by the first call under the same key. Where
 * its attempt does not need the key any more, the reservation is made again.
 * @param reserve writes nothing where it refuses
 */
export function* underKey<R extends { readonly ok: boolean; readonly reason?: string }>(
  reserve: (input: Reservation) => Command<R | KeyTaken>,
  input: Reservation,
): Command<R | Repeated> {
  for (;;) {
    const result = yield* reserve(input)
    const { once, now } = input
    if (result.ok || !once) return result as R
    const { held, stale } = yield* findRecord({ ...once, now })
    if (held) return { ok: false, reason: 'repeated', record: held }
    if (result.reason !== 'repeated') return result as R
    if (stale !== undefined) yield freeKey(once.keyHash, stale)
  }
}

/**
 * Stores the receipt of an answer that is given again, once for each attempt.
 * @returns the id of the one that stands, which may be an earlier one; undefined where the attempt is gone
 */
export const keepReplayReceipt = command({ kind: 'transaction', touches: 'records' })(function* (input: {
  attemptId: string
  receipt: StoredReceipt
}): Command<string | undefined> {
  const { attemptId, receipt } = input
  const kept = yield* first(
    `UPDATE attempts SET replay_receipt_id = $1
     WHERE id = $2 AND key_hash IS NOT NULL AND replay_receipt_id IS NULL RETURNING id`,
    receipt.id,
    attemptId,
  )
  if (kept) {
    yield* insertReceipt(receipt)
    return receipt.id
  }
  const standing = yield* first<{ id: string | null }>(
    'SELECT replay_receipt_id AS id FROM attempts WHERE id = $1',
    attemptId,
  )
  return standing?.id ?? undefined
})
