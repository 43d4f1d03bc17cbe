// People and what they may do for an account. Whoever takes the rights of an owner locks the owners first: one of them is always left.
import type { Role } from '../../../schemas/role.ts'
import { all, type Command, command, first, insertInto } from '../command.ts'
import type { Millis, Page, PageRequest } from '../model.ts'
import { selectPage } from '../page.ts'
import type { Membership, Person } from '../ports/identity.ts'
import type { MemberRow, OwnMembership, ProviderSignIn } from '../ports/people.ts'
import { lockConnections, MAY_CONNECT } from './connection-locks.ts'
import { revokeConnections } from './connection-terms.ts'

const INSERT_PERSON = insertInto('people', ['id', 'name', 'createdAt', 'disabledAt'])
const INSERT_MEMBER = insertInto('memberships', ['accountId', 'personId', 'role', 'admin', 'createdAt'])

/** The rows of somebody new. */
export function* insertPerson(person: Person): Command<void> {
  yield* all(INSERT_PERSON, person.id, person.name, person.createdAt, person.disabledAt)
}
/** One more account that somebody may act for. */
export function* insertMembership(m: Membership): Command<void> {
  yield* all(INSERT_MEMBER, m.accountId, m.personId, m.role, m.admin ? 1 : 0, m.createdAt)
}

/** Somebody new, with their first role. */
export const addPerson = command({ kind: 'transaction', touches: 'access' })(function* (input: {
  person: Person
  membership: Membership
}): Command<void> {
  yield* insertPerson(input.person)
  yield* insertMembership(input.membership)
})

interface MemberColumns {
  accountId: string
  personId: string
  role: Role
  admin: number
  createdAt: Millis
  name: string
  personCreatedAt: Millis
  disabledAt: Millis | null
  passkeys: number
  lastSeenAt: Millis | null
}
const MEMBER = `m.account_id AS "accountId", m.person_id AS "personId", m.role, m.admin, m.created_at AS "createdAt", p.name,
    p.created_at AS "personCreatedAt", p.disabled_at AS "disabledAt",
    (SELECT count(*) FROM passkeys k WHERE k.person_id = m.person_id) AS passkeys,
    (SELECT max(s.seen_at) FROM sessions s WHERE s.person_id = m.person_id AND s.account_id = m.account_id) AS "lastSeenAt"`
const FROM_MEMBERS = 'memberships m JOIN people p ON p.id = m.person_id'
const toMember = (row: MemberColumns): MemberRow => ({
  accountId: row.accountId,
  personId: row.personId,
  role: row.role,
  admin: row.admin === 1,
  createdAt: row.createdAt,
  person: {
    id: row.personId,
    name: row.name,
    createdAt: row.personCreatedAt,
    disabledAt: row.disabledAt,
  },
  passkeys: Number(row.passkeys),
  lastSeenAt: row.lastSeenAt,
})

/** Members of the account, newest first. */
export const listMembers = command({ kind: 'read', namesAccount: true })(function* (
  accountId: string,
  page: PageRequest,
): Command<Page<MemberRow>> {
  return yield* selectPage<MemberColumns, MemberRow>(
    { columns: MEMBER, from: FROM_MEMBERS, id: 'm.person_id' },
    [['m.account_id = $', accountId]],
    page,
    toMember,
    (member) => member.personId,
  )
})

const GET_MEMBER = `SELECT ${MEMBER} FROM ${FROM_MEMBERS} WHERE m.account_id = $1 AND m.person_id = $2`
/** Undefined where the person is no member of the account. */
export const getMember = command({ kind: 'read', namesAccount: true })(function* (
  accountId: string,
  personId: string,
): Command<MemberRow | undefined> {
  const row = yield* first<MemberColumns>(GET_MEMBER, accountId, personId)
  return row && toMember(row)
})

/** The accounts that the person may act for, the one they joined first at the top. */
export const membershipsOf = command({ kind: 'read' })(function* (
  personId: string,
): Command<readonly OwnMembership[]> {
  const rows = yield* all<Omit<OwnMembership, 'admin'> & { admin: number }>(
    `SELECT m.account_id AS "accountId", m.person_id AS "personId", m.role, m.admin, m.created_at AS "createdAt", a.name AS "accountName"
     FROM memberships m JOIN accounts a ON a.id = m.account_id JOIN people p ON p.id = m.person_id
     WHERE m.person_id = $1 AND p.disabled_at IS NULL ORDER BY m.created_at, m.account_id`,
    personId,
  )
  return rows.map((row) => ({ ...row, admin: row.admin === 1 }))
})

