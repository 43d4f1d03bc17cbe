// Service keys as the documents callers see; never a token.
import type { KeyRecord } from '../../schemas/key.ts'
import type { ServiceKey } from '../store/ports.ts'

export const toKeyRecord = (key: ServiceKey): KeyRecord => ({
  key_id: key.id,
  account_id: key.accountId,
  label: key.label,
  admin: key.admin,
  created_at: new Date(key.createdAt).toISOString(),
  revoked_at: key.revokedAt === null ? null : new Date(key.revokedAt).toISOString(),
})
