import { z } from 'zod'
import { AmountAtomic, FeeExplained } from '../schemas/market-money.ts'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

export const marketplaceFee = defineTool({
  name: 'gateway.marketplace.fee',
  toolset: 'market',
  title: 'Marketplace: explain the fee',
  summary: 'Says what the platform keeps of a price and what the seller gets, step by step. Nothing is paid.',
  brief: 'What the platform keeps of a price, and what the seller gets.',
  input: z.strictObject({ amount_atomic: AmountAtomic }),
  output: FeeExplained,
  price: free,
  caller: 'anyone',
  effects: { readOnly: true, idempotent: true, openWorld: false },
  rest: { method: 'GET', path: '/v1/marketplace/fee', operationId: 'explainMarketplaceFee' },
  errors: [],
  examples: [{ title: 'Of ten cents', input: { amount_atomic: '100000' } }],
  handle: function marketplaceFee({ amount_atomic }, { money }) {
    return money.explainFee(BigInt(amount_atomic))
  },
})
