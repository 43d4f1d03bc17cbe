// x402 over MCP on the wire and through the official clients, with a gate that decides by the signature's word.
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createRegistry } from '../../src/core/registry.ts'
import { answerSchema } from '../../src/doors/mcp/answer-schema.ts'
import { PaymentRequired } from '../../schemas/x402.ts'
import { startMcpGateway, type TestGateway, testTools } from '../support/mcp-gateway.ts'
import {
  createFakeGate,
  type FakeGate,
  type Fate,
  paidTool,
  payment,
  TRANSACTION,
} from '../support/paid-door.ts'
import { cites } from '../requirements.ts'

const NAME = 'gateway.test.buy'
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities'
const VERSION = 'io.modelcontextprotocol/protocolVersion'

let gate: FakeGate
let gateway: TestGateway
let logged: Record<string, unknown>[]
beforeEach(async () => {
  gate = createFakeGate()
  logged = []
  gateway = await startMcpGateway({ tools: [...testTools().tools, paidTool], gate, logged })
})
afterEach(() => gateway.close())

interface Result {
  isError?: boolean
  content?: { type: string; text: string }[]
  // Whatever came back is what is tested.
  // oxlint-disable-next-line typescript/no-explicit-any
  structuredContent?: any
  resultType?: string
  // oxlint-disable-next-line typescript/no-explicit-any
  paymentRequired?: any
  _meta?: Record<string, unknown>
}
type Call = (
  input: object,
  meta?: Record<string, unknown>,
  capabilities?: object,
) => Promise<{ result: Result; text: string }>

async function post(params: object, headers: Record<string, string>) {
  const response = await fetch(gateway.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
  })
  const text = await response.text()
  expect(response.status, text).toBe(200)
  return { result: (JSON.parse(text) as { result: Result }).result, text }
}
const legacy: Call = (input, meta = {}, capabilities = {}) =>
  post({ name: NAME, arguments: input, _meta: { ...meta, [CAPABILITIES]: capabilities } }, {})
