// Email keys as the documents operators see; never a token.
import type { EmailKeyRecord } from '../../schemas/email.ts'
import type { EmailKey } from '../store/ports.ts'

/** The record of a key as operators see it. */
export const toEmailKeyRecord = (key: EmailKey): EmailKeyRecord => ({
  key_id: key.id,
  created_at: new Date(key.createdAt).toISOString(),
  last_seen_on: key.lastSeenDay,
  revoked_at: key.revokedAt === null ? null : new Date(key.revokedAt).toISOString(),
})
