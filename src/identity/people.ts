// People and their roles.
import { GatewayError } from '../core/errors.ts'
import type { MemberRow, Store } from '../store/ports.ts'
import { type InvitationParts, makeInvitation } from './invitations.ts'
import type { Member, People } from './ports.ts'

/** Members of accounts. An account that has owners keeps one. */
export function createPeople(parts: InvitationParts & { readonly store: Store }): People {
  const { store, now } = parts

  async function memberOf(accountId: string, personId: string): Promise<Member> {
    const member = await store.getMember(accountId, personId)
    if (!member) throw personNotFound()
    return member
  }
  const changed = (change: { ok: true } | { ok: false; reason: 'not_found' | 'last_owner' }): void => {
    if (change.ok) return
    if (change.reason === 'not_found') throw personNotFound()
    throw new GatewayError(
      'state_conflict',
      'This is the last owner: nobody could let people in any more. Make somebody else an owner first.',
    )
  }

  return {
    list: (accountId, page) => store.listMembers(accountId, page),
    get: (accountId, personId) => store.getMember(accountId, personId),
    accountsOf: (personId) => store.membershipsOf(personId),
    async rename(personId, name) {
      if (!(await store.renamePerson({ personId, name, now: now() }))) throw personNotFound()
    },
    hasAny: () => store.hasPeople(),

    async invite({ accountId, role, name, personId, invitedBy }) {
      const isAdmin = (await store.firstAccount()) === accountId
      if (personId === undefined)
        return makeInvitation(parts, { accountId, role, admin: isAdmin, name, personId: null, invitedBy })
      const member: MemberRow = await memberOf(accountId, personId)
      // Whoever holds the link becomes that person, everywhere.
      if ((await store.membershipsOf(personId)).length > 1)
        throw new GatewayError(
          'state_conflict',
          'This person is a member of other accounts too, so no owner of one of them can give them a passkey. They sign in with a recovery ' +
            'code; or remove them and invite them anew.',
        )
      return makeInvitation(parts, {
        accountId,
        role: member.role,
        admin: isAdmin,
        name: member.person.name,
        personId,
        invitedBy,
      })
    },
    async inviteFirst() {
      const accountId = await store.firstAccount()
      if (accountId === undefined || (await store.hasPeople())) return undefined
      return makeInvitation(parts, {
        accountId,
        role: 'owner',
        admin: true,
        name: '',
        personId: null,
        invitedBy: 'gateway',
      })
    },
    invitations: (accountId) => store.listInvitations(accountId, now()),
    async withdraw(accountId, invitationId) {
      const invitation = await store.revokeInvitation({ id: invitationId, accountId, now: now() })
      if (!invitation)
        throw new GatewayError('person_not_found', 'There is no invitation of this id on your account.')
      return invitation
    },

    async setRole({ accountId, personId, role }) {
      changed(await store.setMemberRole({ accountId, personId, role, now: now() }))
      return memberOf(accountId, personId)
    },
    async remove({ accountId, personId, keepsKeys = false }) {
      const removed = await store.removeMember({ accountId, personId, keepsKeys, now: now() })
      changed(removed)
      return { revokedKeys: removed.ok ? removed.revokedKeys : [] }
    },
  }
}

const personNotFound = () =>
  new GatewayError('person_not_found', 'There is no person of this id in your account.')