const modern: Call = (input, meta = {}, capabilities = {}) =>
  post(
    {
      name: NAME,
      arguments: input,
      _meta: { ...meta, [VERSION]: '2026-07-28', [CAPABILITIES]: capabilities },
    },
    { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': NAME },
  )
const withPayment = (fate: Fate) => ({ 'x402/payment': payment(fate) })

describe.each([
  ['2025', legacy],
  ['2026', modern],
] as const)('in the era of %s', (era, call) => {
  it(
    cites(
      'x402:mcp:challenge',
      'answers an unpaid call with exactly the PaymentRequired, twice, byte for byte',
    ),
    async () => {
      const { result, text } = await call({ text: 'hi' })
      const { structuredContent, content, isError, resultType } = result
      expect(isError).toBe(true)
      expect(resultType).toBe(era === '2026' ? 'complete' : undefined)
      expect(PaymentRequired.strict().parse(structuredContent)).toEqual(structuredContent)
      expect(structuredContent.resource.url).toBe('mcp://tool/gateway.test.buy')
      expect(content).toHaveLength(1)
      expect(text).toContain(`"structuredContent":${content![0]!.text}`)
      expect(result._meta?.['agent-gateway/quote']).toBe('quote of mcp://tool/gateway.test.buy')
      expect(gate.worked()).toBe(0)
    },
  )

  it(cites('x402:mcp:settled', 'releases the stored bytes and how the payment was settled'), async () => {
    const { result, text } = await call({ text: 'hi' }, withPayment('good'))
    const json = '{ "text":"hi","receipt":{"receipt_id":"rcp_1"}}'
    expect(result.isError).toBeUndefined()
    expect(result.content).toEqual([{ type: 'text', text: json }])
    expect(text).toContain(`"structuredContent":${json}`)
    expect(result._meta).toMatchObject({
      'x402/payment-response': { success: true, transaction: TRANSACTION, network: 'eip155:84532' },
    })
    const serverInfo = result._meta!['io.modelcontextprotocol/serverInfo']
    expect(serverInfo === undefined).toBe(era === '2025')
  })

  it('also reads a payment in the base64 form of the HTTP header', async () => {
    const header = Buffer.from(JSON.stringify(payment('good'))).toString('base64')
    const { result } = await call({ text: 'hi' }, { 'x402/payment': header })
    expect(result.structuredContent).toMatchObject({ text: 'hi' })
    expect(gate.calls.at(-1)?.payment).toMatchObject({ form: 'header', name: 'payment-signature' })
  })

  it('hands the quote that came with the challenge on', async () => {
    await call({ text: 'hi' }, { ...withPayment('good'), 'agent-gateway/quote': 'eyJ' })
    expect(gate.calls.at(-1)?.quote).toBe('eyJ')
  })

  it(cites('x402:mcp:refused', 'asks again when the payment is not accepted, and says why'), async () => {
    const { result } = await call({ text: 'hi' }, withPayment('bad'))
    expect(result.isError).toBe(true)
    expect(result.structuredContent).toMatchObject({
      x402Version: 2,
      error: 'invalid_exact_evm_payload_signature',
    })
    expect(gate.worked()).toBe(0)
  })

  it(
    cites(
      'x402:mcp:settle-failed',
      'shows nothing of the result when the settlement fails, only what to pay and why it failed',
    ),
    async () => {
      const { result, text } = await call({ text: 'sold out' }, withPayment('unsettled'))
      expect(gate.worked()).toBe(1)
      expect(result).toMatchObject({
        isError: true,
        structuredContent: { x402Version: 2, error: 'invalid_transaction_state' },
        _meta: {
          'x402/payment-response': {
            success: false,
            errorReason: 'invalid_transaction_state',
            transaction: '',
          },
        },
      })
      expect(text).not.toContain('sold out')
    },
  )

  it.each([
    ['unknown', 'settlement_unknown'],
    ['used', 'payment_claimed'],
  ] as const)('answers a payment that is %s with the problem that names the claim', async (fate, code) => {
    const { result, text } = await call({ text: 'sold out' }, withPayment(fate))
    expect(result).toMatchObject({ isError: true, structuredContent: { code, claim_id: 'pay_1' } })
    expect(JSON.parse(result.content![0]!.text)).toEqual(result.structuredContent)
    expect(text).not.toContain('sold out')
    expect(text).not.toContain('accepts')
  })

  it(cites('x402:mcp:uncharged', 'charges nothing for a call that fails'), async () => {
    const { result } = await call({ text: 'fail' }, withPayment('good'))
    expect(result.structuredContent).toMatchObject({ code: 'upstream_unreachable' })
    expect(result._meta?.['x402/payment-response']).toBeUndefined()
  })

  it(cites('x402:mcp:order', 'checks the input before it names a price'), async () => {
    const { result } = await call({ text: 7 })
    expect(result.structuredContent).toMatchObject({ code: 'input_wrong_type' })
    expect(gate.calls).toEqual([])
  })

  it('asks nothing for a call that is free', async () => {
    const { result } = await call({ text: 'free' })
    expect(result.structuredContent).toEqual({ text: 'free', receipt: null })
    expect(result._meta?.['x402/payment-response']).toBeUndefined()
  })

  it.each([
    ['a number', 7],
    ['a list', [payment('good')]],
    ['more than 64 KiB', { ...payment('good'), pad: 'x'.repeat(64 * 1024) }],
    ['more than 64 KiB of text', 'x'.repeat(64 * 1024 + 1)],
  ])(cites('x402:mcp:shape', 'refuses %s as a payment before it reaches the gate'), async (_, value) => {
    const { result } = await call({ text: 'hi' }, { 'x402/payment': value })
    expect(result.structuredContent).toMatchObject({ code: 'payment_invalid', status: 400 })
    expect(gate.calls).toEqual([])
  })

  it(cites('x402:mcp:secret', 'logs nothing of a payment'), async () => {
    for (const fate of ['good', 'bad', 'unsettled', 'unknown', 'used'] as const)
      await call({ text: 'hi' }, withPayment(fate))
    expect(logged.length).toBeGreaterThanOrEqual(5)
    expect(JSON.stringify(logged)).not.toContain('canary')
  })
})

describe('the extension org.x402/payment', () => {
  const capabilities = { extensions: { 'org.x402/payment': {} } }

  it(
    cites('x402:mcp:extension', 'is told with a result type of its own to a client that has it'),
    async () => {
      const { result } = await modern({ text: 'hi' }, {}, capabilities)
      expect(result.resultType).toBe('payment_required')
      expect(PaymentRequired.parse(result.paymentRequired)).toEqual(result.paymentRequired)
      expect(result).not.toHaveProperty('structuredContent')
      expect(result).not.toHaveProperty('isError')
      expect(result._meta).toHaveProperty(['io.modelcontextprotocol/serverInfo'])
    },
  )

  it('changes neither what a paid call answers nor a problem', async () => {
    const paid = await modern({ text: 'hi' }, withPayment('good'), capabilities)
    expect(paid.result).toMatchObject({ resultType: 'complete', structuredContent: { text: 'hi' } })
    const problem = await modern({ text: 'hi' }, withPayment('used'), capabilities)
    expect(problem.result).toMatchObject({ resultType: 'complete', isError: true })
  })

  it(
    cites('x402:mcp:extension-2025', 'means nothing in the era of 2025, which has no result types'),
    async () => {
      const { result } = await legacy({ text: 'hi' }, {}, capabilities)
      expect(result).toMatchObject({ isError: true, structuredContent: { x402Version: 2 } })
    },
  )

  it('is spoken over stdio too', async () => {
    const stdin = new PassThrough()
    const stdout = new PassThrough()
    const served = gateway.door.stdio({ stdin, stdout }, undefined)
    const _meta = { [VERSION]: '2026-07-28', [CAPABILITIES]: capabilities }
    const ask = (id: number, method: string, params: object) =>
      stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta } })}\n`)
    ask(1, 'server/discover', {})
    ask(2, 'tools/call', { name: NAME, arguments: { text: 'hi' } })
    stdin.end()
    await served
    stdout.end()
    const lines = (await text(stdout)).trim().split('\n')
    const answers = new Map(
      lines
        .map((line) => JSON.parse(line) as { id: number; result: Result })
        .map(({ id, result }) => [id, result]),
    )
    expect(answers.get(1)).toMatchObject({ capabilities })
    expect(answers.get(2)).toMatchObject({
      resultType: 'payment_required',
      paymentRequired: { x402Version: 2 },
    })
    expect(answers.get(2)).not.toHaveProperty('isError')
  })

  it(cites('x402:mcp:extension-declared', 'is declared by server/discover'), async () => {
    const response = await fetch(gateway.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'server/discover',
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'server/discover',
        params: { _meta: { [VERSION]: '2026-07-28', [CAPABILITIES]: {} } },
      }),
    })
    expect(await response.json()).toMatchObject({ result: { capabilities } })
  })
})

describe('the list', () => {
  it('says what a call costs, and the schema of its answer admits the challenge of paid tools only', async () => {
    const { tools } = await withClient(connectV2('auto'), 'http', (client) => client.listTools())
    const listed = tools.find(({ name }) => name === 'gateway_test_buy')!
    expect(listed.description).toContain('0.001000 USDC')
    const challenge = (await legacy({ text: 'hi' })).result.structuredContent
    const accepts = (schema: unknown) => new Ajv2020({ strict: false }).validate(schema as object, challenge)
    const registry = createRegistry([...testTools().tools, paidTool])
    expect(accepts(answerSchema(registry.find('gateway_test_buy')!))).toBe(true)
    expect(accepts(answerSchema(registry.find('gateway_test_echo')!))).toBe(false)
  })
})

type Where = 'http' | 'bridge' | 'embedded'
interface AnyClient {
  listTools(): Promise<{ tools: { name: string; description?: string }[] }>
  callTool(params: { name: string; arguments: object; _meta?: object }): Promise<Result>
  close(): Promise<void>
}
type Connect = (where: Where) => Promise<AnyClient>

const info = { name: 'buyer', version: '1.0.0' }
const script = new URL('../support/mcp-stdio.ts', import.meta.url).pathname
const command = (where: Where) => ({
  command: process.execPath,
  args: where === 'bridge' ? [script, gateway.url] : [script],
})

const connectV2 =
  (mode: 'legacy' | 'auto' | { pin: string }): Connect =>
  async (where) => {
    const client = new Client(info, { versionNegotiation: { mode } })
    await client.connect(
      where === 'http'
        ? new StreamableHTTPClientTransport(new URL(gateway.url))
        : new StdioClientTransport(command(where)),
    )
    return client as unknown as AnyClient
  }
const connectV1: Connect = async (where) => {
  const client = new ClientV1(info)
  const transport = where === 'http' ? new HttpV1(new URL(gateway.url)) : new StdioV1(command(where))
  // The v1 types predate exactOptionalPropertyTypes.
  await client.connect(transport as Parameters<typeof client.connect>[0])
  return client as unknown as AnyClient
}

async function withClient<T>(connect: Connect, where: Where, use: (client: AnyClient) => Promise<T>) {
  const client = await connect(where)
  try {
    return await use(client)
  } finally {
    await client.close()
  }
}

describe.each(['http', 'bridge', 'embedded'] as const)('over %s', (where) => {
  it.each([
    ['v1', connectV1],
    ['v2 as of 2025', connectV2('legacy')],
    ['v2 as of 2026', connectV2({ pin: '2026-07-28' })],
  ] as const)(
    'the client %s sees the challenge after it listed the tools, pays and gets the result',
    (_, connect) =>
      withClient(connect, where, async (client) => {
        // Listing first: that is when the v1 client learns the schemas.
        const { tools } = await client.listTools()
        const name = tools.map((tool) => tool.name).find((listed) => listed.endsWith('buy'))!
        const unpaid = await client.callTool({ name, arguments: { text: 'hi' } })
        expect(unpaid.isError).toBe(true)
        expect(PaymentRequired.parse(unpaid.structuredContent).accepts[0]!.amount).toBe('1000')
        expect(JSON.parse(unpaid.content![0]!.text)).toEqual(unpaid.structuredContent)

        const _meta = withPayment('good')
        const paid = await client.callTool({ name, arguments: { text: 'hi' }, _meta })
        expect(paid.structuredContent).toEqual({ text: 'hi', receipt: { receipt_id: 'rcp_1' } })
        expect(paid._meta?.['x402/payment-response']).toMatchObject({ success: true })

        const failed = await client.callTool({
          name,
          arguments: { text: 'hi' },
          _meta: withPayment('unsettled'),
        })
        expect(failed._meta?.['x402/payment-response']).toMatchObject({ success: false })
        expect(failed.structuredContent).toMatchObject({ x402Version: 2 })
      }),
  )
})
