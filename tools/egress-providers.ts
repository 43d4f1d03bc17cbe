import { z } from 'zod'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

export const egressProviders = defineTool({
  name: 'gateway.egress.providers',
  toolset: 'egress',
  title: 'Providers with presets',
  summary:
    'The upstream providers the gateway knows: host, header and scheme of their credentials, and whether they honour ' +
    'an Idempotency-Key. Use `custom` for any other HTTPS API.',
  brief: 'Known providers: hosts, headers, schemes. `custom` is any other HTTPS API.',
  input: z.strictObject({}),
  output: z.looseObject({}),
  price: free,
  caller: 'anyone',
  effects: { readOnly: true, idempotent: true, openWorld: false },
  rest: { method: 'GET', path: '/v1/egress/providers', operationId: 'egressProviders' },
  errors: [],
  examples: [{ title: 'Read it', input: {} }],
  handle: async function egressProviders(_input, { documents }) {
    return documents.egressProviders()
  },
})
