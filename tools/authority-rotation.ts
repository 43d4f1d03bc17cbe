import { z } from 'zod'
import { AuthorityRotation } from '../schemas/authority.ts'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

export const authorityRotation = defineTool({
  name: 'gateway.authority.rotation',
  toolset: 'operator',
  title: 'Progress of the rotation',
  summary: 'The newest rotation of the wrapping key, and how far it is. For the administrator.',
  brief: 'How far the newest rotation of the wrapping key is.',
  input: z.strictObject({}),
  output: z.strictObject({ rotation: AuthorityRotation.nullable().describe('null where there was none') }),
  price: free,
  caller: 'admin',
  effects: { readOnly: true, idempotent: true, openWorld: false },
  rest: { method: 'GET', path: '/v1/authority/rotation', operationId: 'getAuthorityRotation' },
  errors: ['key_required', 'admin_required'],
  examples: [{ title: 'How far it is', input: {} }],
  handle: async function authorityRotation(_input, { egress }) {
    return { rotation: (await egress.latestRotation()) ?? null }
  },
})
