import { z } from 'zod'
import { GatewayError } from '../src/core/errors.ts'
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

type Protocols = z.infer<typeof Protocols>

const ProtocolsInBrief = Protocols.extend({
  tools: z.array(Protocols.shape.tools.element.pick({ name: true, caller: true, price: true })),
  details: z.string(),
})

/** The whole is 11,000 tokens. */
const briefOf = ({ tools, ...manifest }: Protocols): z.infer<typeof ProtocolsInBrief> => ({
  ...manifest,
  details: 'Send {"tool": name} for addresses, skills and schemas of one.',
  tools: tools.map(({ name, caller, price }) => ({ name, caller, price })),
})

/** Protocol-neutral manifest. */
export const protocols = defineTool({
  name: 'gateway.protocols',
  toolset: 'commerce',
  title: 'Ways in',
  summary: 'Every tool with its address over HTTP, its MCP name and its A2A skills.',
  brief: 'Every tool and its addresses.',
  input: z.strictObject({ tool: z.string().optional().describe('Only this') }),
  output: Protocols,
  inMessages: {
    output: z.union([ProtocolsInBrief, Protocols]),
    from: (manifest, { tool }) => (tool === undefined ? briefOf(manifest) : manifest),
  },
  price: free,
  caller: 'anyone',
  effects: { readOnly: true, idempotent: true, openWorld: false },
  rest: { method: 'GET', path: '/v1/protocols', operationId: 'getProtocols' },
  errors: ['not_found'],
  examples: [
    { title: 'Every tool', input: {} },
    { title: 'One of them', input: { tool: 'gateway.web.fetch' } },
  ],
  handle: async function protocols({ tool }, { documents }) {
    const { tools, ...manifest } = documents.protocols() as Protocols
    const isIt = ({ name, portable_name, a2a }: Protocols['tools'][number]) =>
      tool !== undefined && (name === tool || portable_name === tool || a2a?.skills.includes(tool))
    const shown = tool === undefined ? tools : tools.filter(isIt)
    if (shown.length === 0)
      throw new GatewayError('not_found', 'No tool has this name. Leave `tool` out for the list of all.')
    return { ...manifest, tools: shown }
  },
})
