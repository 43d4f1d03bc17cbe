import { z } from 'zod'
import { SigningKeyId, SigningKeyRecord } from '../schemas/signing-key.ts'
import { free } from '../src/core/price.ts'
import { toSigningKeyRecord } from '../src/receipts/wire.ts'
import { defineTool } from './services.ts'

export const signingKeysRevoke = defineTool({
  name: 'gateway.signing_keys.revoke',
  toolset: 'operator',
  title: 'Revoke a signing key',
  summary:
    'For a key that may be in other hands: nothing that it ever signed verifies any more, and the key document says so with time ' +
    'and reason. If it signs, a new key takes its place first. Receipts stay readable at their address, signed anew. ' +
    'Repeating it changes nothing. For the administrator.',
  brief: 'For a key in other hands: nothing it signed verifies any more, and the reason is published.',
  input: z.strictObject({
    kid: SigningKeyId,
    reason: z.string().trim().min(1).max(200).describe('Published with the key'),
  }),
  output: SigningKeyRecord,
  price: free,
  caller: 'admin',
  effects: { readOnly: false, destructive: true, idempotent: true, openWorld: false },
  needsFreshSignIn: true,
  rest: { method: 'POST', path: '/v1/signing-keys/{kid}/revoke', operationId: 'revokeSigningKey' },
  errors: ['key_required', 'admin_required', 'key_not_found', 'state_conflict'],
  examples: [
    {
      title: 'A backup with the key was stolen',
      input: { kid: 'x_VyhGzXwz2tEZzmSTG2tmJ5a3l4pRuw1vFm0cHXu8c', reason: 'stolen with a backup' },
    },
  ],
  handle: async function signingKeysRevoke({ kid, reason }, { signingKeys }) {
    return toSigningKeyRecord(await signingKeys.revoke(kid, reason))
  },
})
