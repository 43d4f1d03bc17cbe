import { z } from 'zod'
import { free } from '../src/core/price.ts'
import { AddressClass, NormalisedFetch, PreflightRequest } from '../schemas/web-fetch.ts'
import { defineTool } from './services.ts'

const Preflight = z.strictObject({
  ok: z.literal(true),
  ready: z.boolean().describe('True: a paid fetch would be sent now'),
  request: NormalisedFetch,
  request_digest: z.string().describe('Base64url SHA-256 over the RFC 8785 form of `request`'),
  target: z.strictObject({
    host: z.string(),
    safe: z.boolean(),
    resolved: z.boolean(),
    address_class: AddressClass.nullable(),
    addresses: z.int().min(0).describe('How many the name has'),
    contacted: z.literal(false),
  }),
  payment: z.looseObject({
    network: z.string(),
    asset: z.string(),
    amount_atomic: z.string(),
    amount: z.string(),
    pay_to: z.string().nullable(),
    rail: z.string(),
    ready: z.boolean(),
  }),
  economics: z.record(z.string(), z.unknown()),
  findings: z
    .array(z.strictObject({ code: z.string(), reason: z.string(), detail: z.string() }))
    .describe('What stands in the way, with the code that a fetch would answer'),
  next: z.looseObject({ method: z.string(), url: z.string(), body: z.record(z.string(), z.unknown()) }),
})

/** Takes what a fetch takes, and says what would become of it. */
export const preflight = defineTool({
  name: 'gateway.preflight',
  toolset: 'web',
  title: 'Check a web fetch before paying',
  summary:
    'Says for free whether a web fetch would be sent: is the target safe, can it be paid now, what does it cost. The ' +
    'name is resolved and its addresses are classified; no connection to the target is opened.',
  brief:
    'Free check of a web fetch: is the target safe, can it be paid now, what does it cost. Opens no connection to it.',
  input: PreflightRequest,
  output: Preflight,
  price: free,
  caller: 'anyone',
  effects: { readOnly: true, idempotent: true, openWorld: false },
  rest: { method: 'POST', path: '/v1/preflight', operationId: 'preflightWebFetch' },
  errors: ['input_conflict', 'target_invalid'],
  examples: [{ title: 'A page', input: { url: 'https://example.com/', method: 'GET' } }],
  maxBodyBytes: 64 * 1024,
  handle: async function preflight(input, { webFetch }) {
    return (await webFetch.preflight(input)) as z.infer<typeof Preflight>
  },
})
