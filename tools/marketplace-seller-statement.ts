import { z } from 'zod'
import { MarketNetwork } from '../schemas/market.ts'
import { Month, Statement } from '../schemas/market-money.ts'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

export const marketplaceSellerStatement = defineTool({
  name: 'gateway.seller.statement',
  toolset: 'market',
  title: 'Marketplace: statement of a seller',
  summary:
    "Lists every sale, refund and payout of the key's seller with claim, receipt and transaction, between an opening and a closing " +
    'balance.',
  brief: 'Sales, refunds and payouts of your seller, by month.',
  input: z.strictObject({
    from: Month.optional().describe('First month; by default `to`'),
    to: Month.optional().describe('Last month; by default this one'),
    network: MarketNetwork.default('eip155:8453').describe('`eip155:84532`: test money'),
    format: z.enum(['json', 'csv']).default('json').describe('`csv`: the lines as CSV too, in `csv`'),
    limit: z
      .int()
      .min(1)
      .max(1000)
      .default(200)
      .describe('Most lines')
      .meta({ listedAs: { default: null } }),
    cursor: z.string().min(3).max(64).optional().describe('`next` before'),
  }),
  output: Statement,
  price: free,
  caller: 'seller',
  effects: { readOnly: true, idempotent: true, openWorld: false },
  rest: { method: 'GET', path: '/v1/marketplace/seller/statement', operationId: 'readSellerStatement' },
  errors: ['key_required', 'not_found'],
  examples: [{ title: 'This month', input: {} }],
  handle: function marketplaceSellerStatement(query, { money, caller }) {
    return money.statement(caller.accountId, query)
  },
})
