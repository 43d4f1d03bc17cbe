// Events of people, their sessions and passkeys, and of the assistants that they connect. Ids, roles and hosts, never a name.
import { about, type Describe } from './audit-description.ts'
import { budgetList } from './audit-terms.ts'
import type { ConnectionTerms } from './ports/identity.ts'
/** What an assistant was allowed, in ids and hosts. */
const allowed = ({
  parts,
  scope,
  budgets,
  mayPay,
  mayOperate,
  showsBalance,
  maxUses,
  expiresAt,
}: ConnectionTerms) => ({
  credential_ids: parts.map(({ credentialId }) => credentialId),
  hosts: [...new Set(parts.flatMap(({ scope }) => scope.hosts))],
  path_prefixes: [...scope.path_prefixes],
  methods: [...scope.methods],
  budgets: budgetList(budgets),
  shows_balance: showsBalance,
  may_pay: mayPay,
  may_operate: mayOperate,
  max_uses: maxUses,
  expires_at: new Date(expiresAt).toISOString(),
})

/** Of so many keys that end at once an event says the ids. */
const MAX_NAMED = 20

export const SIGN_IN_EVENTS = {
  addPerson: (_, { person, membership }) => ({
    chain: membership.accountId,
    at: person.createdAt,
    event: 'person.added',
    ...about('person', person.id),
    detail: { role: membership.role },
  }),
  insertSession: (_, { session }) => ({
    chain: session.accountId,
    at: session.createdAt,
    event: 'session.opened',
    ...about('session', session.id),
    detail: { person_id: session.personId, method: session.method },
  }),
  setMemberRole: (changed, { role, now }) =>
    changed.ok && changed.was !== role
      ? {
          chain: changed.accountId,
          at: now,
          event: 'person.role_changed',
          ...about('person', changed.personId),
          detail: { role, was: changed.was },
        }
      : undefined,
  removeMember: (changed, { now }) =>
    changed.ok
      ? {
          chain: changed.accountId,
          at: now,
          event: 'person.removed',
          ...about('person', changed.personId),
          detail: {
            was: changed.was,
            revoked_keys: changed.revokedKeys.length,
            key_ids: changed.revokedKeys.slice(0, MAX_NAMED),
          },
        }
      : undefined,
  signInThroughProvider: (known, { accountId, now }) =>
    known.ok && (known.isNew || known.role !== known.was)
      ? {
          chain: accountId,
          at: now,
          event: known.isNew ? 'person.added' : 'person.role_changed',
          ...about('person', known.personId),
          detail: { role: known.role, was: known.isNew ? null : known.was, by: 'identity provider' },
        }
      : undefined,
  insertInvitation: (_, { invitation }) => ({
    chain: invitation.accountId,
    at: invitation.createdAt,
    event: 'invitation.made',
    ...about('invitation', invitation.id),
    detail: { role: invitation.role, person_id: invitation.personId, invited_by: invitation.invitedBy },
  }),
  revokeInvitation: (invitation, { now }) =>
    invitation?.revokedAt === now
      ? {
          chain: invitation.accountId,
          at: now,
          event: 'invitation.revoked',
          ...about('invitation', invitation.id),
        }
      : undefined,
  acceptInvitation: (invitation, { person, now }) =>
    invitation && {
      chain: invitation.accountId,
      at: now,
      event: 'invitation.accepted',
      ...about('invitation', invitation.id),
      detail: { person_id: person.id, role: invitation.role, new_passkey: invitation.personId !== null },
    },
  addPasskey: (isAdded, { passkey, accountId }) =>
    isAdded
      ? {
          chain: accountId,
          at: passkey.createdAt,
          event: 'passkey.added',
          ...about('passkey', passkey.id),
          detail: { person_id: passkey.personId },
        }
      : undefined,
  removePasskey: (outcome, { id, personId, accountId, now }) =>
    outcome === 'removed'
      ? {
          chain: accountId,
          at: now,
          event: 'passkey.removed',
          ...about('passkey', id),
          detail: { person_id: personId },
        }
      : undefined,
  replaceRecoveryCodes: (_, { personId, accountId, now }) => ({
    chain: accountId,
    at: now,
    event: 'recovery_codes.replaced',
    ...about('person', personId),
  }),
  freshenSession: (session, { now }) =>
    session && {
      chain: session.accountId,
      at: now,
      event: 'session.freshened',
      ...about('session', session.id),
      detail: { person_id: session.personId },
    },
  endSession: (session, { now }) =>
    session?.revokedAt === now
      ? {
          chain: session.accountId,
          at: now,
          event: 'session.ended',
          ...about('session', session.id),
          detail: { person_id: session.personId },
        }
      : undefined,
  endOtherSessions: (ended, { personId, accountId, now }) =>
    ended > 0
      ? {
          chain: accountId,
          at: now,
          event: 'session.others_ended',
          ...about('person', personId),
          detail: { ended },
        }
      : undefined,
  switchSession: (isDone, { id, personId, accountId, now }) =>
    isDone
      ? {
          chain: accountId,
          at: now,
          event: 'session.switched',
          ...about('session', id),
          detail: { person_id: personId },
        }
      : undefined,

  openConnection: (_, { connection, terms }) => ({
    chain: connection.accountId,
    at: connection.createdAt,
    event: 'connection.opened',
    ...about('connection', connection.id),
    detail: { person_id: connection.personId, client_host: connection.clientHost, ...allowed(terms) },
  }),
  changeConnection: (isChanged, { connection, terms, now }) =>
    isChanged
      ? {
          chain: connection.accountId,
          at: now,
          event: 'connection.changed',
          ...about('connection', connection.id),
          detail: allowed(terms),
        }
      : undefined,
  revokeConnections: ([first, ...others], { which, now }) =>
    first === undefined
      ? undefined
      : {
          chain: which.accountId,
          at: now,
          event: 'connection.revoked',
          ...about('connection', first),
          detail: { others },
        },
} as const satisfies Describe
