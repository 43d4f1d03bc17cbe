// Invitations: each lets one person in, once.
import { all, columns, type Command, command, first, insertInto } from '../command.ts'
import type { Millis } from '../model.ts'
import type { Membership, Person } from '../ports/identity.ts'
import type { Invitation, Passkey } from '../ports/people.ts'
import { insertPasskey, putRecoveryCodes } from './passkeys.ts'
import { insertMembership, insertPerson } from './people.ts'

const invitationFields = [
  'id',
  'accountId',
  'role',
  'admin',
  'name',
  'personId',
  'invitedBy',
  'createdAt',
  'expiresAt',
  'usedAt',
  'revokedAt',
]
const INVITATION = columns(invitationFields)
type InvitationRow = Omit<Invitation, 'admin'> & { admin: number }
const toInvitation = (row: InvitationRow): Invitation => ({ ...row, admin: row.admin === 1 })

const INSERT_INVITATION = insertInto('invitations', [...invitationFields, 'tokenHash'])
/** An invitation of the account; there may be several for one person. */
export const insertInvitation = command({ kind: 'statement', touches: 'access' })(function* (input: {
  invitation: Invitation
  tokenHash: Buffer
}): Command<void> {
  const { invitation: i, tokenHash } = input
  yield* all(
    INSERT_INVITATION,
    i.id,
    i.accountId,
    i.role,
    i.admin ? 1 : 0,
    i.name,
    i.personId,
    i.invitedBy,
    i.createdAt,
    i.expiresAt,
    i.usedAt,
    i.revokedAt,
    tokenHash,
  )
})

/**
 * What an invitation still opens is judged when it is used, as who made it and whom it is for stand then: an owner who was removed or made
 * something else, or a key that was revoked, lets nobody in any more, themselves least of all. And whoever has joined another account since
 * gets no passkey from an owner of one of them.
 * @param now placeholder of the time
 */
const isOpen = (now: string) => `used_at IS NULL AND revoked_at IS NULL AND expires_at > ${now}
  AND NOT EXISTS (SELECT 1 FROM people p WHERE p.id = invitations.invited_by AND NOT EXISTS
    (SELECT 1 FROM memberships m WHERE m.person_id = p.id AND m.account_id = invitations.account_id AND m.role = 'owner'))
  AND NOT EXISTS (SELECT 1 FROM service_keys k WHERE k.id = invitations.invited_by AND k.revoked_at IS NOT NULL)
  AND NOT EXISTS
    (SELECT 1 FROM memberships m WHERE m.person_id = invitations.person_id AND m.account_id <> invitations.account_id)`

/** Only what still opens something is found. */
export const findInvitation = command({ kind: 'lookup' })(function* (
  tokenHash: Buffer,
  now: Millis,
): Command<Invitation | undefined> {
  const row = yield* first<InvitationRow>(
    `SELECT ${INVITATION} FROM invitations WHERE token_hash = $1 AND ${isOpen('$2')}`,
    tokenHash,
    now,
  )
  return row && toInvitation(row)
})

/** Finds the invitation of this hash, whatever became of it; undefined for one that was never made here. */
export const findFormerInvitation = command({ kind: 'lookup' })(function* (
  tokenHash: Buffer,
): Command<Pick<Invitation, 'id' | 'accountId'> | undefined> {
  const row = yield* first<Pick<Invitation, 'id' | 'accountId'>>(
    `SELECT ${columns(['id', 'accountId'])} FROM invitations WHERE token_hash = $1`,
    tokenHash,
  )
  return row && { ...row }
})

/** Those of the account that wait, newest first. */
export const listInvitations = command({ kind: 'read', namesAccount: true })(function* (
  accountId: string,
  now: Millis,
): Command<readonly Invitation[]> {
  const rows = yield* all<InvitationRow>(
    `SELECT ${INVITATION} FROM invitations WHERE account_id = $1 AND ${isOpen('$2')} ORDER BY id DESC LIMIT 100`,
    accountId,
    now,
  )
  return rows.map(toInvitation)
})

/** Idempotent; undefined where the account has none of this id. */
export const revokeInvitation = command({ kind: 'statement', touches: 'access' })(function* (input: {
  id: string
  accountId: string
  now: Millis
}): Command<Invitation | undefined> {
  const row = yield* first<InvitationRow>(
    `UPDATE invitations SET revoked_at = COALESCE(revoked_at, $1) WHERE id = $2 AND account_id = $3 RETURNING ${INVITATION}`,
    input.now,
    input.id,
    input.accountId,
  )
  return row && toInvitation(row)
})

/** What somebody brings who takes an invitation up. */
export interface Acceptance {
  readonly tokenHash: Buffer
  /** Somebody new, or who is invited to have a new passkey: `id` is then theirs. */
  readonly person: Person
  /** Undefined where somebody who has passkeys joins one more account. */
  readonly credentials?: { readonly passkey: Passkey; readonly recoveryHashes: readonly Buffer[] }
  readonly now: Millis
}

/**
 * Takes the invitation up: of any number that try at once, one does. Whoever gets a new passkey loses those that they had, and their sessions
 * end: somebody else may have them.
 * @returns the invitation; undefined where it opens nothing any more
 */
export const acceptInvitation = command({ kind: 'transaction', touches: 'access' })(function* (
  input: Acceptance,
): Command<Invitation | undefined> {
  const { tokenHash, person, credentials, now } = input
  const row = yield* first<InvitationRow>(
    `UPDATE invitations SET used_at = $1 WHERE token_hash = $2 AND ${isOpen('$1')} RETURNING ${INVITATION}`,
    now,
    tokenHash,
  )
  if (!row) return undefined
  const invitation = toInvitation(row)
  const { accountId, role, admin, personId } = invitation
  if (personId !== null) {
    yield* all('DELETE FROM passkeys WHERE person_id = $1', personId)
    yield* all(
      'UPDATE sessions SET revoked_at = $1 WHERE person_id = $2 AND revoked_at IS NULL',
      now,
      personId,
    )
  } else if (credentials) {
    yield* insertPerson(person)
  }
  if (credentials) {
    yield* insertPasskey(credentials.passkey)
    yield* putRecoveryCodes(person.id, credentials.recoveryHashes, now)
  }
  if (personId === null) {
    const membership: Membership = { accountId, personId: person.id, role, admin, createdAt: now }
    const held = yield* first(
      'SELECT 1 AS one FROM memberships WHERE account_id = $1 AND person_id = $2',
      accountId,
      person.id,
    )
    if (!held) yield* insertMembership(membership)
  }
  return invitation
})
