import { z } from 'zod'
import { MandateRecord } from '../schemas/actions.ts'
import { pageInput, pageOutput } from '../schemas/egress.ts'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

export const actionsMandatesList = defineTool({
  name: 'gateway.actions.mandates.list',
  toolset: 'operator',
  title: 'List mandates',
  summary: 'Mandates, newest first, with what is used of each; those given with a permit are here too.',
  brief: 'Mandates, newest first, with what is used of each.',
  input: z.strictObject({ ...pageInput }),
  output: z.strictObject({ mandates: z.array(MandateRecord), ...pageOutput }),
  price: free,
  caller: 'operator',
  effects: { readOnly: true, idempotent: true, openWorld: false },
  rest: { method: 'GET', path: '/v1/actions/mandates', operationId: 'listActionMandates' },
  errors: ['key_required'],
  examples: [{ title: 'The latest', input: { limit: 20 } }],
  handle: async function actionsMandatesList(page, { actions, caller }) {
    const { items, next } = await actions.listMandates(caller.accountId, page)
    return { mandates: items, next }
  },
})
