import { z } from 'zod'
import { AuthorityRotation } from '../schemas/authority.ts'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

export const authorityRotate = defineTool({
  name: 'gateway.authority.rotate',
  toolset: 'operator',
  title: 'Rotate the wrapping key',
  summary:
    'Makes a new key of the wrapping authority, re-wraps the record key of every stored credential to it and destroys ' +
    'the old one. No secret is decrypted and no request is refused meanwhile. Where `state` is `running` it goes on, over restarts too: ' +
    'gateway.authority.rotation shows how far it is. For the administrator.',
  brief: 'Makes a new wrapping key and re-wraps every credential; `running` goes on by itself.',
  input: z.strictObject({}),
  output: AuthorityRotation,
  price: free,
  caller: 'admin',
  effects: { readOnly: false, destructive: true, idempotent: false, openWorld: false },
  needsFreshSignIn: true,
  rest: { method: 'POST', path: '/v1/authority/rotate', operationId: 'rotateAuthority' },
  errors: ['key_required', 'admin_required', 'state_conflict'],
  examples: [{ title: 'Rotate', input: {} }],
  handle: async function authorityRotate(_input, { egress }) {
    return egress.rotateAuthority()
  },
})
