import { z } from 'zod'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

export const egressManifest = defineTool({
  name: 'gateway.egress.manifest',
  toolset: 'egress',
  title: 'Egress manifest',
  summary: 'Where the egress endpoints are, what they guarantee and which providers have presets.',
  brief: 'Endpoints and guarantees of egress, and providers.',
  input: z.strictObject({}),
  output: z.looseObject({ version: z.string(), name: z.string(), role: z.string(), guarantee: z.string() }),
  price: free,
  caller: 'anyone',
  effects: { readOnly: true, idempotent: true, openWorld: false },
  rest: { method: 'GET', path: '/v1/egress', operationId: 'egressManifest' },
  errors: [],
  examples: [{ title: 'Read it', input: {} }],
  handle: async function egressManifest(_input, { documents }) {
    return documents.egressManifest() as never
  },
})
