// Keys of email verification, the addresses they may verify in a day, and how many keys one holder may have made. Both are
// counters of `email_quota`, by the id of a key or the name of a holder, and neither looks like the other.
import { all, columns, type Command, command, first, insertInto, Undo } from '../command.ts'
import { selectPage } from '../page.ts'
import type { Millis, Page, PageRequest } from '../model.ts'
import type { EmailKey, KeyLimit } from '../ports/email.ts'

const keyFields = ['id', 'createdAt', 'revokedAt', 'lastSeenDay']
const KEY = columns(keyFields)

const INSERT_KEY = insertInto('email_keys', [...keyFields, 'keyHash'])
type Made = { ok: true } | { ok: false; reached: number }

/** @returns `reached`: index of the limit that stands against it; then nothing is counted and no key is made */
export const createEmailKey = command({ kind: 'transaction', touches: 'access' })(function* (input: {
  key: EmailKey
  keyHash: Buffer
  limits: readonly KeyLimit[]
}): Command<Made> {
  const { key, keyHash, limits } = input
  for (const [reached, { holder, period, keys }] of limits.entries()) {
    const taken = yield* takeEmailQuota({ keyId: holder, day: period, count: 1, limit: keys })
    if (!taken.ok) throw new Undo<Made>({ ok: false, reached })
  }
  yield* all(INSERT_KEY, key.id, key.createdAt, key.revokedAt, key.lastSeenDay, keyHash)
  return { ok: true }
})

const FIND_KEY = `SELECT ${KEY} FROM email_keys WHERE key_hash = $1 AND revoked_at IS NULL`
/** Revoked keys are not found. */
export const findEmailKey = command({ kind: 'lookup' })(function* (
  keyHash: Buffer,
): Command<EmailKey | undefined> {
  const row = yield* first<EmailKey>(FIND_KEY, keyHash)
  return row && { ...row }
})

// The keys of a page lie side by side, so their counters do too.
const USED_BY_PAGE =
  'SELECT key_id AS id, used FROM email_quota WHERE key_id >= $1 AND key_id <= $2 AND day = $3'
type Listed = EmailKey & { usedToday: number }

/** Newest first, revoked ones too. `usedToday` is what was taken of `day`. */
export const listEmailKeys = command({ kind: 'read' })(function* ({
  day,
  ...page
}: PageRequest & { day: string }): Command<Page<Listed>> {
  const { items, next } = yield* selectPage<EmailKey, EmailKey>(
    { columns: KEY, from: 'email_keys', id: 'id' },
    [],
    page,
    (row) => ({ ...row }),
    ({ id }) => id,
  )
  const [newest, oldest] = [items[0], items.at(-1)]
  const rows =
    newest && oldest ? yield* all<{ id: string; used: number }>(USED_BY_PAGE, oldest.id, newest.id, day) : []
  const used = new Map(rows.map((row) => [row.id, row.used]))
  return { items: items.map((key) => ({ ...key, usedToday: used.get(key.id) ?? 0 })), next }
})

const TOUCH_KEY = 'UPDATE email_keys SET last_seen_day = $1 WHERE id = $2 AND last_seen_day < $1'
/** Used on this day; never set back. */
export const touchEmailKey = command({ kind: 'statement', touches: 'access' })(function* (input: {
  id: string
  day: string
}): Command<void> {
  const { id, day } = input
  yield* all(TOUCH_KEY, day, id)
})

const REVOKE_KEY = `UPDATE email_keys SET revoked_at = COALESCE(revoked_at, $1) WHERE id = $2 RETURNING ${KEY}`
/** Idempotent; undefined when there is no such key. */
export const revokeEmailKey = command({ kind: 'statement', touches: 'access' })(function* (input: {
  id: string
  now: Millis
}): Command<EmailKey | undefined> {
  const { id, now } = input
  const row = yield* first<EmailKey>(REVOKE_KEY, now, id)
  return row && { ...row }
})

// The SELECT keeps a first batch beyond the limit out; the WHERE every later one.
const TAKE = `INSERT INTO email_quota (key_id, day, used)
  SELECT $1, $2, CAST($3 AS BIGINT) WHERE CAST($3 AS BIGINT) <= $4
  ON CONFLICT (key_id, day) DO UPDATE SET used = email_quota.used + excluded.used
  WHERE email_quota.used + excluded.used <= $4 RETURNING used`
const USED = 'SELECT used FROM email_quota WHERE key_id = $1 AND day = $2'
type Taken = { ok: boolean; used: number }

/**
 * Counts `count` addresses of this key and day, all of them or, beyond `limit`, none.
 * @param input.day e.g. `2026-11-21`, UTC
 * @returns what is used after it; refused: what is used already
 */
export const takeEmailQuota = command({ kind: 'transaction', touches: 'records' })(function* (input: {
  keyId: string
  day: string
  count: number
  limit: number
}): Command<Taken> {
  const { keyId, day, count, limit } = input
  const taken = yield* first<{ used: number }>(TAKE, keyId, day, count, limit)
  if (taken) return { ok: true, used: taken.used }
  const before = yield* first<{ used: number }>(USED, keyId, day)
  return { ok: false, used: before?.used ?? 0 }
})

const RETURN = 'UPDATE email_quota SET used = used - $1 WHERE key_id = $2 AND day = $3 AND used >= $1'
/** Gives back quota that was taken and not used. */
export const returnEmailQuota = command({ kind: 'statement', touches: 'records' })(function* (input: {
  keyId: string
  day: string
  count: number
}): Command<void> {
  const { keyId, day, count } = input
  yield* all(RETURN, count, keyId, day)
})

const DAY_MS = 24 * 3600 * 1000
/** How long a key that nobody uses is kept. Its holder gets another one for the asking. */
const KEPT_DAYS = 180

const dayOf = (at: Millis) => new Date(at).toISOString().slice(0, 10)

/** Days that are over, and keys that were used on none of the last KEPT_DAYS. */
export function* sweepEmail(now: Millis, limit: number): Command<Readonly<Record<string, number>>> {
  const days = yield* all(
    `DELETE FROM email_quota WHERE (key_id, day) IN (
       SELECT key_id, day FROM email_quota WHERE day <= $1 LIMIT $2
     ) RETURNING key_id`,
    dayOf(now - 2 * DAY_MS),
    limit,
  )
  const unused = now - KEPT_DAYS * DAY_MS
  // A release that knows nothing of days makes keys without one; those count by when they were made.
  const keys = yield* all(
    `DELETE FROM email_keys WHERE id IN (
       SELECT id FROM email_keys WHERE last_seen_day < $1 AND created_at < $2 LIMIT $3
     ) RETURNING id`,
    dayOf(unused),
    unused,
    limit,
  )
  return { emailDays: days.length, emailKeys: keys.length }
}
