// The official clients, the current and the one before it, over HTTP and stdio: what a user's assistant will do.
import { PassThrough } from 'node:stream'
import { createInterface } from 'node:readline'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { serveMcpStdio } from '../../src/doors/mcp/stdio.ts'
import { adminKey, startMcpGateway, type TestGateway, testTools } from '../support/mcp-gateway.ts'
import { cites } from '../requirements.ts'

interface Progress {
  progress: number
  total?: number | undefined
}
interface CallOptions {
  onprogress?: (progress: Progress) => void
  signal?: AbortSignal
}
interface ToolResult {
  isError?: boolean | undefined
  structuredContent?: unknown
  content?: unknown
}
interface AnyClient {
  listTools(): Promise<{ tools: { name: string }[] }>
  callTool(name: string, given: object, options?: CallOptions): Promise<ToolResult>
  close(): Promise<void>
}

type Where = 'http' | 'bridge' | 'embedded'
const info = { name: 'contract-test', version: '1.0.0' }
const script = new URL('../support/mcp-stdio.ts', import.meta.url).pathname
const command = (where: Where, url: string) => ({
  command: process.execPath,
  args: where === 'bridge' ? [script, url] : [script],
})
const requestInit = { headers: { authorization: `Bearer ${adminKey}` } }

function connectV2(mode: 'legacy' | 'auto' | { pin: string }) {
  return async (where: Where, url: string): Promise<AnyClient> => {
    const client = new Client(info, { versionNegotiation: { mode } })
    await client.connect(
      where === 'http'
        ? new StreamableHTTPClientTransport(new URL(url), { requestInit })
        : new StdioClientTransport(command(where, url)),
    )
    return {
      listTools: () => client.listTools(),
      callTool: (name, given, options) =>
        client.callTool({ name, arguments: { ...given } }, options) as Promise<ToolResult>,
      close: () => client.close(),
    }
  }
}

async function connectV1(where: Where, url: string): Promise<AnyClient> {
  const client = new ClientV1(info)
  const transport =
    where === 'http' ? new HttpV1(new URL(url), { requestInit }) : new StdioV1(command(where, url))
  // The v1 types predate exactOptionalPropertyTypes.
  await client.connect(transport as Parameters<typeof client.connect>[0])
  return {
    listTools: () => client.listTools(),
    callTool: (name, given, options) =>
      client.callTool({ name, arguments: { ...given } }, undefined, options) as Promise<ToolResult>,
    close: () => client.close(),
  }
}

const clients = [
  ['v1', connectV1],
  ['v2 as of 2025', connectV2('legacy')],
  ['v2 that finds out', connectV2('auto')],
  ['v2 as of 2026', connectV2({ pin: '2026-07-28' })],
] as const
const places: readonly Where[] = ['http', 'bridge', 'embedded']

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startMcpGateway()
})
afterAll(() => gateway.close())

describe.each(places)('over %s', (where) => {
  describe.each(clients)('the client %s', (_, connect) => {
    let client: AnyClient
    beforeAll(async () => {
      client = await connect(where, gateway.url)
    })
    afterAll(() => client.close())

    it('sees the operator tools, in underscores, without asking for them', async () => {
      const names = (await client.listTools()).tools.map(({ name }) => name)
      expect(names).toContain('gateway_test_admin')
      expect(names.filter((name) => name.includes('.'))).toEqual([])
    })

    it('calls a tool by either spelling', async () => {
      for (const name of ['gateway.test.echo', 'gateway_test_echo']) {
        const result = await client.callTool(name, { text: 'ü ✓' })
        expect(result.structuredContent).toEqual({ text: 'ü ✓' })
        expect(result.content).toEqual([{ type: 'text', text: '{"text":"ü ✓"}' }])
      }
    })

    it(
      cites(
        'mcp:tools:schema-clients',
        'gets a refusal as a result although it holds answers against the output schema',
      ),
      async () => {
        // Listing first: that is when the v1 client learns the schemas.
        const { tools } = await client.listTools()
        const name = tools.map((tool) => tool.name).find((listed) => listed.endsWith('fail'))!
        const result = await client.callTool(name, { how: 'refused' })
        expect(result.isError).toBe(true)
        expect(result.structuredContent).toMatchObject({ code: 'intent_unknown' })
      },
    )

    it('is told of an unknown tool', async () => {
      await expect(client.callTool('gateway.nothing', {})).rejects.toMatchObject({ code: -32602 })
    })

    it(cites('mcp:progress:clients', 'hears of progress in order'), async () => {
      const heard: number[] = []
      const result = await client.callTool(
        'gateway.test.count',
        { to: 4 },
        { onprogress: ({ progress }) => heard.push(progress) },
      )
      expect(result.structuredContent).toEqual({ counted: 4 })
      // Over stdio these clients forget reports that arrive in one read with the answer; the wire is checked below.
      expect(heard).toEqual([1, 2, 3, 4].slice(0, where === 'http' ? 4 : heard.length))
    })

    it('acts as the holder of its key', async () => {
      const result = await client.callTool('gateway.test.admin', {})
      expect(result.structuredContent).toEqual({ kind: 'operator', id: 'key_admin' })
    })
  })
})

