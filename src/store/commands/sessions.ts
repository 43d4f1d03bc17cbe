// Sessions of people who signed in.
import { all, type Command, command, first, insertInto } from '../command.ts'
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
