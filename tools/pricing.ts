import { z } from 'zod'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

const Pricing = z.looseObject({
  version: z.string(),
  currency: z.literal('USDC'),
  decimals: z.literal(6),
  free_tools: z.array(z.string()),
  preflight_endpoint: z.string(),
  tools: z.record(z.string(), z.looseObject({ available: z.boolean(), amount_atomic: z.string() })),
  quote_endpoint: z.string(),
  quote_ttl_seconds: z.int(),
  quote_request: z.record(z.string(), z.unknown()),
  paid_flow: z.record(z.string(), z.unknown()),
})

export const pricing = defineTool({
  name: 'gateway.pricing',
  toolset: 'payments',
  title: 'What paid tools cost',
  summary:
    'Prices of the tools that are paid with x402, where they can be paid right now, and how the price is made up.',
  brief: 'Prices of what is paid with x402, and where it can be paid now.',
  input: z.strictObject({}),
  output: Pricing,
  price: free,
  caller: 'anyone',
  effects: { readOnly: true, idempotent: true, openWorld: false },
  rest: { method: 'GET', path: '/v1/pricing', operationId: 'getPricing' },
  errors: [],
  examples: [{ title: 'Read it', input: {} }],
  handle: async function pricing(_input, { webFetch }) {
    return (await webFetch.pricing()) as z.infer<typeof Pricing>
  },
})
