import { z } from 'zod'
import { Timestamp } from './http.ts'
import { RoleName } from './role.ts'

/** The facts of a service key that may be shown; its token is not among them. */
export const KeyRecord = z.strictObject({
  key_id: z.string(),
  account_id: z.string(),
  label: z.string(),
  admin: z.boolean().describe('May grant credits, open accounts and rotate the authority'),
  role: RoleName,
  created_at: Timestamp,
  revoked_at: Timestamp.nullable(),
})
export type KeyRecord = z.infer<typeof KeyRecord>
