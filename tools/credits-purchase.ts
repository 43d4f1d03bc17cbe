import { z } from 'zod'
import { DEFAULT_CREDIT_PRICE_ATOMIC } from '../schemas/money.ts'
import { x402 } from '../src/core/price.ts'
import { defineTool } from './services.ts'

const USUAL_CREDITS = 100
const usualPrice = (creditPriceAtomic: bigint) => x402({ amount: BigInt(USUAL_CREDITS) * creditPriceAtomic })

export const creditsPurchase = defineTool({
  name: 'gateway.credits.purchase',
  toolset: 'payments',
  title: 'Buy credits',
  summary:
    'Buys usage credits with an x402 payment in USDC; no person is needed. They go to the account of your service key or ' +
    'capability; without one, to the account of the account_reference that a 402 for credits hands out. ' +
    'Credits appear when the payment settles. The price grows with `credits`.',
  brief: 'Buys credits with USDC for the account of your key or capability, or of an `account_reference`.',
  input: z.strictObject({
    credits: z
      .int()
      .min(1)
      .max(100_000)
      .default(USUAL_CREDITS)
      .describe('How many; many clients pay 1.00 USDC at most'),
    account_reference: z
      .string()
      .min(1)
      .max(2048)
      .optional()
      .describe('From `offer.request.body` of a 402 for credits'),
  }),
  output: z.strictObject({
    credits_granted: z.int().min(1).describe('On the account as soon as the payment is settled'),
    account_id: z.string().nullable().describe('Null where the account was named by reference only'),
    claim_id: z.string(),
    payment_url: z.string().describe('State of the payment, for whoever shows it again'),
    balance_url: z.string().describe('Where the holder of a key or capability reads the balance'),
    cost: z.strictObject({
      amount_atomic: z.string(),
      amount: z.string(),
      currency: z.literal('USDC'),
      decimals: z.int(),
      credit_price_atomic: z.string(),
    }),
  }),
  price: usualPrice(DEFAULT_CREDIT_PRICE_ATOMIC),
  priceUnder: ({ creditPriceAtomic }) => usualPrice(creditPriceAtomic),
  caller: 'anyone',
  effects: { readOnly: false, destructive: false, idempotent: false, openWorld: true },
  rest: { method: 'POST', path: '/v1/credits/purchase', operationId: 'purchaseCredits' },
  skill: {
    id: 'credits-purchase',
    name: 'Buy credits',
    tags: ['credits', 'x402'],
    examples: ['Buy 100 credits for this account'],
  },
  errors: [
    'input_conflict',
    'key_required',
    'key_invalid',
    'capability_invalid',
    'account_not_found',
    'state_conflict',
  ],
  examples: [{ title: 'A hundred credits for the account of the token', input: { credits: USUAL_CREDITS } }],
  plan: function creditsPurchase(request, { purchases, caller }) {
    return purchases.plan(request, caller)
  },
})
