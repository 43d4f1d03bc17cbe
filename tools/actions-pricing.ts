import { z } from 'zod'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

export const actionsPricing = defineTool({
  name: 'gateway.actions.pricing',
  toolset: 'egress',
  title: 'What an action costs',
  summary: 'When a credit is taken for an action, when it is given back, and when it is not.',
  brief: 'When an action takes a credit, and when it is given back.',
  input: z.strictObject({}),
  output: z.looseObject({}),
  price: free,
  caller: 'anyone',
  effects: { readOnly: true, idempotent: true, openWorld: false },
  rest: { method: 'GET', path: '/v1/actions/pricing', operationId: 'actionsPricing' },
  errors: [],
  examples: [{ title: 'Read it', input: {} }],
  handle: async function actionsPricing(_input, { documents }) {
    return documents.actionsPricing()
  },
})
