import { z } from 'zod'
import { SellerId } from '../schemas/market.ts'
import { PayoutPage } from '../schemas/market-money.ts'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

export const marketplacePayouts = defineTool({
  name: 'gateway.marketplace.payouts',
  toolset: 'market',
  title: 'Marketplace: payouts',
  summary: 'Lists what sellers were paid, newest first, each with its transaction and a signed receipt.',
  brief: 'What sellers were paid, newest first, with transactions and receipts.',
  input: z.strictObject({
    seller: SellerId.optional().describe('Only to this seller'),
    limit: z
      .int()
      .min(1)
      .max(100)
      .default(20)
      .describe('Most entries')
      .meta({ listedAs: { default: null } }),
    before: z.string().min(1).max(64).optional().describe('`next` before'),
  }),
  output: PayoutPage,
  price: free,
  caller: 'anyone',
  effects: { readOnly: true, idempotent: true, openWorld: false },
  rest: { method: 'GET', path: '/v1/marketplace/payouts', operationId: 'listMarketplacePayouts' },
  errors: [],
  examples: [{ title: 'The newest', input: {} }],
  handle: function marketplacePayouts(page, { money }) {
    return money.payouts(page)
  },
})
