// From an address to a call of a stored credential, by the clients that people have: the official SDKs and the Inspector whole, and of every
// other one the registration and the authorization request that it is known to send (with a scripted browser in which a person says yes).
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { UnauthorizedError as UnauthorizedV1 } from '@modelcontextprotocol/sdk/client/auth.js'
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Consenter, createConsenter } from '../support/consenter.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { mistyped } from '../support/mistyped.ts'
import { exchange, verifierPair } from '../support/oauth.ts'
import { start } from '../support/process.ts'
import { removeFolder } from '../support/remove-folder.ts'

let gateway: TestGateway
let consenter: Consenter
let base: string
beforeAll(async () => {
  gateway = await startTestGateway()
  base = gateway.baseUrl
  const { credentialId } = await gateway.grant()
  consenter = await createConsenter(gateway, { use: [credentialId] })
})
afterAll(() => gateway?.close())

const fetching = () => ({
  name: 'gateway_egress_fetch',
  arguments: { method: 'GET', url: gateway.url('/v1/thing') },
})
const REACHED = { upstream: { status: 200 } }

/** What both SDKs want of their host: it keeps what it is given, in memory here, and opens a browser. */
function createProvider(over: Record<string, unknown> = {}) {
  const kept: Record<string, unknown> = {}
  const keep = (name: string) => (value: unknown) => void (kept[name] = value)
  let waiting: URL | undefined
  const provider = {
    redirectUrl: 'http://localhost:7777/oauth/callback',
    clientMetadata: {
      client_name: 'SDK client',
      redirect_uris: ['http://localhost:7777/oauth/callback'],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    state: () => 'a-state',
    clientInformation: () => kept['client'],
    saveClientInformation: keep('client'),
    tokens: () => kept['tokens'],
    saveTokens: keep('tokens'),
    redirectToAuthorization: (url: URL) => void (waiting = url),
    saveCodeVerifier: keep('verifier'),
    codeVerifier: () => kept['verifier'],
    discoveryState: () => kept['discovery'],
    saveDiscoveryState: keep('discovery'),
    ...over,
  }
  return {
    kept: kept as {
      client: { client_id: string }
      tokens: { access_token: string; refresh_token: string; scope: string }
    },
    provider: provider as never,
    asked: () => waiting ?? new URL('about:blank'),
  }
}

describe.each(['/mcp', '/mcp/connect', '/mcp?names=dotted'])('given %s', (path) => {
  it('the client of the SDK before signs in, calls, and refreshes', async () => {
    const host = createProvider()
    const url = new URL(base + path)
    const open = async () => {
      const transport = new HttpV1(url, { authProvider: host.provider })
      const client = new ClientV1({ name: 'v1', version: '1' })
      await client.connect(transport as never)
      return { client, transport }
    }
    const first = new HttpV1(url, { authProvider: host.provider })
    const client = new ClientV1({ name: 'v1', version: '1' })
    // An open address connects, and asks where a call needs it; the other one asks at once.
    const begun = client.connect(first as never).then(() => client.callTool(fetching()))
    await expect(begun).rejects.toThrow(UnauthorizedV1)
    const back = await consenter.allow(host.asked())
    expect(back.searchParams.get('state')).toBe('a-state')
    await first.finishAuth(back.searchParams.get('code') ?? '')
    const { client: connected } = await open()
    expect((await connected.callTool(fetching())).structuredContent).toMatchObject(REACHED)
    await connected.close()

    // Its token ends: it takes the refresh token, by itself.
    const { access_token: old } = host.kept.tokens
    host.kept.tokens.access_token = mistyped(old)
    const { client: again } = await open()
    expect((await again.callTool(fetching())).structuredContent).toMatchObject(REACHED)
    expect(host.kept.tokens.access_token).not.toBe(old)
    await again.close()
  })

  it('the client of the SDK signs in and calls', async () => {
    const host = createProvider()
    const open = () => {
      const transport = new StreamableHTTPClientTransport(new URL(base + path), {
        authProvider: host.provider,
      })
      return {
        transport,
        client: new Client({ name: 'v2', version: '1' }, { versionNegotiation: { mode: 'auto' } }),
      }
    }
    const first = open()
    const begun = first.client.connect(first.transport).then(() => first.client.callTool(fetching()))
    await expect(begun).rejects.toThrow(UnauthorizedError)
    const back = await consenter.allow(host.asked())
    await first.transport.finishAuth(back.searchParams)
    const { client, transport } = open()
    await client.connect(transport)
    expect((await client.callTool(fetching())).structuredContent).toMatchObject(REACHED)
    await client.close()
  })
})

it('the client of the SDK asks for the scope of operators where a tool needs it, and then calls it', async () => {
  const host = createProvider()
  const open = () =>
    new StreamableHTTPClientTransport(new URL(`${base}/mcp`), { authProvider: host.provider })
  const connectOver = async (transport: StreamableHTTPClientTransport) => {
    const client = new Client({ name: 'v2', version: '1' })
    await client.connect(transport)
    return client
  }
  const first = open()
  const begun = await connectOver(first)
  await expect(begun.callTool(fetching())).rejects.toThrow(UnauthorizedError)
  await first.finishAuth((await consenter.allow(host.asked())).searchParams)
  const second = open()
  const client = await connectOver(second)
  const list = { name: 'gateway_egress_credentials_list', arguments: {} }
  await expect(client.callTool(list)).rejects.toThrow()
  expect(host.asked().searchParams.get('scope')).toContain('gateway:operator')
  await second.finishAuth((await consenter.allow(host.asked(), { mayOperate: true })).searchParams)
  const wider = await connectOver(open())
  expect((await wider.callTool(list)).structuredContent).toHaveProperty('credentials')
  await wider.close()
})

describe('a client that is known', () => {
  interface Row {
    /** Registers with this; left out: it is who its document says (CIMD). */
    readonly registers?: Record<string, unknown>
    readonly clientId?: string
    readonly redirect: string
    /** Beside what all send. */
    readonly params?: Record<string, string>
    /** `resource` as it writes it. */
    readonly resource?: (base: string) => string
    readonly shows: string
  }
  const native = {
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  }
  const ROWS: Record<string, Row> = {
    'Claude (its document)': {
      clientId: 'https://claude.ai/oauth/mcp-oauth-client-metadata',
      redirect: 'https://claude.ai/api/mcp/auth_callback',
      params: { scope: ' offline_access' },
      shows: 'claude.ai',
    },
    'Claude (registered)': {
      registers: {
        ...native,
        client_name: 'Claude',
        redirect_uris: ['https://claude.ai/api/mcp/auth_callback'],
        scope: 'gateway offline_access',
      },
      redirect: 'https://claude.ai/api/mcp/auth_callback',
      shows: 'claude.ai',
    },
    'Claude Code': {
      clientId: 'https://claude.ai/oauth/claude-code-client-metadata',
      redirect: 'http://localhost:54321/callback',
      // The origin with a slash.
      resource: (base) => `${base}/`,
      shows: 'claude.ai',
    },
    'ChatGPT (its document)': {
      clientId: 'https://chatgpt.com/oauth/client.json',
      redirect: 'https://chatgpt.com/connector_platform_oauth_redirect',
      params: { scope: 'gateway' },
      shows: 'chatgpt.com',
    },
    'ChatGPT (registered)': {
      registers: {
        ...native,
        client_name: 'ChatGPT',
        redirect_uris: ['https://chatgpt.com/connector/oauth/abc123'],
      },
      redirect: 'https://chatgpt.com/connector/oauth/abc123',
      shows: 'chatgpt.com',
    },
    Codex: {
      registers: {
        ...native,
        client_name: 'Codex',
        redirect_uris: ['http://127.0.0.1:41999/callback/5f3a9c'],
      },
      redirect: 'http://127.0.0.1:41999/callback/5f3a9c',
      shows: '127.0.0.1',
    },
    'VS Code (its document)': {
      clientId: 'https://vscode.dev/oauth/client-metadata.json',
      redirect: 'http://127.0.0.1:60123/',
      shows: 'vscode.dev',
    },
    'VS Code (registered)': {
      registers: {
        ...native,
        client_name: 'Visual Studio Code',
        application_type: 'native',
        redirect_uris: [
          'https://insiders.vscode.dev/redirect',
          'https://vscode.dev/redirect',
          'http://127.0.0.1/',
          'http://127.0.0.1:33418/',
        ],
      },
      redirect: 'http://127.0.0.1:33418/',
      shows: 'Visual Studio Code',
    },
    'Copilot CLI': {
      clientId: 'https://github.com/copilot/cli/client-metadata.json',
      redirect: 'http://127.0.0.1:49152/',
      shows: 'github.com',
    },
    Cursor: {
      registers: {
        ...native,
        client_name: 'Cursor',
        application_type: 'web',
        redirect_uris: [
          'cursor://anysphere.cursor-mcp/oauth/callback',
          'https://www.cursor.com/agents/mcp/oauth/callback',
          'http://localhost:8787/callback',
        ],
      },
      redirect: 'cursor://anysphere.cursor-mcp/oauth/callback',
      shows: 'Cursor',
    },
    'Gemini CLI': {
      registers: {
        ...native,
        client_name: 'Gemini CLI MCP Client',
        scope: '',
        redirect_uris: ['http://localhost:7777/oauth/callback'],
      },
      redirect: 'http://localhost:7777/oauth/callback',
      params: { scope: '' },
      shows: 'Gemini CLI',
    },
    'Copilot Studio': {
      registers: {
        client_name: 'Copilot Studio',
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'client_secret_post',
        redirect_uris: ['https://global.consent.azure-apim.net/redirect/agw-1'],
      },
      redirect: 'https://global.consent.azure-apim.net/redirect/agw-1',
      shows: 'global.consent.azure-apim.net',
    },
    'a client that types upper case and a slash': {
      registers: { ...native, client_name: 'Odd', redirect_uris: ['http://localhost:1/cb'] },
      redirect: 'http://localhost:1/cb',
      resource: (base) => `${base.replace('localhost', 'LOCALHOST')}/mcp/`,
      shows: 'Odd',
    },
  }

  it.each(Object.entries(ROWS))('%s goes from the address to a call', async (_name, row) => {
    const client = row.registers ? await register(row.registers) : { client_id: row.clientId ?? '' }
    const { verifier, challenge } = verifierPair()
    const resource = row.resource?.(base) ?? `${base}/mcp`
    const url = new URL(`${base}/oauth/authorize`)
    const query = {
      response_type: 'code',
      client_id: client.client_id,
      redirect_uri: row.redirect,
      code_challenge: challenge,
      code_challenge_method: 'S256',
      state: 'state 1',
      resource,
      ...row.params,
    }
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
    const back = await consenter.allow(url)
    expect(consenter.page()).toContain(row.shows)
    expect(back.href.startsWith(row.redirect)).toBe(true)
    expect(back.searchParams.get('state')).toBe('state 1')
    expect(back.searchParams.get('iss')).toBe(base)
    const secret = client.client_secret === undefined ? {} : { client_secret: client.client_secret }
    const shared = { client_id: client.client_id, resource, ...secret }
    const { status, body } = await exchange(base, {
      grant_type: 'authorization_code',
      code: back.searchParams.get('code') ?? '',
      redirect_uri: row.redirect,
      code_verifier: verifier,
      ...shared,
    })
    expect([status, body.error]).toEqual([200, undefined])
    const call = (token: string, path: string) =>
      fetch(base + path, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          authorization: `Bearer ${token}`,
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: fetching() }),
      })
    for (const path of ['/mcp', '/mcp/connect']) {
      const answer = await call(body.access_token, path)
      expect(await answer.json()).toMatchObject({ result: { structuredContent: REACHED } })
    }
    const refreshed = await exchange(base, {
      grant_type: 'refresh_token',
      refresh_token: body.refresh_token,
      ...shared,
    })
    expect(refreshed.status).toBe(200)
    expect((await call(refreshed.body.access_token, '/mcp/connect')).status).toBe(200)
  })

  async function register(
    metadata: Record<string, unknown>,
  ): Promise<{ client_id: string; client_secret?: string }> {
    const answer = await fetch(`${base}/oauth/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify(metadata),
    })
    expect(answer.status).toBe(201)
    return (await answer.json()) as { client_id: string; client_secret?: string }
  }
})

it('a web page, as the Inspector is one, may ask everything that signing in takes', async () => {
  const origin = 'http://localhost:6274'
  const post = {
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'content-type, mcp-protocol-version, authorization',
  }
  for (const path of ['/oauth/register', '/oauth/token', '/mcp', '/mcp/connect']) {
    const { status, headers } = await fetch(base + path, { method: 'OPTIONS', headers: { origin, ...post } })
    expect([path, status, headers.get('access-control-allow-origin')]).toEqual([path, 204, '*'])
  }
  for (const document of [
    'oauth-protected-resource/mcp',
    'oauth-protected-resource/mcp/connect',
    'oauth-authorization-server',
  ]) {
    const { status, headers } = await fetch(`${base}/.well-known/${document}`, { headers: { origin } })
    expect([document, status, headers.get('access-control-allow-origin')]).toEqual([document, 200, '*'])
  }
  const refused = await fetch(`${base}/mcp/connect`, { method: 'POST', headers: { origin } })
  expect(refused.headers.get('access-control-expose-headers')).toContain('www-authenticate')
})

it('the Inspector signs in on the command line and calls', async () => {
  const home = await mkdtemp(join(tmpdir(), 'agent-gateway-inspector-'))
  const inspector = new URL('../../node_modules/.bin/mcp-inspector', import.meta.url).pathname
  const callback = 'http://127.0.0.1:6276/oauth/callback'
  const { arguments: input } = fetching()
  const child = start(
    process.execPath,
    [
      inspector,
      '--cli',
      `${base}/mcp/connect`,
      '--transport',
      'http',
      '--method',
      'tools/call',
      '--tool-name',
      // It is known to take dots, so it is shown them.
      'gateway.egress.fetch',
      '--tool-args-json',
      JSON.stringify(input),
      '--callback-url',
      callback,
      '--format',
      'json',
    ],
    { env: { PATH: process.env['PATH'], HOME: home, BROWSER: 'true', MCP_AUTO_OPEN_ENABLED: 'true' } },
  )
  try {
    const [url] = await child.until('stderr', /https?:\/\/\S+\/oauth\/authorize\S+/)
    const back = await consenter.allow(url)
    expect(back.href.startsWith(callback)).toBe(true)
    await fetch(back)
    const { code } = await child.ended
    expect(code, child.stderr()).toBe(0)
    expect(JSON.stringify(JSON.parse(child.stdout()))).toContain('"status":200')
  } finally {
    child.kill('SIGKILL')
    await child.ended
    await removeFolder(home)
  }
})
