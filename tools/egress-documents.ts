import { z } from 'zod'
import { free } from '../schemas/money.ts'
import { defineTool } from '../src/registry.ts'

const Document = z.looseObject({ version: z.string() })
const nothing = z.strictObject({})
const common = {
  input: nothing,
  price: free,
  caller: 'anyone',
  effects: { readOnly: true, idempotent: true, openWorld: false },
  errors: [],
  examples: [{ title: 'Read it', input: {} }],
} as const

export const egressManifest = defineTool({
  ...common,
  name: 'gateway.egress.manifest',
  title: 'Egress manifest',
  summary: 'Where the egress endpoints are, what they guarantee and which providers have presets.',
  output: Document.extend({ name: z.string(), role: z.string(), guarantee: z.string() }),
  doors: ['rest'],
  rest: { method: 'GET', path: '/v1/egress', operationId: 'egressManifest' },
  handle: async (_input, { documents }) => documents.egressManifest() as never,
})

export const egressPricing = defineTool({
  ...common,
  name: 'gateway.egress.pricing',
  title: 'What an egress attempt costs',
  summary: 'When a credit is taken, when it is given back, and when it is not.',
  output: z.looseObject({}),
  doors: ['rest'],
  rest: { method: 'GET', path: '/v1/egress/pricing', operationId: 'egressPricing' },
  handle: async (_input, { documents }) => documents.egressPricing(),
})

export const egressProviders = defineTool({
  ...common,
  name: 'gateway.egress.providers',
  title: 'Providers with presets',
  summary:
    'The upstream providers the gateway knows: host, header and scheme of their credentials, and whether they honour ' +
    'an Idempotency-Key. Use `custom` for any other HTTPS API.',
  output: z.looseObject({}),
  rest: { method: 'GET', path: '/v1/egress/providers', operationId: 'egressProviders' },
  handle: async (_input, { documents }) => documents.egressProviders(),
})
