import { z } from 'zod'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

export const signingKeysRotate = defineTool({
  name: 'gateway.signing_keys.rotate',
  toolset: 'operator',
  title: 'Rotate the signing key',
  summary:
    'A new key signs receipts, quotes and permits from now on, on every replica. The keys before it are retired and stay ' +
    'published: what they signed still verifies, and a quote handed out before still pays. For the administrator.',
  brief: 'A new key signs from now on; what older ones signed still verifies.',
  input: z.strictObject({}),
  output: z.strictObject({
    kid: z.string().describe('The key that signs now'),
    retired: z.array(z.string()).describe('Keys that sign no more'),
  }),
  price: free,
  caller: 'admin',
  effects: { readOnly: false, destructive: false, idempotent: false, openWorld: false },
  needsFreshSignIn: true,
  rest: { method: 'POST', path: '/v1/signing-keys/rotate', operationId: 'rotateSigningKey' },
  errors: ['key_required', 'admin_required', 'state_conflict'],
  examples: [{ title: 'Rotate', input: {} }],
  handle: async function signingKeysRotate(_input, { signingKeys }) {
    const { kid, retired } = await signingKeys.rotate()
    return { kid, retired: [...retired] }
  },
})