describe.each(['http', 'bridge'] as const)('cancelling over %s', (where) => {
  it.each(clients)(cites('mcp:cancel:clients', 'by the client %s stops the work'), async (_, connect) => {
    const { tools, seen } = testTools()
    const own = await startMcpGateway({ tools })
    const client = await connect(where, own.url)
    try {
      const controller = new AbortController()
      const ended = expect(
        client.callTool('gateway.test.wait', {}, { signal: controller.signal }),
      ).rejects.toThrow()
      await seen.started
      controller.abort()
      await ended
      await seen.aborted
    } finally {
      await client.close()
      await own.close()
    }
  })
})

describe('stdio in this process', () => {
  const envelope = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const call = (id: number, name: string, given: object = {}) => ({
    jsonrpc: '2.0',
    id,
    method: 'tools/call',
    params: { name, arguments: given, _meta: { ...envelope, progressToken: id } },
  })

  async function talk(target: 'door' | 'url', own: TestGateway) {
    const stdin = new PassThrough()
    const stdout = new PassThrough()
    const served = serveMcpStdio({
      target: target === 'door' ? { door: own.door } : { url: own.url },
      stdin,
      stdout,
    })
    const lines: Record<string, unknown>[] = []
    createInterface({ input: stdout }).on('line', (line) =>
      lines.push(JSON.parse(line) as Record<string, unknown>),
    )
    const say = (message: unknown) =>
      stdin.write(`${typeof message === 'string' ? message : JSON.stringify(message)}\n`)
    return { say, lines, end: () => stdin.end(), served }
  }

  it.each(['door', 'url'] as const)('answers everything asked before the input ends (%s)', async (target) => {
    const { say, lines, end, served } = await talk(target, gateway)
    say(call(1, 'gateway.test.echo', { text: 'a' }))
    say('this is not JSON')
    say('')
    say(call(2, 'gateway.test.count', { to: 50 }))
    end()
    await served
    expect(lines.find(({ id }) => id === null)).toMatchObject({ error: { code: -32700 } })
    expect(lines.find(({ id }) => id === 1)).toMatchObject({ result: { structuredContent: { text: 'a' } } })
    expect(lines.find(({ id }) => id === 2)).toMatchObject({ result: { structuredContent: { counted: 50 } } })
    const reports = lines.filter(({ method }) => method === 'notifications/progress')
    expect(reports.map(({ params }) => params)).toEqual(
      Array.from({ length: 50 }, (_, i) => ({
        progressToken: 2,
        progress: i + 1,
        total: 50,
        message: `step ${i + 1}`,
      })),
    )
    expect(lines).toHaveLength(53)
    expect(lines.at(-1)).toMatchObject({ id: 2 })
  })

  it.each(['door', 'url'] as const)(
    'stops a cancelled call and answers nothing to it (%s)',
    async (target) => {
      const { tools, seen } = testTools()
      const own = await startMcpGateway({ tools })
      try {
        const { say, lines, end, served } = await talk(target, own)
        say(call(1, 'gateway.test.wait'))
        await seen.started
        const params = { requestId: 1, _meta: envelope }
        say({ jsonrpc: '2.0', method: 'notifications/cancelled', params })
        await seen.aborted
        end()
        await served
        expect(lines).toEqual([])
      } finally {
        await own.close()
      }
    },
  )

  it(cites('mcp:stdio:bridge', 'says what to do when there is no gateway to bridge to'), async () => {
    const own = await startMcpGateway()
    await own.close()
    const { say, lines, end, served } = await talk('url', own)
    say(call(1, 'gateway.test.echo', { text: 'a' }))
    end()
    await served
    expect(lines).toHaveLength(1)
    expect(lines[0]).toMatchObject({
      id: 1,
      error: { message: expect.stringContaining('agent-gateway serve') as string },
    })
  })
})
