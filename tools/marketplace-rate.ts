import { z } from 'zod'
import { Timestamp } from '../schemas/http.ts'
import { SignInChallenge } from '../schemas/sign-in.ts'
import { free } from '../src/core/price.ts'
import { toTimestamp } from '../src/lib/timestamp.ts'
import { defineTool } from './services.ts'

export const marketplaceRate = defineTool({
  name: 'gateway.marketplace.rate',
  toolset: 'market',
  title: 'Marketplace: rate a paid call',
  summary:
    'Rates one paid call of a service, from 1 to 5. Needs its receipt, and the payment that made it, unchanged (as `Payment-Signature` ' +
    'or `_meta["x402/payment"]`); where that does not show who paid, `sign_in` says what the payer signs. One rating a call.',
  brief:
    'Rates a paid call from 1 to 5. Needs its receipt, and its payment unchanged in _meta["x402/payment"].',
  input: z.strictObject({
    receipt: z.string().min(1).max(8192).describe('`receipt.receipt_id` or `receipt.jws` of the paid answer'),
    rating: z.int().min(1).max(5).describe('5 is best'),
    words: z.string().max(500).optional().describe('Shown to others as a buyer’s words'),
  }),
  output: z.strictObject({
    rated: z.boolean(),
    counts: z
      .boolean()
      .nullable()
      .describe('False: a payer that is excluded from figures; null until `rated`'),
    seller: z.string().nullable(),
    service_id: z.string().nullable(),
    created_at: Timestamp.nullable(),
    sign_in: SignInChallenge.nullable().describe(
      'Signed by the wallet that paid, and sent with the same request',
    ),
  }),
  price: free,
  caller: 'anyone',
  effects: { readOnly: false, destructive: false, idempotent: false, openWorld: false },
  rest: { method: 'POST', path: '/v1/marketplace/ratings', operationId: 'rateMarketplaceCall' },
  errors: ['receipt_not_found', 'state_conflict', 'payment_not_found', 'payment_invalid', 'sign_in_refused'],
  examples: [
    { title: 'A call that was good', input: { receipt: 'eyJ...', rating: 5, words: 'Fast and exact.' } },
  ],
  handle: async function marketplaceRate({ receipt, rating, words }, { ratings, payment, signIn }) {
    const made = await ratings.rate({ receipt, rating, words }, { payment, signIn })
    return {
      rated: made.rating !== null,
      counts: made.rating?.isCounted ?? null,
      seller: made.rating?.sellerId ?? null,
      service_id: made.rating?.serviceId ?? null,
      created_at: made.rating ? toTimestamp(made.rating.createdAt) : null,
      sign_in: made.signIn,
    }
  },
})
