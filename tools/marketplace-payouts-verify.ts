import { z } from 'zod'
import { PayoutProof } from '../schemas/market-money.ts'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

export const marketplacePayoutsVerify = defineTool({
  name: 'gateway.marketplace.payouts.verify',
  toolset: 'operator',
  title: 'Marketplace: prove the ledger',
  summary:
    'Looks for the transfers of payouts on their chains, checks their receipts, and makes the sums of the ledger again. For the ' +
    'administrator.',
  brief: 'Proves payouts on their chains and the sums of the ledger.',
  input: z.strictObject({
    limit: z
      .int()
      .min(1)
      .max(100)
      .default(50)
      .describe('Most entries')
      .meta({ listedAs: { default: null } }),
    before: z.string().min(1).max(64).optional().describe('`next` before'),
  }),
  output: PayoutProof,
  price: free,
  caller: 'admin',
  effects: { readOnly: true, idempotent: true, openWorld: true },
  rest: { method: 'GET', path: '/v1/marketplace/payouts/verify', operationId: 'verifyMarketplacePayouts' },
  errors: ['key_required', 'admin_required'],
  examples: [{ title: 'The newest fifty', input: {} }],
  handle: function marketplacePayoutsVerify(page, { money }) {
    return money.verify(page)
  },
})
