import { z } from 'zod'
import { SigningKeyId, SigningKeyRecord } from '../schemas/signing-key.ts'
import { free } from '../src/core/price.ts'
import { toSigningKeyRecord } from '../src/receipts/wire.ts'
import { defineTool } from './services.ts'

export const signingKeysRetire = defineTool({
  name: 'gateway.signing_keys.retire',
  toolset: 'operator',
  title: 'Retire a signing key',
  summary:
    'Ends the validity of a key that another replica used, or that a cut rotation left behind. What it signed until then ' +
    'verifies, what claims to be younger does not. The key that signs is retired by a rotation. For the administrator.',
  brief: 'Ends the validity of a key that no longer signs; what it signed until now verifies.',
  input: z.strictObject({ kid: SigningKeyId }),
  output: SigningKeyRecord,
  price: free,
  caller: 'admin',
  effects: { readOnly: false, destructive: true, idempotent: true, openWorld: false },
  needsFreshSignIn: true,
  rest: { method: 'POST', path: '/v1/signing-keys/{kid}/retire', operationId: 'retireSigningKey' },
  errors: ['key_required', 'admin_required', 'key_not_found', 'state_conflict'],
  examples: [{ title: 'End its validity', input: { kid: 'x_VyhGzXwz2tEZzmSTG2tmJ5a3l4pRuw1vFm0cHXu8c' } }],
  handle: async function signingKeysRetire({ kid }, { signingKeys }) {
    return toSigningKeyRecord(await signingKeys.retire(kid))
  },
})
