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
      fragment: CheckReport.shape.fragment,
    }),
  ),
  caps: z.array(z.strictObject({ id: z.string(), max: z.int(), message: z.string() })),
  levels: z.array(z.strictObject({ level: z.string(), min: z.int() })),
  policy_reasons: z
    .array(z.strictObject({ code: z.string(), severity: z.string(), message: z.string() }))
    .describe('Of gateway.inspect'),
})

type TestSchema = z.infer<typeof TestSchema>

const { sample: _sample, checks, policy_reasons: _reasons, ...shared } = TestSchema.shape
const TestSchemaInBrief = z.strictObject({
  ...shared,
  checks: z.record(z.string(), z.int()).describe('How many there are, by protocol'),
  details: z.string(),
})
const TestSchemaOfOne = z.strictObject({
  ruleset_version: z.string(),
  checks: z.array(checks.element.pick({ id: true, dimension: true, max: true, asks: true })),
  details: z.string(),
})

/** The whole is 13,000 tokens, and most of it are the checks of protocols that nobody asked for. */
function briefOf({
  sample: _schema,
  checks,
  policy_reasons: _codes,
  ...schema
}: TestSchema): z.infer<typeof TestSchemaInBrief> {
  const counts: Record<string, number> = {}
  for (const { protocol } of checks) counts[protocol] = (counts[protocol] ?? 0) + 1
  const details =
    'Send {"protocol": name} for its checks. Codes of gateway.inspect are in the whole: GET /v1/test/schema.'
  return { ...schema, checks: counts, details }
}

const ofOne = ({ ruleset_version, checks }: TestSchema): z.infer<typeof TestSchemaOfOne> => ({
  ruleset_version,
  checks: checks.map(({ id, dimension, max, asks }) => ({ id, dimension, max, asks })),
  details: 'Specification and remediation of each check: GET /v1/test/schema, or the report of gateway.test.',
})

export const testSchema = defineTool({
  name: 'gateway.test.schema',
  toolset: 'commerce',
  title: 'How transactions are scored',
  summary:
    'Schema of a sample, protocols and versions, dimensions, every check with its points, caps, levels, reason codes.',
  brief: 'How gateway.test scores.',
  input: z.strictObject({
    protocol: ProtocolName.optional().describe('Only of this one'),
  }),
  output: TestSchema,
  inMessages: {
    output: z.union([TestSchemaInBrief, TestSchemaOfOne]),
    from: (schema, { protocol }) => (protocol === undefined ? briefOf(schema) : ofOne(schema)),
  },
  price: free,
  caller: 'anyone',
  effects: { readOnly: true, idempotent: true, openWorld: false },
  rest: { method: 'GET', path: '/v1/test/schema', operationId: 'getTestSchema' },
  errors: [],
  examples: [
    { title: 'How it is scored', input: {} },
    { title: 'The checks of one protocol', input: { protocol: 'x402' } },
  ],
  handle: async function testSchema({ protocol }, { commerce }) {
    const { protocols, checks, ...schema } = commerce.testSchema() as TestSchema
    const isOf = (each: { readonly protocol: string }) => protocol === undefined || each.protocol === protocol
    return { ...schema, protocols: protocols.filter(isOf), checks: checks.filter(isOf) }
  },
})
