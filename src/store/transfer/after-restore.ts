// What a restore ends, and the way back to a copy whose data was moved. Between the backup and now things happened that the backup knows nothing of. Whatever works once may have been used by then, so
// none of it works any more; what was under way may have been done, so it is treated as sent, and a chain decides where there is one.
import { all, type Command, first } from '../command.ts'
import { appendEvent } from '../commands/audit.ts'
import { INSTALLATION_CHAIN } from '../ports/audit.ts'

/** Rows that a restore ended or changed, by what they are. */
export interface Ended {
  readonly permits: number
  readonly sessions: number
  readonly invitations: number
  readonly recovery_codes: number
  readonly assistants: number
  readonly attempts_in_doubt: number
  readonly payments_in_doubt: number
  readonly payout_batches: number
}

/** Rows that work as they did when the backup was made. */
export interface Living {
  readonly service_keys: number
  readonly capabilities: number
  readonly people: number
  readonly signing_keys: number
  readonly sellers: number
}

/** Writes into the audit log that the data came from elsewhere, in the transaction in which it comes. */
export const noteArrival = (input: {
  readonly now: number
  readonly event: 'backup.restored' | 'data.moved' | 'data.moved_back'
  readonly id: string
  readonly detail: Readonly<Record<string, string | number>>
}) =>
  function* (): Command<void> {
    const { now, event, id, detail } = input
    yield* appendEvent(
      { chain: INSTALLATION_CHAIN, at: now, event, subject: { type: 'backup', id }, detail },
      { kind: 'gateway' },
    )
  }

/** In the transaction of the restore, at the tables of this release. */
export function* endWhatWorksOnce(now: number): Command<Ended> {
  const count = function* (text: string, ...values: number[]): Command<number> {
    return (yield* all(text, ...values)).length
  }
  return {
    // Their time is over; what their mandates hold for them is given back like that of any other.
    permits: yield* count(
      `UPDATE permits SET expires_at = $1
       WHERE state IN ('pending_approval', 'ready') AND expires_at > $1 RETURNING id`,
      now,
    ),
    sessions: yield* count('DELETE FROM sessions RETURNING id'),
    invitations: yield* count(
      `UPDATE invitations SET revoked_at = $1
       WHERE used_at IS NULL AND revoked_at IS NULL AND expires_at > $1 RETURNING id`,
      now,
    ),
    recovery_codes: yield* count(
      'UPDATE recovery_codes SET used_at = $1 WHERE used_at IS NULL RETURNING person_id',
      now,
    ),
    assistants: yield* endTokens(),
    // Of these nobody knows whether the request left; recovery at the start charges them and sends nothing.
    attempts_in_doubt: yield* count(
      `UPDATE attempts SET state = 'sending', sending_at = created_at WHERE state = 'reserved' RETURNING id`,
    ),
    // Recovery makes them `unknown`, and their chain says whether they were paid.
    payments_in_doubt: yield* count(
      `UPDATE payment_claims SET state = 'submitted', submitted_at = created_at
       WHERE state = 'claimed' RETURNING id`,
    ),
    payout_batches: yield* count(
      'UPDATE market_payout_batches SET finished_at = $1 WHERE finished_at IS NULL RETURNING id',
      now,
    ),
  }
}

/**
 * Ends every service key but one, and every capability: for whoever does not know what was revoked since.
 * @param keep SHA-256 of the service key that goes on
 * @returns whether that key is a live one
 */
export function* revokeTokens(keep: Uint8Array, now: number): Command<boolean> {
  const kept = yield* first('SELECT id FROM service_keys WHERE key_hash = $1 AND revoked_at IS NULL', keep)
  if (!kept) return false
  yield* all('UPDATE service_keys SET revoked_at = $1 WHERE revoked_at IS NULL AND key_hash <> $2', now, keep)
  yield* all('UPDATE capabilities SET revoked_at = $1 WHERE revoked_at IS NULL', now)
  yield* all('UPDATE email_keys SET revoked_at = $1 WHERE revoked_at IS NULL', now)
  return true
}

/** Tokens of assistants, and what makes new ones. Their registrations stay. @returns connections that have to be made anew */
function* endTokens(): Command<number> {
  const open = yield* first<{ found: number }>(
    'SELECT count(*) AS found FROM connections WHERE revoked_at IS NULL',
  )
  yield* all('DELETE FROM access_tokens')
  yield* all(`DELETE FROM oauth_rows WHERE model <> 'Client'`)
  yield* all('DELETE FROM sign_in_challenges')
  return Number(open?.found ?? 0)
}

/** Payments whose chain may have replaced their block after the backup was made. */
export function* countSettledSince(since: number): Command<number> {
  const row = yield* first<{ found: number }>(
    `SELECT count(*) AS found FROM payment_claims WHERE state = 'settled' AND finished_at >= $1`,
    since,
  )
  return Number(row?.found ?? 0)
}

/** What an operator has to look at, because it may have been revoked since. */
export function* countLiving(now: number): Command<Living> {
  const count = function* (text: string, ...values: number[]): Command<number> {
    return Number((yield* first<{ found: number }>(text, ...values))?.found ?? 0)
  }
  return {
    service_keys: yield* count('SELECT count(*) AS found FROM service_keys WHERE revoked_at IS NULL'),
    capabilities: yield* count(
      'SELECT count(*) AS found FROM capabilities WHERE revoked_at IS NULL AND expires_at > $1',
      now,
    ),
    people: yield* count('SELECT count(*) AS found FROM people WHERE disabled_at IS NULL'),
    signing_keys: yield* count(
      `SELECT count(*) AS found FROM published_keys WHERE purpose = 'sign' AND retired_at IS NULL AND revoked_at IS NULL`,
    ),
    sellers: yield* count('SELECT count(*) AS found FROM market_sellers'),
  }
}
