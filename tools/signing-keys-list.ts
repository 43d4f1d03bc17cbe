import { z } from 'zod'
import { SigningKeyRecord } from '../schemas/signing-key.ts'
import { free } from '../src/core/price.ts'
import { toSigningKeyRecord } from '../src/receipts/wire.ts'
import { defineTool } from './services.ts'

export const signingKeysList = defineTool({
  name: 'gateway.signing_keys.list',
  toolset: 'operator',
  title: 'List signing keys',
  summary:
    'Every key that signs or signed for this gateway, newest first, with its validity. For the administrator; everybody else ' +
    'reads /.well-known/gateway-egress-key.json.',
  brief: 'Every signing key with its validity.',
  input: z.strictObject({}),
  output: z.strictObject({ keys: z.array(SigningKeyRecord) }),
  price: free,
  caller: 'admin',
  effects: { readOnly: true, idempotent: true, openWorld: false },
  rest: { method: 'GET', path: '/v1/signing-keys', operationId: 'listSigningKeys' },
  errors: ['key_required', 'admin_required'],
  examples: [{ title: 'All of them', input: {} }],
  handle: async function signingKeysList(_input, { signingKeys }) {
    return { keys: (await signingKeys.list()).map(toSigningKeyRecord) }
  },
})
