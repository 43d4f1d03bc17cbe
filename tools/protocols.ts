import { z } from 'zod'
import { free } from '../src/core/price.ts'
import { CALLER_KINDS } from '../src/core/caller.ts'
import { defineTool } from './services.ts'

const Protocols = z.strictObject({
  name: z.string(),
  version: z.string(),
  protocols: z.strictObject({
    http: z.strictObject({ base_url: z.string(), description: z.string(), interactive: z.string() }),
    mcp: z.strictObject({ endpoint: z.string(), transport: z.string(), stateless: z.boolean() }),
    a2a: z.strictObject({ endpoint: z.string(), card: z.string() }),
  }),
  tools: z.array(
    z.strictObject({
      name: z.string(),
      portable_name: z.string(),
      title: z.string(),
      caller: z.enum(CALLER_KINDS),
      price: z.string(),
      schema: z.string().describe('Where its input and output schemas are'),
      http: z.array(z.strictObject({ method: z.string(), path: z.string(), operation_id: z.string() })),
      mcp: z.strictObject({ tool: z.string() }).nullable(),
      a2a: z.strictObject({ skills: z.array(z.string()) }).nullable(),
    }),
  ),
})

/** Protocol-neutral manifest. */
export const protocols = defineTool({
  name: 'gateway.protocols',
  toolset: 'commerce',
  title: 'Ways in',
  summary: 'Every tool with its address over HTTP, its MCP name and its A2A skills.',
  brief: 'Every tool with its HTTP address, MCP name and A2A skills.',
  input: z.strictObject({}),
  output: Protocols,
  price: free,
  caller: 'anyone',
  effects: { readOnly: true, idempotent: true, openWorld: false },
  rest: { method: 'GET', path: '/v1/protocols', operationId: 'getProtocols' },
  errors: [],
  examples: [{ title: 'Read it', input: {} }],
  handle: async function protocols(_input, { documents }) {
    return documents.protocols() as z.infer<typeof Protocols>
  },
})
