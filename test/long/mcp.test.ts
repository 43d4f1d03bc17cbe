// The main job over MCP, with the server in a process of its own: an operator stores a credential and issues a capability, an
// agent calls a real HTTPS upstream with it, and neither its client nor its list ever shows the secret.
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createWorld, UPSTREAM_HOST, type World } from '../support/gateway.ts'
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts'
import { removeFolder } from '../support/remove-folder.ts'

const SECRET = 'upstream secret/with+awkward="chars"'
const launcher = new URL('../../src/cli/launcher.ts', import.meta.url).pathname

let world: World
let gateway: GatewayProcess
let directory: string
beforeAll(async () => {
  world = await createWorld()
  gateway = await startGatewayProcess(world)
  directory = mkdtempSync(join(tmpdir(), 'mcp-e2e-'))
})
afterAll(async () => {
  await gateway.stop('SIGTERM')
  await world.close()
  await removeFolder(directory)
})

function overHttp(token: string | undefined): Transport {
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` }
  return new StreamableHTTPClientTransport(new URL(`${gateway.baseUrl}/mcp`), { requestInit: { headers } })
}

function overStdio(token: string | undefined): Transport {
  const tokenFile = join(directory, 'token')
  if (token !== undefined) writeFileSync(tokenFile, `${token}\n`)
  return new StdioClientTransport({
    command: process.execPath,
    args: [launcher, 'stdio'],
    env: {
      PATH: process.env['PATH'] ?? '',
      GATEWAY_BASE_URL: gateway.baseUrl,
      ...(token === undefined ? {} : { GATEWAY_TOKEN_FILE: tokenFile }),
    },
    stderr: 'ignore',
  })
}

const ways = [
  ['HTTP, as of 2026', { pin: '2026-07-28' }, overHttp],
  ['HTTP, as of 2025', 'legacy', overHttp],
  ['stdio, as of 2026', { pin: '2026-07-28' }, overStdio],
  ['stdio, as of 2025', 'legacy', overStdio],
] as const

describe.each(ways)('over %s', (_, mode, open) => {
  async function withClient<T>(token: string | undefined, work: (client: Client) => Promise<T>): Promise<T> {
    const client = new Client({ name: 'e2e', version: '1.0.0' }, { versionNegotiation: { mode } })
    await client.connect(open(token))
    try {
      return await work(client)
    } finally {
      await client.close()
    }
  }
  async function call(client: Client, name: string, given: Record<string, unknown>) {
    const result = await client.callTool({ name, arguments: given })
    return { isError: result.isError ?? false, value: result.structuredContent as Record<string, unknown> }
  }

  it('an operator stores a credential, an agent uses it, and the secret reaches the upstream only', async () => {
    const capability = await withClient(world.operatorKey, async (client) => {
      const stored = await call(client, 'gateway_egress_credentials_create', {
        provider: 'custom',
        secret: SECRET,
        hosts: [UPSTREAM_HOST],
        path_prefixes: ['/'],
        methods: ['GET'],
      })
      expect(stored.isError, JSON.stringify(stored.value)).toBe(false)
      const issued = await call(client, 'gateway.egress.capabilities.issue', {
        credential_id: stored.value['credential_id'],
      })
      expect(issued.isError, JSON.stringify(issued.value)).toBe(false)
      expect(JSON.stringify([stored.value, issued.value])).not.toContain('awkward')
      return issued.value['capability'] as string
    })

    const seen = await withClient(capability, async (client) => {
      const { tools } = await client.listTools()
      expect(tools.map(({ name }) => name.replaceAll('.', '_'))).not.toContain(
        'gateway_egress_credentials_create',
      )
      const fetched = await call(client, 'gateway.egress.fetch', { url: world.url('/items') })
      expect(fetched.isError, JSON.stringify(fetched.value)).toBe(false)
      expect(fetched.value).toMatchObject({
        upstream: { status: 200, body: '{"ok":true}' },
        credits: { charged: 1 },
      })
      const refused = await call(client, 'gateway_egress_fetch', {
        url: world.url('/items'),
        method: 'DELETE',
      })
      expect(refused).toMatchObject({ isError: true, value: { code: 'scope_denied', status: 403 } })
      return JSON.stringify([tools, fetched, refused])
    })
    const received = world.upstream.requests.at(-1)!
    expect(received.target).toBe('/items')
    expect(received.headers.find(([name]) => name.toLowerCase() === 'authorization')?.[1]).toBe(
      `Bearer ${SECRET}`,
    )
    expect(seen).not.toContain('awkward')
  })

  it('a newcomer without any token gets the free demo', async () => {
    await withClient(undefined, async (client) => {
      const { isError, value } = await call(client, 'gateway_execute', { intent: 'demo' })
      expect(isError, JSON.stringify(value)).toBe(false)
      expect(value).toMatchObject({ ok: true, capability: 'extract-preview' })
    })
  })
})

describe('the list', () => {
  it('has only schemas that a JSON Schema 2020-12 validator takes, under names short enough for every client', async () => {
    const client = new Client({ name: 'e2e', version: '1.0.0' })
    await client.connect(overHttp(world.operatorKey))
    const { tools } = await client.listTools()
    await client.close()
    expect(tools.length).toBeGreaterThan(15)
    const ajv = new Ajv2020({ strict: false, validateFormats: false })
    for (const tool of tools) {
      expect(() => ajv.compile(tool.inputSchema), tool.name).not.toThrow()
      expect(tool.name.length, tool.name).toBeLessThanOrEqual(45)
      expect(tool.description, tool.name).toMatch(/\w{3,}.*\./)
    }
  })
})
