import { z } from 'zod'
import { KeyRecord } from '../schemas/key.ts'
import { free } from '../src/core/price.ts'
import { toKeyRecord } from '../src/accounts/wire.ts'
import { defineTool } from './services.ts'

export const keysRevoke = defineTool({
  name: 'gateway.keys.revoke',
  toolset: 'operator',
  title: 'Revoke a service key',
  summary:
    'Ends a service key at once. Credentials and capabilities of the account stay. The last administrator key cannot ' +
    'be revoked. Repeating it changes nothing.',
  brief: 'Ends a service key at once; credentials and capabilities stay.',
  input: z.strictObject({ key_id: z.string().min(1).max(64).describe('`key_id` of the list') }),
  output: KeyRecord,
  price: free,
  caller: 'operator',
  needsFreshSignIn: true,
  effects: { readOnly: false, destructive: true, idempotent: true, openWorld: false },
  rest: { method: 'POST', path: '/v1/keys/{key_id}/revoke', operationId: 'revokeKey' },
  errors: ['key_required', 'key_not_found', 'role_required', 'state_conflict'],
  examples: [{ title: 'End it', input: { key_id: 'key_0000000000000000000000000000000000' } }],
  handle: async function keysRevoke({ key_id }, { accounts, caller }) {
    const isAdmin = caller.kind === 'operator' && caller.admin
    return toKeyRecord(await accounts.revokeKey(isAdmin ? undefined : caller.accountId, key_id, caller.role))
  },
})
