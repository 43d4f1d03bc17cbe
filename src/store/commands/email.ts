// Keys of email verification, and the addresses they may verify in a day.
import { all, columns, type Command, first, insertInto } from '../command.ts'
import type { EmailKey, Millis, Store } from '../ports.ts'

type Input<K extends keyof Store> = Store[K] extends (input: infer I) => unknown ? I : never

const keyFields = ['id', 'createdAt', 'revokedAt']
const KEY = columns(keyFields)

const INSERT_KEY = insertInto('email_keys', [...keyFields, 'keyHash'])
export function* createEmailKey({ key, keyHash }: Input<'createEmailKey'>): Command<void> {
  yield* all(INSERT_KEY, key.id, key.createdAt, key.revokedAt, keyHash)
}

const FIND_KEY = `SELECT ${KEY} FROM email_keys WHERE key_hash = $1 AND revoked_at IS NULL`
export function* findEmailKey(keyHash: Uint8Array): Command<EmailKey | undefined> {
  const row = yield* first<EmailKey>(FIND_KEY, keyHash)
  return row && { ...row }
}

const REVOKE_KEY = `UPDATE email_keys SET revoked_at = COALESCE(revoked_at, $1) WHERE id = $2 RETURNING ${KEY}`
export function* revokeEmailKey({ id, now }: Input<'revokeEmailKey'>): Command<EmailKey | undefined> {
  const row = yield* first<EmailKey>(REVOKE_KEY, now, id)
  return row && { ...row }
}

// The SELECT keeps a first batch beyond the limit out; the WHERE every later one.
const TAKE = `INSERT INTO email_quota (key_id, day, used)
  SELECT $1, $2, CAST($3 AS BIGINT) WHERE CAST($3 AS BIGINT) <= $4
  ON CONFLICT (key_id, day) DO UPDATE SET used = email_quota.used + excluded.used
  WHERE email_quota.used + excluded.used <= $4 RETURNING used`
const USED = 'SELECT used FROM email_quota WHERE key_id = $1 AND day = $2'
type Taken = Awaited<ReturnType<Store['takeEmailQuota']>>

export function* takeEmailQuota({ keyId, day, count, limit }: Input<'takeEmailQuota'>): Command<Taken> {
  const taken = yield* first<{ used: number }>(TAKE, keyId, day, count, limit)
  if (taken) return { ok: true, used: taken.used }
  const before = yield* first<{ used: number }>(USED, keyId, day)
  return { ok: false, used: before?.used ?? 0 }
}

const RETURN = 'UPDATE email_quota SET used = used - $1 WHERE key_id = $2 AND day = $3 AND used >= $1'
export function* returnEmailQuota({ keyId, day, count }: Input<'returnEmailQuota'>): Command<void> {
  yield* all(RETURN, count, keyId, day)
}

const TWO_DAYS_MS = 2 * 24 * 3600 * 1000

/** Days that are over. Keys stay: their holders have no other way back to them. */
export function* sweepEmail(now: Millis, limit: number): Command<Readonly<Record<string, number>>> {
  const days = yield* all(
    `DELETE FROM email_quota WHERE (key_id, day) IN (
       SELECT key_id, day FROM email_quota WHERE day <= $1 LIMIT $2
     ) RETURNING key_id`,
    new Date(now - TWO_DAYS_MS).toISOString().slice(0, 10),
    limit,
  )
  return { emailDays: days.length }
}
