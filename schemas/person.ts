import { z } from 'zod'
import { Timestamp } from './http.ts'
import { RoleName } from './role.ts'

/** A member of an account. */
export const PersonRecord = z.strictObject({
  person_id: z.string(),
  name: z.string().describe('As they wrote it themselves'),
  role: RoleName,
  admin: z.boolean().describe("A member of the installation's first account"),
  passkeys: z.int().min(0),
  joined_at: Timestamp,
  last_seen_at: Timestamp.nullable(),
})
export type PersonRecord = z.infer<typeof PersonRecord>

/** An invitation that waits. Its link is shown once, when it is made. */
export const InvitationRecord = z.strictObject({
  invitation_id: z.string(),
  name: z.string(),
  role: RoleName,
  person_id: z.string().nullable().describe('The member who gets a new passkey with it; null: somebody new'),
  invited_by: z.string().describe('Id of the person or the service key'),
  created_at: Timestamp,
  expires_at: Timestamp,
})
export type InvitationRecord = z.infer<typeof InvitationRecord>

/** A session of somebody who signed in; never its token. */
export const SessionRecord = z.strictObject({
  session_id: z.string(),
  person_id: z.string(),
  method: z.enum(['passkey', 'recovery', 'oidc']).describe('How they signed in'),
  address: z.string(),
  user_agent: z.string().describe('As the browser calls itself: anybody’s text'),
  current: z.boolean().describe('The session that asks'),
  created_at: Timestamp,
  last_seen_at: Timestamp,
  expires_at: Timestamp,
})
export type SessionRecord = z.infer<typeof SessionRecord>

export const PersonName = z.string().trim().min(1).max(100)
