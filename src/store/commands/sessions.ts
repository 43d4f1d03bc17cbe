// Sessions of people who signed in.
import { all, columns, type Command, command, first, insertInto, where } from '../command.ts'
import type { Millis, Page, PageRequest } from '../model.ts'
import { selectPage } from '../page.ts'
import type { Session, SignedIn } from '../ports/identity.ts'

const FIND_SESSION = `SELECT s.id AS "sessionId", s.person_id AS "personId", s.account_id AS "accountId", s.method,
    s.fresh_at AS "freshAt", s.expires_at AS "expiresAt", p.name, m.role, m.admin
  FROM sessions s JOIN people p ON p.id = s.person_id
  JOIN memberships m ON m.account_id = s.account_id AND m.person_id = s.person_id
  WHERE s.token_hash = $1 AND s.revoked_at IS NULL AND p.disabled_at IS NULL`

/** Sessions that were ended, and those of people who may do nothing any more, are not found; expired ones are. */
export const findSession = command({ kind: 'lookup', cached: true })(function* (
  tokenHash: Buffer,
): Command<SignedIn | undefined> {
  const row = yield* first<Omit<SignedIn, 'admin'> & { admin: number }>(FIND_SESSION, tokenHash)
  return row && { ...row, admin: row.admin === 1 }
})

const sessionFields = [
  'id',
  'personId',
  'accountId',
  'method',
  'address',
  'userAgent',
  'createdAt',
  'seenAt',
  'freshAt',
  'expiresAt',
  'revokedAt',
]
const INSERT_SESSION = insertInto('sessions', [...sessionFields, 'tokenHash'])

/** Opens a session of a person who has just shown that it is them. */
export const insertSession = command({ kind: 'statement', touches: 'access' })(function* (input: {
  session: Session
  tokenHash: Buffer
}): Command<void> {
  const { session: s, tokenHash } = input
  yield* all(
    INSERT_SESSION,
    s.id,
    s.personId,
    s.accountId,
    s.method,
    s.address,
    s.userAgent,
    s.createdAt,
    s.seenAt,
    s.freshAt,
    s.expiresAt,
    s.revokedAt,
    tokenHash,
  )
})

const SESSION = columns(sessionFields)

/** The person has just shown again that it is them. */
export const freshenSession = command({ kind: 'statement', touches: 'access' })(function* (input: {
  id: string
  now: Millis
}): Command<Session | undefined> {
  return yield* first<Session>(
    `UPDATE sessions SET fresh_at = $1, seen_at = $1 WHERE id = $2 AND revoked_at IS NULL RETURNING ${SESSION}`,
    input.now,
    input.id,
  )
})

/** When the session was last used. */
export const touchSession = command({ kind: 'statement', touches: 'records' })(function* (input: {
  id: string
  now: Millis
}): Command<void> {
  yield* all('UPDATE sessions SET seen_at = $1 WHERE id = $2 AND seen_at < $1', input.now, input.id)
})

/** Live ones, newest first; of one person where it is named, of one account where that is. */
export const listSessions = command({ kind: 'read' })(function* (
  filter: { accountId?: string | undefined; personId?: string | undefined; now: Millis },
  page: PageRequest,
): Command<Page<Session>> {
  return yield* selectPage<Session, Session>(
    { columns: SESSION, from: 'sessions', id: 'id' },
    [
      ['account_id = $', filter.accountId],
      ['person_id = $', filter.personId],
      ['expires_at > $', filter.now],
      ['COALESCE(revoked_at, 0) = $', 0],
    ],
    page,
    (row) => ({ ...row }),
    (session) => session.id,
  )
})

/** Idempotent; undefined where there is none of this id for the account, or of the person. */
export const endSession = command({ kind: 'statement', touches: 'access' })(function* (input: {
  id: string
  accountId?: string | undefined
  personId?: string | undefined
  now: Millis
}): Command<Session | undefined> {
  const { text, values } = where([
    ['id = $', input.id],
    ['account_id = $', input.accountId],
    ['person_id = $', input.personId],
  ])
  return yield* first<Session>(
    `UPDATE sessions SET revoked_at = COALESCE(revoked_at, $${values.length + 1}) WHERE ${text} RETURNING ${SESSION}`,
    ...values,
    input.now,
  )
})

/** Every session of the person but this one. @returns how many ended */
export const endOtherSessions = command({ kind: 'statement', touches: 'access' })(function* (input: {
  personId: string
  /** The account for the record of it. */
  accountId: string
  exceptId: string
  now: Millis
}): Command<number> {
  const rows = yield* all(
    'UPDATE sessions SET revoked_at = $1 WHERE person_id = $2 AND id <> $3 AND revoked_at IS NULL AND expires_at > $1 RETURNING id',
    input.now,
    input.personId,
    input.exceptId,
  )
  return rows.length
})

/** The pages of another account that the person is a member of. False where they are not. */
export const switchSession = command({ kind: 'statement', touches: 'access' })(function* (input: {
  id: string
  personId: string
  accountId: string
  now: Millis
}): Command<boolean> {
  const row = yield* first(
    `UPDATE sessions SET account_id = $1 WHERE id = $2 AND person_id = $3 AND revoked_at IS NULL
       AND EXISTS (SELECT 1 FROM memberships WHERE account_id = $1 AND person_id = $3) RETURNING id`,
    input.accountId,
    input.id,
    input.personId,
  )
  return row !== undefined
})
