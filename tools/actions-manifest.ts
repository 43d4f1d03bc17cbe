import { z } from 'zod'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

export const actionsManifest = defineTool({
  name: 'gateway.actions.manifest',
  toolset: 'egress',
  title: 'Action manifest',
  summary:
    'Where the endpoints of action permits are, what a permit and a mandate hold, and what is guaranteed.',
  brief: 'Endpoints of permits, and what permits and mandates guarantee.',
  input: z.strictObject({}),
  output: z.looseObject({ version: z.string(), name: z.string(), role: z.string(), guarantee: z.string() }),
  price: free,
  caller: 'anyone',
  effects: { readOnly: true, idempotent: true, openWorld: false },
  rest: { method: 'GET', path: '/v1/actions', operationId: 'actionsManifest' },
  errors: [],
  examples: [{ title: 'Read it', input: {} }],
  handle: async function actionsManifest(_input, { documents }) {
    return documents.actionsManifest() as never
  },
})
