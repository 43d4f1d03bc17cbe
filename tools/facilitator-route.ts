import { z } from 'zod'
import { Timestamp } from '../schemas/http.ts'
import { free } from '../src/core/price.ts'
import { SupportedKind } from '../schemas/x402.ts'
import { defineTool } from './services.ts'

const Recommended = z.strictObject({
  upstream: z.string(),
  url: z.string().nullable(),
  x402_version: z.int(),
  fee_atomic: z.string().describe('Atomic units of the asset that one settlement costs the seller'),
  latency_ms: z.number().nullable().describe('Moving average of its last calls'),
  breaker: z.enum(['closed', 'open', 'half_open']),
  observed_ms_ago: z.number().nullable(),
})

const RecommendedRoute = z.strictObject({
  network: z.string(),
  scheme: z.string(),
  recommended: Recommended.extend({ kind: SupportedKind }),
  reasons: z.array(z.string()),
  alternatives: z.array(Recommended),
  finality: z.string(),
  observed_at: Timestamp,
})

export const facilitatorRoute = defineTool({
  name: 'gateway.facilitator.route',
  toolset: 'payments',
  title: 'Best facilitator for a payment',
  summary:
    'Which live facilitator settles payments of a scheme on a network best now, by price, health and latency, and which ' +
    'others could. Settles nothing.',
  brief: 'The facilitator that settles best now for a network and scheme. Settles nothing.',
  input: z.strictObject({
    network: z
      .string()
      .regex(/^[-_a-zA-Z0-9:]{1,64}$/, 'must be a CAIP-2 id or a network name of x402 v1')
      .describe('Such as eip155:8453 or base'),
    scheme: z
      .string()
      .regex(/^[-a-z0-9]{1,64}$/, 'must be a scheme name such as exact')
      .default('exact')
      .describe('Payment scheme'),
  }),
  output: RecommendedRoute,
  price: free,
  caller: 'anyone',
  effects: { readOnly: true, idempotent: true, openWorld: true },
  rest: { method: 'GET', path: '/v1/facilitator/route', operationId: 'getFacilitatorRoute' },
  skill: {
    id: 'facilitator-route',
    name: 'Find a facilitator for a payment',
    tags: ['x402', 'payments', 'facilitator'],
    examples: ['Which facilitator can settle a USDC payment on Base Sepolia right now?'],
  },
  errors: ['no_route'],
  examples: [{ title: 'USDC on Base Sepolia', input: { network: 'eip155:84532', scheme: 'exact' } }],
  handle: async function facilitatorRoute(input, { facilitator }) {
    return (await facilitator.route(input)) as z.infer<typeof RecommendedRoute>
  },
})
