import { z } from 'zod'

const object = z.record(z.string(), z.unknown())

export const Pricing = z.strictObject({
  amount_atomic: z.string().describe('Smallest units of the currency'),
  amount: z.string().describe('Decimal with 6 places'),
  currency: z.literal('USDC'),
  decimals: z.literal(6),
  unit: z.literal('bounded execution'),
  exact: z.literal(true),
  includes_fallback: z.literal(true),
  delivered: z.string().describe('What the outcome contains'),
  payment: z.string().nullable().describe('How it is paid; null for the free capability'),
  quote_expires_seconds: z.int().nullable(),
})

/** Capability descriptor: one entry of the execute catalogue. */
export const Capability = z.strictObject({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  when_to_use: z.string(),
  input_schema: object.describe('JSON Schema of the request body'),
  output_schema: object.describe('JSON Schema of the answer'),
  pricing: Pricing,
  availability: z.literal('live'),
  execute_url: z.string(),
  protocols: z.array(z.enum(['http', 'mcp', 'a2a'])),
  expected_latency_ms: z.int().nullable(),
  latency_note: z.string(),
  limitations: z.array(z.string()),
  example: object.describe('Request body that works when sent unchanged'),
  url: z.string().describe('Page for people'),
  schema_url: z.string(),
  mappings: z.strictObject({
    mcp: z.strictObject({ endpoint: z.string(), tool: z.string() }),
    a2a: z.strictObject({ endpoint: z.string(), skill: z.string() }),
    openapi: z.strictObject({ url: z.string(), operationId: z.string() }),
  }),
})
export type Capability = z.infer<typeof Capability>

export const Catalogue = z.strictObject({
  name: z.string(),
  version: z.string(),
  product: z.string(),
  capabilities: z.array(Capability),
  tools: z.array(Capability.extend({ available: z.boolean(), paid: z.boolean(), endpoint: z.string() })),
  execute_url: z.string(),
  first_result: z.strictObject({
    method: z.literal('POST'),
    url: z.string(),
    body: object,
    expected_status: z.literal(200),
    price: z.literal('free'),
  }),
  discovery: z.strictObject({
    capabilities: z.string(),
    agent_instructions: z.string(),
    mcp: z.string(),
    a2a: z.string(),
    openapi: z.string(),
    interactive_try: z.string(),
    skills: z.string().describe('Goals that are reached with several tools, as Agent Skills'),
  }),
  compatibility: z.strictObject({
    paid_web_fetch: z.string().nullable(),
    scoped_vendor_actions: z.string(),
    operator_pricing: z.string(),
  }),
  no_account: z.literal(true),
  payment_requires_funded_payer: z.literal(true),
})
export type Catalogue = z.infer<typeof Catalogue>
