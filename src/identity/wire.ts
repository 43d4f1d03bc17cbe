// People, invitations and sessions as the documents callers see; never a token.
import type { InvitationRecord, PersonRecord, SessionRecord } from '../../schemas/person.ts'
import type { Invitation, Session } from '../store/ports.ts'
import type { Member } from './ports.ts'

const at = (millis: number) => new Date(millis).toISOString()

export const toPersonRecord = (member: Member): PersonRecord => ({
  person_id: member.personId,
  name: member.person.name,
  role: member.role,
  admin: member.admin,
  passkeys: member.passkeys,
  joined_at: at(member.createdAt),
  last_seen_at: member.lastSeenAt === null ? null : at(member.lastSeenAt),
})

export const toInvitationRecord = (invitation: Invitation): InvitationRecord => ({
  invitation_id: invitation.id,
  name: invitation.name,
  role: invitation.role,
  person_id: invitation.personId,
  invited_by: invitation.invitedBy,
  created_at: at(invitation.createdAt),
  expires_at: at(invitation.expiresAt),
})

/** @param currentId of the session that asks, if one does */
export const toSessionRecord = (session: Session, currentId?: string): SessionRecord => ({
  session_id: session.id,
  person_id: session.personId,
  method: session.method,
  address: session.address,
  user_agent: session.userAgent,
  current: session.id === currentId,
  created_at: at(session.createdAt),
  last_seen_at: at(session.seenAt),
  expires_at: at(session.expiresAt),
})
