// The official MCP clients with a payer of stock x402 parts: each buys a web fetch on a real chain, and a replay buys nothing.
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createBuyer } from '../support/buyer.ts'
import { startTestChain, type TestChain } from '../support/chain.ts'
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts'
import { createWorld, type World } from '../support/gateway.ts'
import { removeFolder } from '../support/remove-folder.ts'

const PRICE = 1000n
const launcher = new URL('../../src/cli/launcher.ts', import.meta.url).pathname
const info = { name: 'buyer', version: '1.0.0' }

let chain: TestChain
let world: World
let gateway: GatewayProcess
let directory: string
beforeAll(async () => {
  chain = await startTestChain(84532)
  world = await createWorld({ env: chain.env })
  gateway = await startGatewayProcess(world)
  directory = mkdtempSync(join(tmpdir(), 'mcp-pay-'))
})
afterAll(async () => {
  await gateway?.stop('SIGTERM')
  await world?.close()
  await chain?.close()
  await removeFolder(directory)
})

interface Result {
  isError?: boolean
  // Whatever came back is what is tested.
  // oxlint-disable-next-line typescript/no-explicit-any
  structuredContent?: any
  content?: { text: string }[]
  _meta?: Record<string, { success: boolean; transaction: string }>
}
interface AnyClient {
  listTools(): Promise<{ tools: { name: string }[] }>
  callTool(params: { name: string; arguments: object; _meta?: object }): Promise<Result>
  close(): Promise<void>
}

const overHttp = (): Transport => new StreamableHTTPClientTransport(new URL(`${gateway.baseUrl}/mcp`))
const overStdio = (): Transport =>
  new StdioClientTransport({
    command: process.execPath,
    args: [launcher, 'stdio'],
    env: { PATH: process.env['PATH'] ?? '', GATEWAY_BASE_URL: gateway.baseUrl },
    stderr: 'ignore',
  })
const connectV2 = (mode: 'legacy' | { pin: string }, open: () => Transport) => async () => {
  const client = new Client(info, { versionNegotiation: { mode } })
  await client.connect(open())
  return client as unknown as AnyClient
}
async function connectV1() {
  const client = new ClientV1(info)
  const transport = new HttpV1(new URL(`${gateway.baseUrl}/mcp`))
  // The v1 types predate exactOptionalPropertyTypes.
  await client.connect(transport as Parameters<typeof client.connect>[0])
  return client as unknown as AnyClient
}

const clients = [
  ['v2 over HTTP, as of 2026', connectV2({ pin: '2026-07-28' }, overHttp)],
  ['v2 over HTTP, as of 2025', connectV2('legacy', overHttp)],
  ['v2 over stdio, as of 2026', connectV2({ pin: '2026-07-28' }, overStdio)],
  ['v2 over stdio, as of 2025', connectV2('legacy', overStdio)],
  ['v1 over HTTP', connectV1],
] as const

describe.each(clients)('the client %s', (_, connect) => {
  const index = clients.findIndex(([, other]) => other === connect)

  it('reads a long page to its end with the payment that bought it', async () => {
    const pay = createBuyer(chain.payers[index]!)
    const client = await connect()
    const page = Array.from({ length: 20_000 }, (_, line) => `line ${line}`).join('\n')
    world.upstream.respond((_request, res) => res.writeHead(200, { 'content-type': 'text/plain' }).end(page))
    try {
      const { tools } = await client.listTools()
      const name = tools.map((tool) => tool.name).find((listed) => /web.fetch$/.test(listed))!
      const input = { url: world.url(`/long-${index}`), testnet: true }
      const challenge = await client.callTool({ name, arguments: input })
      const _meta = { 'x402/payment': await pay(challenge.structuredContent) }
      const first = (await client.callTool({ name, arguments: input, _meta })).structuredContent
      let content: string = first.response.content
      let { left_out } = first
      expect(left_out.places).toMatchObject([{ at: '/response/content', from: 0 }])
      const claim_id = /clm_\w+/.exec(left_out.read_on)?.[0]
      while (left_out.next !== undefined) {
        const shown = await client.callTool({
          name: name.replace(/web.fetch$/, (found) =>
            found.replace('web', 'payments').replace('fetch', 'get'),
          ),
          arguments: { claim_id, answer_from: left_out.next },
          _meta,
        })
        content += shown.structuredContent.result.response.content
        ;({ left_out } = shown.structuredContent)
      }
      expect(content).toBe(page.slice(0, 131_072))
    } finally {
      world.upstream.respond((_request, res) =>
        res.writeHead(200, { 'content-type': 'text/plain' }).end('ok'),
      )
      await client.close()
    }
  })

  it('sees the price, pays exactly it, gets the page and a receipt; the same payment buys nothing again', async () => {
    const pay = createBuyer(chain.payers[index]!)
    const client = await connect()
    try {
      const { tools } = await client.listTools()
      const name = tools.map((tool) => tool.name).find((listed) => /web.fetch$/.test(listed))!
      const input = { url: world.url(`/page-${index}`), testnet: true }
      const before = await chain.usdcOf(chain.payTo)
      const asked = world.upstream.requests.length

      const challenge = await client.callTool({ name, arguments: input })
      expect(challenge.isError).toBe(true)
      expect(challenge.structuredContent.resource.url).toBe('mcp://tool/gateway.web.fetch')
      expect(JSON.parse(challenge.content![0]!.text)).toEqual(challenge.structuredContent)
      expect(world.upstream.requests).toHaveLength(asked)

      const payment = await pay(challenge.structuredContent)
      const paid = await client.callTool({ name, arguments: input, _meta: { 'x402/payment': payment } })
      expect(paid.isError, JSON.stringify(paid.structuredContent)).toBeFalsy()
      expect(paid._meta!['x402/payment-response']).toMatchObject({ success: true })
      expect(paid._meta!['x402/payment-response']!.transaction).toMatch(/^0x[0-9a-f]{64}$/)
      expect(JSON.parse(paid.content![0]!.text)).toEqual(paid.structuredContent)
      expect(world.upstream.requests).toHaveLength(asked + 1)
      expect(await chain.usdcOf(chain.payTo)).toBe(before + PRICE)

      const { receipt } = paid.structuredContent
      const stored = await gateway.rest('GET', new URL(receipt.url).pathname, undefined, '')
      expect(stored.status).toBe(200)
      expect(Object.keys(receipt)).toEqual(['receipt_id', 'url'])
      expect(stored.body.jws).toMatch(/^eyJ/)

      const replay = await client.callTool({ name, arguments: input, _meta: { 'x402/payment': payment } })
      expect(replay).toMatchObject({ isError: true, structuredContent: { code: 'payment_claimed' } })
      const { claim_id } = replay.structuredContent
      expect(claim_id).toMatch(/^clm_/)
      const shown = await client.callTool({
        name: name.replace(/web.fetch$/, (found) => found.replace('web', 'payments').replace('fetch', 'get')),
        arguments: { claim_id },
        _meta: { 'x402/payment': payment },
      })
      expect(shown.structuredContent).toMatchObject({
        state: 'settled',
        result: { ...paid.structuredContent, receipt: { ...receipt, jws: stored.body.jws } },
      })
      expect(world.upstream.requests).toHaveLength(asked + 1)
      expect(await chain.usdcOf(chain.payTo)).toBe(before + PRICE)
    } finally {
      await client.close()
    }
  })
})
