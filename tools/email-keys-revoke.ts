import { z } from 'zod'
import { EmailKeyRecord } from '../schemas/email.ts'
import { free } from '../src/core/price.ts'
import { toEmailKeyRecord } from '../src/email/wire.ts'
import { defineTool } from './services.ts'

export const emailKeysRevoke = defineTool({
  name: 'gateway.email.keys.revoke',
  toolset: 'operator',
  title: 'Revoke an email key',
  summary:
    'Ends a free key of email verification: at once in the gateway that is asked, within a second in others on the same ' +
    'database. For the administrator. Repeating it changes nothing.',
  brief: 'Ends an email key.',
  input: z.strictObject({ key_id: z.string().min(1).max(64).describe('`key_id` of the list') }),
  output: EmailKeyRecord,
  price: free,
  caller: 'admin',
  effects: { readOnly: false, destructive: true, idempotent: true, openWorld: false },
  rest: { method: 'POST', path: '/v1/email/keys/{key_id}/revoke', operationId: 'revokeEmailKey' },
  errors: ['key_required', 'admin_required', 'key_not_found'],
  examples: [{ title: 'End it', input: { key_id: 'ek_0000000000000000000000000000000000' } }],
  handle: async function emailKeysRevoke({ key_id }, { email }) {
    return toEmailKeyRecord(await email.revokeKey(key_id))
  },
})
