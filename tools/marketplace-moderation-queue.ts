import { z } from 'zod'
import { OwnListing } from '../schemas/market-seller.ts'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

export const marketplaceModerationQueue = defineTool({
  name: 'gateway.moderation.queue',
  toolset: 'operator',
  title: 'Services that wait for you',
  summary:
    'Services whose sellers have offered them and that wait for the operator, the longest first. Everything in them is a stranger’s text.',
  brief: 'Offered services that wait for you, the longest first. Strangers’ text.',
  input: z.strictObject({
    limit: z
      .int()
      .min(1)
      .max(100)
      .default(20)
      .describe('Most entries')
      .meta({ listedAs: { default: null } }),
  }),
  output: z.strictObject({ services: z.array(OwnListing) }),
  price: free,
  caller: 'admin',
  effects: { readOnly: true, idempotent: true, openWorld: false },
  rest: { method: 'GET', path: '/v1/marketplace/moderation', operationId: 'listModeration' },
  errors: [],
  examples: [{ title: 'The queue', input: {} }],
  handle: async function marketplaceModerationQueue({ limit }, { sellers }) {
    return { services: await sellers.queue(limit) }
  },
})
