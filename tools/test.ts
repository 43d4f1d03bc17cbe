import { z } from 'zod'
import { type TestBadge, TestReport, transactionFields } from '../schemas/commerce.ts'
import { GatewayError } from '../src/core/errors.ts'
import { free } from '../src/core/price.ts'
import { defineTool, type Services } from './services.ts'

const ToolAnnotations = z
  .strictObject({
    title: z.string().max(256).optional().describe('Title'),
    readOnlyHint: z.boolean().optional().describe('Changes nothing'),
    destructiveHint: z.boolean().optional().describe('May destroy something'),
    idempotentHint: z.boolean().optional().describe('Twice is once'),
    openWorldHint: z.boolean().optional().describe('Meets strangers'),
  })
  .describe('Of an MCP tool, as tools/list says: no request carries them')

const TestInput = z.strictObject({
  ...transactionFields,
  evaluate_at: z.iso
    .datetime({ offset: true })
    .optional()
    .describe('Windows are held against it; without it they are judged by their own bounds')
    .meta({ listed: false }),
  tool_annotations: ToolAnnotations.optional().meta({ listed: false }),
  badge: z
    .boolean()
    .optional()
    .describe(
      'Whether the score is signed as the address of a picture; it takes neither evaluate_at nor tool_annotations',
    )
    .meta({ listed: false }),
})
type TestInput = z.infer<typeof TestInput>

/** A free report on how safe a transaction is to run, by its structure alone. */
export const testTransaction = defineTool({
  name: 'gateway.test',
  toolset: 'commerce',
  title: 'Score a transaction',
  summary:
    'Scores a sample transaction of x402, MPP, AP2, UCP, ACP or MCP from 0 to 100: context binding, replay uniqueness, ' +
    'idempotency, freshness, retry safety, auditability. Every lost point has a place, a remediation and the document that ' +
    'asks for it. Structural: nothing is contacted or stored; of signatures only those of AP2 whose key the message holds are verified. Same input, same bytes.',
  brief:
    'Scores a transaction of x402, MPP, AP2, UCP, ACP or MCP from 0 to 100 for safety of retry and replay, with remedies. Contacts nothing.',
  input: TestInput,
  output: TestReport,
  price: free,
  caller: 'anyone',
  effects: { readOnly: true, idempotent: true, openWorld: false },
  rest: { method: 'POST', path: '/v1/test', operationId: 'testTransaction' },
  skill: {
    id: 'test-transaction',
    name: 'Score a transaction',
    tags: ['test', 'x402', 'mpp', 'ap2', 'ucp', 'acp', 'mcp'],
    examples: ['How safe is this payment to retry?', 'Score this x402 request'],
  },
  invalidInput: 'invalid_sample',
  errors: ['invalid_sample'],
  // Escaped into a string, the largest body that is read is twice as long.
  maxBodyBytes: 640 * 1024,
  examples: [
    {
      title: 'An MCP call',
      input: {
        target: 'https://example.com/mcp',
        method: 'POST',
        headers: { 'MCP-Protocol-Version': '2025-11-25' },
        body: '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_weather","arguments":{"location":"Oslo"}}}',
      },
    },
  ],
  handle: async function testTransaction({ badge, ...input }, services) {
    const { evaluate_at, tool_annotations, ...transaction } = input
    const report = services.commerce.test(transaction, {
      evaluateAt: evaluate_at === undefined ? undefined : Date.parse(evaluate_at),
      annotations: tool_annotations,
    })
    return badge
      ? { ...report, badge: report.applicable ? signScore(report, input, services) : null }
      : report
  },
})

/** @throws {GatewayError} invalid_sample where the score would rest on what is no part of the transaction */
function signScore(
  report: TestReport,
  input: Omit<TestInput, 'badge'>,
  { testBadges }: Pick<Services, 'testBadges'>,
): TestBadge {
  const besides = (['evaluate_at', 'tool_annotations'] as const).find((name) => input[name] !== undefined)
  if (besides !== undefined)
    throw new GatewayError('invalid_sample', `A badge is of the transaction alone: leave \`${besides}\` out.`)
  try {
    return testBadges.issue(report, input)
  } catch (cause) {
    throw new GatewayError(
      'invalid_sample',
      'The sample has no RFC 8785 form: half a character is in a text.',
      {
        cause,
      },
    )
  }
}
