import { z } from 'zod'
import { PayoutOverview } from '../schemas/market-money.ts'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

export const marketplacePayoutsState = defineTool({
  name: 'gateway.marketplace.payouts.state',
  toolset: 'operator',
  title: 'Marketplace: what is owed',
  summary:
    'Says what is owed to sellers, what the payout account holds, how the newest runs went, and what is kept as owed and why. ' +
    'For the administrator.',
  brief: 'What is owed, what the account holds, how runs went.',
  input: z.strictObject({}),
  output: PayoutOverview,
  price: free,
  caller: 'admin',
  effects: { readOnly: true, idempotent: true, openWorld: true },
  rest: { method: 'GET', path: '/v1/marketplace/payouts/state', operationId: 'showMarketplacePayouts' },
  errors: ['key_required', 'admin_required'],
  examples: [{ title: 'Now', input: {} }],
  handle: function marketplacePayoutsState(_input, { money }) {
    return money.overview()
  },
})
