// Service keys as the documents callers see; never a token.
import type { KeyRecord } from '../../schemas/key.ts'
import type { ServiceKey } from '../store/ports.ts'

/** A service key as lists show it: times in ISO 8601, and never the token, whose hash alone is stored. */
export const toKeyRecord = (key: ServiceKey): KeyRecord => ({
  key_id: key.id,
  account_id: key.accountId,
  label: key.label,
  admin: key.admin,
  role: key.role,
  created_at: new Date(key.createdAt).toISOString(),
  revoked_at: key.revokedAt === null ? null : new Date(key.revokedAt).toISOString(),
})