/** Whether anybody has ever become a member of this installation. */
export const hasPeople = command({ kind: 'read' })(function* (): Command<boolean> {
  return (yield* first('SELECT 1 AS one FROM memberships LIMIT 1')) !== undefined
})

/** The account that the installation began with. */
export const firstAccount = command({ kind: 'read' })(function* (): Command<string | undefined> {
  const row = yield* first<{ accountId: string }>(
    'SELECT account_id AS "accountId" FROM service_keys WHERE admin = 1 ORDER BY id LIMIT 1',
  )
  return row?.accountId
})

export const renamePerson = command({ kind: 'statement', touches: 'access' })(function* (input: {
  personId: string
  name: string
  now: Millis
}): Command<boolean> {
  const row = yield* first(
    'UPDATE people SET name = $1 WHERE id = $2 RETURNING id',
    input.name,
    input.personId,
  )
  return row !== undefined
})

/** The owners of the account, locked until the transaction ends: whoever takes one away sees the others as they are. */
function* lockOwners(accountId: string): Command<readonly string[]> {
  const rows = yield* all<{ personId: string }>(
    `SELECT person_id AS "personId" FROM memberships WHERE account_id = $1 AND role = 'owner' ORDER BY person_id FOR UPDATE`,
    accountId,
  )
  return rows.map(({ personId }) => personId)
}

/** How a change of a membership ended. */
export type MemberChange =
  | { readonly ok: true; readonly accountId: string; readonly personId: string; readonly was: Role }
  | { readonly ok: false; readonly reason: 'not_found' | 'last_owner' }

/** How a removal ended, with the service keys that ended with it. */
export type MemberRemoval =
  | (Extract<MemberChange, { ok: true }> & { readonly revokedKeys: readonly string[] })
  | Extract<MemberChange, { ok: false }>

function* isLastOwner(accountId: string, personId: string): Command<boolean> {
  const owners = yield* lockOwners(accountId)
  return owners.length === 1 && owners[0] === personId
}

/**
 * Ends what a person's assistants had narrowed for themselves. An access token is looked up with the role of its person, and rests while
 * they may not connect; a capability stands alone, so it ends. Called once their role is written: what was narrowed until then is seen, and
 * what is narrowed later sees the role.
 */
function* endNarrowed(accountId: string, personId: string, now: Millis): Command<void> {
  yield* all(
    `UPDATE capabilities SET revoked_at = $1 WHERE id IN (
       SELECT id FROM capabilities WHERE revoked_at IS NULL AND account_id = $2 AND id IN
         (SELECT l.capability_id FROM capability_lineage l JOIN connections c ON c.capability_id = l.ancestor_id
          WHERE c.account_id = $2 AND c.person_id = $3)
       AND parent_id NOT IN (SELECT capability_id FROM connections WHERE account_id = $2 AND person_id = $3)
       ORDER BY id FOR UPDATE)`,
    now,
    accountId,
    personId,
  )
}

const LOCK_MEMBER = 'SELECT role FROM memberships WHERE account_id = $1 AND person_id = $2 FOR UPDATE'

/** From the next call on, for their assistants too. The last owner stays one. */
export const setMemberRole = command({ kind: 'transaction', touches: 'access' })(function* (input: {
  accountId: string
  personId: string
  role: Role
  now: Millis
}): Command<MemberChange> {
  const { accountId, personId, role, now } = input
  const mayConnect = MAY_CONNECT.includes(role)
  // Locks are taken in the order of every command: capabilities first.
  if (!mayConnect) yield* lockConnections({ accountId, of: 'person', id: personId })
  // Owners are locked before the member, so that two who demote each other wait in one order.
  const isLast = yield* isLastOwner(accountId, personId)
  const held = yield* first<{ role: Role }>(LOCK_MEMBER, accountId, personId)
  if (!held) return { ok: false, reason: 'not_found' }
  if (isLast && role !== 'owner') return { ok: false, reason: 'last_owner' }
  yield* all(
    'UPDATE memberships SET role = $1 WHERE account_id = $2 AND person_id = $3',
    role,
    accountId,
    personId,
  )
  if (!mayConnect) yield* endNarrowed(accountId, personId, now)
  return { ok: true, accountId, personId, was: held.role }
})

