import { z } from 'zod'
import { PayoutRun } from '../schemas/market-money.ts'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

export const marketplacePayoutsRun = defineTool({
  name: 'gateway.marketplace.payouts.run',
  toolset: 'operator',
  title: 'Marketplace: pay sellers now',
  summary:
    'Sends every seller what it is owed, where that is at least the minimum. Safe to run twice: what was taken for a payout is ' +
    'owed no more. For the administrator.',
  brief: 'Pays every seller what is owed, from the minimum up; twice is safe.',
  input: z.strictObject({
    minimum_atomic: z
      .int()
      .min(1)
      .max(1e15)
      .optional()
      .describe('Atomic units; by default the minimum of the settings'),
  }),
  output: PayoutRun,
  price: free,
  caller: 'admin',
  needsFreshSignIn: true,
  effects: { readOnly: false, destructive: true, idempotent: true, openWorld: true },
  rest: { method: 'POST', path: '/v1/marketplace/payouts/run', operationId: 'runMarketplacePayouts' },
  errors: ['key_required', 'admin_required', 'payments_unavailable'],
  examples: [{ title: 'Whoever is owed at least one USDC', input: { minimum_atomic: 1_000_000 } }],
  handle: function marketplacePayoutsRun({ minimum_atomic }, { money }) {
    return money.run(minimum_atomic)
  },
})
