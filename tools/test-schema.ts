import { z } from 'zod'
import { free } from '../src/core/price.ts'
import { CheckReport, DimensionName, ProtocolName } from '../schemas/commerce.ts'
import { defineTool } from './services.ts'

const TestSchema = z.strictObject({
  ruleset_version: z.string(),
  sample: z.record(z.string(), z.unknown()).describe('JSON Schema of what gateway.test takes'),
  protocols: z.array(
    z.strictObject({
      protocol: ProtocolName,
      versions: z.array(z.string()),
      transports: z.array(z.string()),
      stages: z.array(z.string()),
      covers: z.array(z.string()),
    }),
  ),
  dimensions: z.array(z.strictObject({ name: DimensionName, weight: z.int() })),
  checks: z.array(
    z.strictObject({
      ...CheckReport.pick({ id: true, dimension: true, max: true, spec: true }).shape,
      protocol: ProtocolName,
      asks: z.string().describe('What earns the points'),
      remediation: z.string(),
    }),
  ),
  caps: z.array(z.strictObject({ id: z.string(), max: z.int(), message: z.string() })),
  levels: z.array(z.strictObject({ level: z.string(), min: z.int() })),
  policy_reasons: z
    .array(z.strictObject({ code: z.string(), severity: z.string(), message: z.string() }))
    .describe('Of gateway.inspect'),
})

export const testSchema = defineTool({
  name: 'gateway.test.schema',
  toolset: 'commerce',
  title: 'How transactions are scored',
  summary:
    'Schema of a sample, protocols and versions, dimensions, every check with its points, caps, levels, reason codes.',
  brief: 'The checks of gateway.test with their points, levels and reason codes.',
  input: z.strictObject({}),
  output: TestSchema,
  price: free,
  caller: 'anyone',
  effects: { readOnly: true, idempotent: true, openWorld: false },
  rest: { method: 'GET', path: '/v1/test/schema', operationId: 'getTestSchema' },
  errors: [],
  examples: [{ title: 'Read it', input: {} }],
  handle: async function testSchema(_input, { commerce }) {
    return commerce.testSchema() as z.infer<typeof TestSchema>
  },
})