/**
 * Ends what the person may do for the account, their sessions there, what they connected and, unless somebody else keeps them, the service keys
 * that they made. Whoever is a member of nothing more keeps no passkey here. The last owner stays.
 */
export const removeMember = command({ kind: 'transaction', touches: 'access' })(function* (input: {
  accountId: string
  personId: string
  keepsKeys: boolean
  now: Millis
}): Command<MemberRemoval> {
  const { accountId, personId, keepsKeys, now } = input
  const which = { accountId, of: 'person', id: personId } as const
  // Locks are taken in the order of every command: capabilities first.
  yield* lockConnections(which)
  const isLast = yield* isLastOwner(accountId, personId)
  const held = yield* first<{ role: Role }>(LOCK_MEMBER, accountId, personId)
  if (!held) return { ok: false, reason: 'not_found' }
  if (isLast) return { ok: false, reason: 'last_owner' }
  yield* revokeConnections({ which, now })
  yield* all(
    'UPDATE sessions SET revoked_at = $1 WHERE account_id = $2 AND person_id = $3 AND revoked_at IS NULL',
    now,
    accountId,
    personId,
  )
  yield* all(
    'UPDATE invitations SET revoked_at = $1 WHERE account_id = $2 AND person_id = $3 AND used_at IS NULL AND revoked_at IS NULL',
    now,
    accountId,
    personId,
  )
  yield* all('DELETE FROM memberships WHERE account_id = $1 AND person_id = $2', accountId, personId)
  if (!(yield* first('SELECT 1 AS one FROM memberships WHERE person_id = $1', personId))) {
    yield* all('UPDATE people SET disabled_at = COALESCE(disabled_at, $1) WHERE id = $2', now, personId)
    // Who they are to an identity provider is remembered: it would let them in again.
    for (const table of ['passkeys', 'recovery_codes'])
      yield* all(`DELETE FROM ${table} WHERE person_id = $1`, personId)
  }
  const keys = keepsKeys ? [] : yield* all<{ id: string }>(REVOKE_KEYS_OF, now, accountId, personId)
  return { ok: true, accountId, personId, was: held.role, revokedKeys: keys.map(({ id }) => id) }
})

const REVOKE_KEYS_OF = `UPDATE service_keys SET revoked_at = $1
  WHERE account_id = $2 AND made_by = $3 AND revoked_at IS NULL RETURNING id`

/** How a sign-in through an identity provider ended; `removed`: an owner took them out of the account. */
export type ProviderResult =
  | {
      readonly ok: true
      readonly personId: string
      readonly isNew: boolean
      readonly role: Role
      readonly was: Role
    }
  | { readonly ok: false; readonly reason: 'removed' }

/**
 * The person that an identity provider vouches for, made at their first sign-in, in the role that it gives them today. The last owner
 * stays one, whatever it says; and whoever was removed here stays out.
 */
export const signInThroughProvider = command({ kind: 'transaction', touches: 'access' })(function* (
  input: ProviderSignIn,
): Command<ProviderResult> {
  const { issuer, subject, person, accountId, admin, now } = input
  const known = yield* first<{ personId: string }>(
    'SELECT person_id AS "personId" FROM provider_identities WHERE issuer = $1 AND subject = $2 FOR UPDATE',
    issuer,
    subject,
  )
  if (!known) {
    // Of two first sign-ins at once the second fails at the primary key, whole, and is tried again by whoever made it.
    yield* insertPerson(person)
    yield* all(
      insertInto('provider_identities', ['issuer', 'subject', 'personId', 'createdAt']),
      issuer,
      subject,
      person.id,
      now,
    )
    yield* insertMembership({ accountId, personId: person.id, role: input.role, admin, createdAt: now })
    return { ok: true, personId: person.id, isNew: true, role: input.role, was: input.role }
  }
  const { personId } = known
  if (!MAY_CONNECT.includes(input.role)) yield* lockConnections({ accountId, of: 'person', id: personId })
  const isLast = yield* isLastOwner(accountId, personId)
  const role = isLast ? 'owner' : input.role
  const held = yield* first<{ role: Role }>(LOCK_MEMBER, accountId, personId)
  if (!held) return { ok: false, reason: 'removed' }
  yield* all(
    'UPDATE memberships SET role = $1 WHERE account_id = $2 AND person_id = $3',
    role,
    accountId,
    personId,
  )
  if (!MAY_CONNECT.includes(role)) yield* endNarrowed(accountId, personId, now)
  return { ok: true, personId, isNew: false, role, was: held.role }
})
