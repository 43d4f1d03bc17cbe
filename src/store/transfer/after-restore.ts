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

/** Tokens that `revokeTokens` ended. */
export interface Revoked {
  readonly service_keys: number
  readonly capabilities: number
  readonly email_keys: number
}

const KINDS = ['permits', 'sessions', 'invitations', 'assistants', 'service_keys', 'capabilities'] as const
type Kind = (typeof KINDS)[number]
/** Ids of what was ended of each account, by what it is. */
export type EndedOf = Map<string, Partial<Record<Kind, string[]>>>
type Ending = { readonly accountId: string; readonly id: string }

function tell(of: EndedOf, kind: Kind, rows: readonly Ending[]): number {
  for (const { accountId, id } of rows) {
    const ended = of.get(accountId) ?? {}
    of.set(accountId, ended)
    const ids = (ended[kind] ??= [])
    ids.push(id)
  }
  return rows.length
}

/** Of so many tokens an event says the ids. */
const MAX_NAMED = 20
const NAMED = { service_keys: 'key_ids', capabilities: 'capability_ids' } as const

function describeEnded(ended: Partial<Record<Kind, readonly string[]>>) {
  const detail: Record<string, number | string[]> = {}
  for (const kind of KINDS) detail[kind] = ended[kind]?.length ?? 0
  for (const kind of ['service_keys', 'capabilities'] as const) {
    const ids = ended[kind] ?? []
    if (ids.length > 0 && ids.length <= MAX_NAMED) detail[NAMED[kind]] = ids.toSorted()
  }
  return detail
}

/** Rows that work as they did when the backup was made. */
export interface Living {
  readonly service_keys: number
  readonly capabilities: number
  readonly people: number
  readonly signing_keys: number
  readonly sellers: number
}

/**
 * Writes into the audit log that the data came from elsewhere, in the transaction in which it comes: for the installation, and for each account of
 * which something was ended.
 * @param input.of what that was
 * @param input.since whatever happened from then on is lost
 */
export const noteArrival = (input: {
  readonly now: number
  readonly event: 'backup.restored' | 'data.moved' | 'data.moved_back'
  readonly id: string
  readonly detail: Readonly<Record<string, string | number>>
  readonly of?: { readonly ended: EndedOf; readonly since: string }
}) =>
  function* (): Command<void> {
    const { now, event, id, detail, of } = input
    yield* appendEvent(
      { chain: INSTALLATION_CHAIN, at: now, event, subject: { type: 'backup', id }, detail },
      { kind: 'gateway' },
    )
    for (const [chain, ended] of of?.ended ?? [])
      yield* appendEvent(
        { chain, at: now, event, detail: { since: of?.since ?? null, ...describeEnded(ended) } },
        { kind: 'gateway' },
      )
  }

/** In the transaction of the restore, at the tables of this release. @param of is told whose it was */
export function* endWhatWorksOnce(now: number, of: EndedOf): Command<Ended> {
  const end = function* (kind: Kind, text: string, ...values: number[]): Command<number> {
    return tell(of, kind, yield* all<Ending>(`${text} RETURNING id, account_id AS "accountId"`, ...values))
  }
  const count = function* (text: string, ...values: number[]): Command<number> {
    return (yield* all(text, ...values)).length
  }
  return {
    // Their time is over; what their mandates hold for them is given back like that of any other.
    permits: yield* end(
      'permits',
      `UPDATE permits SET expires_at = $1 WHERE state IN ('pending_approval', 'ready') AND expires_at > $1`,
      now,
    ),
    sessions: yield* end('sessions', 'DELETE FROM sessions'),
    invitations: yield* end(
      'invitations',
      'UPDATE invitations SET revoked_at = $1 WHERE used_at IS NULL AND revoked_at IS NULL AND expires_at > $1',
      now,
    ),
    recovery_codes: yield* count(
      'UPDATE recovery_codes SET used_at = $1 WHERE used_at IS NULL RETURNING person_id',
      now,
    ),
    assistants: yield* endTokens(of),
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
 * @param of is told whose they were
 * @returns undefined where that key is no live one
 */
export function* revokeTokens(keep: Uint8Array, now: number, of: EndedOf): Command<Revoked | undefined> {
  const kept = yield* first('SELECT id FROM service_keys WHERE key_hash = $1 AND revoked_at IS NULL', keep)
  if (!kept) return undefined
  const keys = yield* all<Ending>(
    `UPDATE service_keys SET revoked_at = $1 WHERE revoked_at IS NULL AND key_hash <> $2
     RETURNING id, account_id AS "accountId"`,
    now,
    keep,
  )
  const capabilities = yield* all<Ending>(
    'UPDATE capabilities SET revoked_at = $1 WHERE revoked_at IS NULL RETURNING id, account_id AS "accountId"',
    now,
  )
  const emailKeys = yield* all(
    'UPDATE email_keys SET revoked_at = $1 WHERE revoked_at IS NULL RETURNING id',
    now,
  )
  return {
    service_keys: tell(of, 'service_keys', keys),
    capabilities: tell(of, 'capabilities', capabilities),
    email_keys: emailKeys.length,
  }
}

/** Tokens of assistants, and what makes new ones. Their registrations stay. @returns connections that have to be made anew */
function* endTokens(of: EndedOf): Command<number> {
  const open = yield* all<Ending>(
    'SELECT id, account_id AS "accountId" FROM connections WHERE revoked_at IS NULL',
  )
  yield* all('DELETE FROM access_tokens')
  yield* all(`DELETE FROM oauth_rows WHERE model <> 'Client'`)
  yield* all('DELETE FROM sign_in_challenges')
  return tell(of, 'assistants', open)
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
