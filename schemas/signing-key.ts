import { z } from 'zod'
import { Timestamp } from './http.ts'

export const SigningKeyId = z
  .string()
  .regex(/^[A-Za-z0-9_-]{43}$/, 'must be a key id: 43 characters of base64url')
  .describe('Key id: `kid` of what it signed')

/** The facts of a signing key that may be shown; its private half is not among them. */
export const SigningKeyRecord = z.strictObject({
  kid: z.string().describe('Key id (RFC 7638 thumbprint)'),
  state: z
    .enum(['signing', 'published', 'retired', 'revoked'])
    .describe(
      '`signing`: this process signs with it. `published`: another replica does, or a rotation that was cut left it behind. ' +
        '`retired`: what it signed until `retired_at` verifies. `revoked`: nothing that it signed verifies',
    ),
  not_before: Timestamp,
  retired_at: Timestamp.nullable(),
  revoked_at: Timestamp.nullable(),
  reason: z.string().nullable().describe('Why it was revoked; everybody may read it'),
})
export type SigningKeyRecord = z.infer<typeof SigningKeyRecord>
