import { z } from 'zod'
import { Capability, Catalogue } from '../schemas/catalogue.ts'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

/** The catalogue: what can be had here, for how much, and how to ask for it. */
export const capabilities = defineTool({
  name: 'gateway.capabilities',
  toolset: 'web',
  title: 'What this gateway can do',
  summary:
    'Lists every live capability with its input and output schema, exact price, limits and an example that works when ' +
    'sent unchanged. Free and without an account: read it first.',
  input: z.strictObject({}),
  output: Catalogue,
  price: free,
  caller: 'anyone',
  effects: { readOnly: true, idempotent: true, openWorld: false },
  rest: { method: 'GET', path: '/v1/capabilities', operationId: 'listCapabilities' },
  skill: {
    id: 'capabilities',
    name: 'What this gateway can do',
    tags: ['discovery', 'catalogue', 'free'],
    examples: ['What can you do?', 'What does an extraction cost?'],
  },
  errors: [],
  examples: [{ title: 'The whole catalogue', input: {} }],
  reply: 'message',
  handle: async function capabilities(_input, { documents }) {
    return documents.catalogue() as Catalogue
  },
})

/** One entry of the catalogue. */
export const capabilitiesGet = defineTool({
  name: 'gateway.capabilities.get',
  toolset: 'web',
  title: 'One capability in full',
  summary:
    'The descriptor of one capability by its id: schemas, price, limits, example, and how each door calls it.',
  input: z.strictObject({ id: z.string().min(1).max(64).describe('`id` in the catalogue') }),
  output: Capability,
  price: free,
  caller: 'anyone',
  effects: { readOnly: true, idempotent: true, openWorld: false },
  rest: { method: 'GET', path: '/v1/capabilities/{id}', operationId: 'getCapability' },
  errors: ['not_found'],
  examples: [{ title: 'The free preview', input: { id: 'extract-preview' } }],
  handle: async function capabilitiesGet({ id }, { documents }) {
    return documents.capability(id) as Capability
  },
})
