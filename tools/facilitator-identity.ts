import { z } from 'zod'
import { free } from '../src/core/price.ts'
import { SupportedKind } from '../schemas/x402.ts'
import { defineTool } from './services.ts'

const Settler = z.strictObject({
  address: z.string(),
  network: z.string(),
  state: z.enum(['ok', 'low_on_gas', 'out_of_gas', 'stuck', 'unknown']),
  waiting: z.int().min(0).describe('Transactions that are in no block yet'),
  oldest_ms: z.number().nullable(),
  gas_wei: z.string().nullable(),
  settlements_left: z.number().nullable().describe('At what the next blocks ask'),
})

const Upstream = z.strictObject({
  id: z.string(),
  url: z.string().nullable(),
  state: z.enum(['ok', 'failing', 'unknown']),
  detail: z.string(),
  age_ms: z.number().nullable(),
  kinds: z.array(SupportedKind),
  latency_ms: z.number().nullable(),
  breaker: z.enum(['closed', 'open', 'half_open']),
  settlers: z.array(Settler).optional().describe('Accounts of the facilitator in this process'),
})

const Identity = z.strictObject({
  name: z.string(),
  version: z.string(),
  mode: z.enum(['sandbox', 'production']),
  x402_versions: z.array(z.int()),
  schemes: z.array(z.string()),
  networks: z.array(
    z.strictObject({
      network: z.string(),
      v1_name: z.string().nullable(),
      name: z.string(),
      revenue: z.boolean().describe('False on test networks'),
      asset: z.strictObject({
        address: z.string(),
        name: z.string(),
        version: z.string(),
        decimals: z.int(),
      }),
    }),
  ),
  kinds: z.array(SupportedKind).describe('What live upstreams take'),
  extensions: z.array(z.string()),
  signers: z.record(z.string(), z.array(z.string())),
  upstreams: z.array(Upstream),
  endpoints: z.record(z.string(), z.string()),
  policies: z.looseObject({}).describe('Limits, allowance, replay and finality'),
  receipts: z.strictObject({ typ: z.string(), keys: z.string() }),
})

export const facilitatorIdentity = defineTool({
  name: 'gateway.facilitator',
  toolset: 'payments',
  title: 'Who settles payments here',
  summary:
    'Identity of the facilitator: networks and assets, upstream facilitators with their state, limits, free allowance, ' +
    'finality, and where the keys of its receipts are.',
  brief: 'Networks, assets, upstream facilitators, limits and allowance of settlement here.',
  input: z.strictObject({}),
  output: Identity,
  price: free,
  caller: 'anyone',
  effects: { readOnly: true, idempotent: true, openWorld: true },
  rest: { method: 'GET', path: '/facilitator', operationId: 'getFacilitator' },
  errors: [],
  examples: [{ title: 'Read it', input: {} }],
  handle: async function facilitatorIdentity(_input, { facilitator }) {
    return (await facilitator.identity()) as z.infer<typeof Identity>
  },
})
