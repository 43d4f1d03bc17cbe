import { z } from 'zod'
import { Timestamp } from './http.ts'

/** A rotation of the wrapping key, with its progress. */
export const AuthorityRotation = z.strictObject({
  rotation_id: z.string(),
  state: z
    .enum(['running', 'done', 'failed'])
    .describe(
      '`running`: requests go on meanwhile, and another process goes on with it where this one ends. `failed`: the new key is in use, ' +
        'but some records could not be opened, so the old keys are kept; with `kid` null no new key could be made, and nothing was changed',
    ),
  kid: z.string().nullable().describe('The new current key; null until it is made'),
  retired: z
    .array(z.string())
    .describe(
      'Keys that no record needs any more. Those of the current key file are destroyed; versions of a key service, and a file that gave ' +
        'way to one, stay until you disable or remove them',
    ),
  rewrapped: z.int().min(0).describe('Record keys re-wrapped'),
  total: z.int().min(0).nullable().describe('Record keys that there were to re-wrap when the key was made'),
  credential_ids: z
    .array(z.string())
    .describe(
      'Credentials whose record no key opens (the first of them): replace or revoke them, then rotate again',
    ),
  started_at: Timestamp,
  updated_at: Timestamp,
  finished_at: Timestamp.nullable(),
})
export type AuthorityRotation = z.infer<typeof AuthorityRotation>
