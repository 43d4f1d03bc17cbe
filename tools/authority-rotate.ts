import { z } from 'zod'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

export const authorityRotate = defineTool({
  name: 'gateway.authority.rotate',
  title: 'Rotate the wrapping key',
  summary:
    'Makes a new key of the wrapping authority, re-wraps the record key of every stored credential to it and destroys ' +
    'the old one. No secret is decrypted and no request is refused meanwhile. For the administrator.',
  input: z.strictObject({}),
  output: z.strictObject({
    kid: z.string().describe('The new current key'),
    retired: z.array(z.string()).describe('Keys that are gone'),
    rewrapped: z.int().min(0).describe('Record keys re-wrapped'),
  }),
  price: free,
  caller: 'admin',
  effects: { readOnly: false, destructive: true, idempotent: false, openWorld: false },
  rest: { method: 'POST', path: '/v1/authority/rotate', operationId: 'rotateAuthority' },
  errors: ['key_required', 'admin_required', 'state_conflict'],
  examples: [{ title: 'Rotate', input: {} }],
  handle: async function authorityRotate(_input, { egress }) {
    return egress.rotateAuthority()
  },
})
