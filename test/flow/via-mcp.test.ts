import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  createWorld,
  startTestGateway,
  type TestGateway,
  UPSTREAM_HOST,
  type World,
} from '../support/gateway.ts'

const SECRET = 'mcp_b7Qx4LmR9vTz2KpW8nYcEu5Jb7Qx4LmR'

describe('a remote MCP server that wants a secret', () => {
  let world: World
  let gw: TestGateway
  let remote: Awaited<ReturnType<typeof startMcpServer>>
  let capability: string
  beforeAll(async () => {
    world = await createWorld({ env: { GATEWAY_SERVICE_KEY_CREDITS: '1000' } })
    remote = await startMcpServer(await world.ca.leaf(UPSTREAM_HOST))
    gw = await startTestGateway({
      world: {
        ...world,
        env: { ...world.env, GATEWAY_EGRESS_PORTS: `443,${remote.port}` },
      },
    })
    ;({ capability } = await gw.grant({
      secret: SECRET,
      credential: { label: 'tools', hosts: [`${UPSTREAM_HOST}:${remote.port}`] },
    }))
  })
  afterAll(async () => {
    await gw.close()
    await remote.close()
    await world.close()
  })

  it('serves an official client that has the capability for a token, with its session and its events', async () => {
    const client = new Client({ name: 'test', version: '1' })
    const changed = Promise.withResolvers<void>()
    client.fallbackNotificationHandler = async ({ method }) => {
      if (method === 'notifications/tools/list_changed') changed.resolve()
    }
    const transport = new StreamableHTTPClientTransport(new URL(`${gw.baseUrl}/via/tools/mcp`), {
      requestInit: { headers: { authorization: `Bearer ${capability}` } },
    })
    await client.connect(transport)
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['add'])
    const progress: number[] = []
    const answer = await client.callTool({ name: 'add', arguments: {} }, undefined, {
      onprogress: ({ progress: done }) => void progress.push(done),
    })
    expect(answer.content).toEqual([{ type: 'text', text: 'three' }])
    expect(progress).toEqual([1, 2])
    // What the server says by itself comes on a stream of its own.
    await remote.streaming
    remote.changeTools()
    await changed.promise
    expect(new Set(remote.sessions).size).toBe(1)
    expect(remote.sessions).toContain(transport.sessionId)
    expect(new Set(remote.tokens)).toEqual(new Set([`Bearer ${SECRET}`]))
    await transport.terminateSession()
    await client.close()
  })
})

describe('a remote MCP server with the older transport of two addresses', () => {
  it.each([
    ['a path', (path: string) => path],
    ['an address of its own', (path: string, origin: string) => origin + path],
  ])('is reached at the address that its first event names as %s', async (_, spell) => {
    const world = await createWorld()
    const remote = await startOldMcpServer(await world.ca.leaf(UPSTREAM_HOST), spell)
    const env = { ...world.env, GATEWAY_EGRESS_PORTS: `443,${remote.port}` }
    const gw = await startTestGateway({ world: { ...world, env } })
    try {
      const { capability } = await gw.grant({
        secret: SECRET,
        credential: { label: 'old tools', hosts: [`${UPSTREAM_HOST}:${remote.port}`] },
      })
      const client = new Client({ name: 'test', version: '1' })
      const transport = new SSEClientTransport(new URL(`${gw.baseUrl}/via/old-tools/sse`), {
        requestInit: { headers: { authorization: `Bearer ${capability}` } },
      })
      await client.connect(transport)
      expect((await client.callTool({ name: 'add', arguments: {} })).content).toEqual([
        { type: 'text', text: 'three' },
      ])
      expect(new Set(remote.asked)).toEqual(new Set(['GET /sse', 'POST /messages']))
      expect(new Set(remote.tokens)).toEqual(new Set([`Bearer ${SECRET}`]))
      await client.close()
    } finally {
      await gw.close()
      await remote.close()
      await world.close()
    }
  })
})

async function startOldMcpServer(
  leaf: { readonly key: string; readonly cert: string },
  spell: (path: string, origin: string) => string,
) {
  const tokens: (string | undefined)[] = []
  const asked: string[] = []
  const mcp = new McpServer({ name: 'remote', version: '1' })
  mcp.registerTool('add', { description: 'Adds' }, async () => ({
    content: [{ type: 'text', text: 'three' }],
  }))
  let transport: SSEServerTransport | undefined
  const server = createServer(leaf, (req, res) => {
    tokens.push(req.headers.authorization)
    asked.push(`${req.method} ${req.url?.split('?')[0]}`)
    if (req.method === 'POST') return void transport?.handlePostMessage(req, res)
    const write = res.write.bind(res)
    // The library itself names a path alone; others name the whole address.
    res.write = ((text: string) =>
      write(
        text.replace(
          /^(event: endpoint\ndata: )(\S+)/,
          (_all, head: string, path: string) => head + spell(path, `https://${req.headers.host}`),
        ),
      )) as typeof res.write
    transport = new SSEServerTransport('/messages', res)
    void mcp.connect(transport as Parameters<typeof mcp.connect>[0])
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    tokens,
    asked,
    async close() {
      await mcp.close()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function startMcpServer(leaf: { readonly key: string; readonly cert: string }) {
  const tokens: (string | undefined)[] = []
  const sessions: string[] = []
  const streaming = Promise.withResolvers<void>()
  const mcp = new McpServer({ name: 'remote', version: '1' })
  const tool = mcp.registerTool('add', { description: 'Adds' }, async (extra) => {
    for (const progress of [1, 2])
      await extra.sendNotification({
        method: 'notifications/progress',
        params: { progressToken: extra._meta!.progressToken!, progress },
      })
    return { content: [{ type: 'text', text: 'three' }] }
  })
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: randomUUID })
  await mcp.connect(transport as Parameters<typeof mcp.connect>[0])
  const server = createServer(leaf, (req, res) => {
    tokens.push(req.headers.authorization)
    const session = req.headers['mcp-session-id']
    if (typeof session === 'string') sessions.push(session)
    if (req.method === 'GET') whenHeadIsSent(res, streaming.resolve)
    void transport.handleRequest(req, res)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    tokens,
    sessions,
    streaming: streaming.promise,
    changeTools: () => tool.update({ title: 'Adds two' }),
    async close() {
      await mcp.close()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function whenHeadIsSent(res: ServerResponse, tell: () => void): void {
  const timer = setInterval(() => {
    if (!res.headersSent) return
    clearInterval(timer)
    tell()
  }, 5)
}
