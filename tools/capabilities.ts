import { z } from 'zod'
import { Capability, Catalogue } from '../schemas/catalogue.ts'
import { CapabilityInBrief, CapabilityIndex } from '../schemas/catalogue-brief.ts'
import { free } from '../src/core/price.ts'
import { briefOf, indexOf } from '../src/outcomes/catalogue-brief.ts'
import { defineTool } from './services.ts'

/** The catalogue: what can be had here, for how much, and how to ask for it. */
export const capabilities = defineTool({
  name: 'gateway.capabilities',
  toolset: 'web',
  title: 'What this gateway can do',
  summary:
    'Lists every live capability with its exact price and when to use it; with `id`, that one with its limits and an example ' +
    'that works when sent unchanged. Free and without an account: read it first.',
  brief: 'What is sold here, with prices. Free: read it first.',
  input: z.strictObject({
    // `gateway.capabilities.get` is the way that is published.
    id: z.string().optional().describe('Only this one').meta({ advertised: false }),
  }),
  output: Catalogue,
  inMessages: {
    output: z.union([CapabilityIndex, CapabilityInBrief]),
    from(catalogue, { id }) {
      const [one] = catalogue.tools
      return id !== undefined && one ? briefOf(one) : indexOf(catalogue)
    },
  },
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
  errors: ['not_found'],
  examples: [{ title: 'Everything on offer', input: {} }],
  handle: async function capabilities({ id }, { documents }) {
    const catalogue = documents.catalogue() as Catalogue
    if (id === undefined) return catalogue
    documents.capability(id)
    const isIt = (entry: Capability) => entry.id === id
    return {
      ...catalogue,
      capabilities: catalogue.capabilities.filter(isIt),
      tools: catalogue.tools.filter(isIt),
    }
  },
})

/** One entry of the catalogue. */
export const capabilitiesGet = defineTool({
  name: 'gateway.capabilities.get',
  toolset: 'web',
  title: 'One capability in full',
  summary: 'One capability by its id: price, limits, an example, what it answers, and where its schemas are.',
  brief: 'One capability: limits, example, answer.',
  input: z.strictObject({ id: z.string().describe('`id` in the catalogue') }),
  output: Capability,
  inMessages: { output: CapabilityInBrief, from: briefOf },
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
