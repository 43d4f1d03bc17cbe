import { z } from 'zod'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

export const egressPricing = defineTool({
  name: 'gateway.egress.pricing',
  toolset: 'egress',
  title: 'What an egress attempt costs',
  summary: 'When a credit is taken, when it is given back, and when it is not.',
  brief: 'When an attempt takes a credit, and when it is given back.',
  input: z.strictObject({}),
  output: z.looseObject({}),
  price: free,
  caller: 'anyone',
  effects: { readOnly: true, idempotent: true, openWorld: false },
  rest: { method: 'GET', path: '/v1/egress/pricing', operationId: 'egressPricing' },
  errors: [],
  examples: [{ title: 'Read it', input: {} }],
  handle: async function egressPricing(_input, { documents }) {
    return documents.egressPricing()
  },
})
