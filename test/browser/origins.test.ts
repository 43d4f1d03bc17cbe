// A real browser at a page of another origin: in production its scripts use every door, and a sandbox lets it neither read nor act, also
// not through a name that leads to loopback.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launchBrowser } from '../support/browser.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'

let production: TestGateway
let sandbox: TestGateway
let site: Server
let browser: Browser
let page: Page
beforeAll(async () => {
  sandbox = await startTestGateway()
  production = await startTestGateway({
    env: {
      GATEWAY_MODE: 'production',
      GATEWAY_BASE_URL: 'https://gateway.example.com',
      GATEWAY_RATE_LIMIT: '1000',
    },
  })
  site = createServer((_req, res) =>
    res.writeHead(200, { 'content-type': 'text/html' }).end('<title>another origin</title>'),
  )
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
  browser = await launchBrowser(['--host-resolver-rules=MAP *.test 127.0.0.1'])
  page = await browser.newPage()
  await page.goto(`http://page.test:${(site.address() as AddressInfo).port}/`)
})
afterAll(async () => {
  await browser?.close()
  await new Promise((resolve) => site?.close(resolve))
  await production?.close()
  await sandbox?.close()
})

interface Seen {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}
interface Asked {
  readonly url: string
  readonly method?: string
  readonly headers?: Record<string, string>
  readonly body?: string
}

/** What a script of the page gets; undefined where the browser keeps the answer from it. */
const askFrom = (from: Page, asked: Asked): Promise<Seen | undefined> =>
  from.evaluate(async ({ url, ...init }: Asked) => {
    try {
      const answer = await fetch(url, init)
      return {
        status: answer.status,
        headers: Object.fromEntries(answer.headers),
        text: await answer.text(),
      }
    } catch {
      return undefined
    }
  }, asked)

const JSON_TYPE = { 'content-type': 'application/json' }
const rpc = (method: string, params: object) => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
const REQUESTS: readonly (readonly [string, Omit<Asked, 'url'> & { readonly path: string }, string])[] = [
  [
    'lists tools over MCP, with a token of its own',
    {
      path: '/mcp',
      method: 'POST',
      headers: { ...JSON_TYPE, authorization: 'Bearer nobody', 'mcp-protocol-version': '2025-11-25' },
      body: rpc('tools/list', {}),
    },
    'gateway_execute',
  ],
  [
    'sends a message over A2A',
    {
      path: '/a2a',
      method: 'POST',
      headers: { ...JSON_TYPE, 'a2a-version': '1.0', 'a2a-extensions': 'https://example.com/none' },
      body: rpc('SendMessage', {
        message: {
          messageId: 'm',
          role: 'ROLE_USER',
          metadata: { skillId: 'preflight' },
          parts: [{ data: { capability: 'extract-preview', arguments: {} } }],
        },
      }),
    },
    '"jsonrpc":"2.0"',
  ],
  [
    'reads the agent card',
    { path: '/.well-known/agent-card.json', headers: { 'a2a-version': '1.0' } },
    'skills',
  ],
  ['reads the catalogue over REST', { path: '/v1/capabilities' }, 'extract-preview'],
  [
    'calls a free tool over REST',
    {
      path: '/v1/execute',
      method: 'POST',
      headers: JSON_TYPE,
      body: JSON.stringify({ intent: 'demo' }),
    },
    '"sample":true',
  ],
]

describe('in production a page of another origin', () => {
  const urlOf = (path: string) => `http://localhost:${production.gateway.port}${path}`

  it.each(REQUESTS)('%s', async (_, { path, ...asked }, expected) => {
    const seen = await askFrom(page, { url: urlOf(path), ...asked })
    expect(seen?.text).toContain(expected)
  })

  it('reads the price of what is sold, and limits', async () => {
    const seen = await askFrom(page, {
      url: urlOf('/v1/execute'),
      method: 'POST',
      headers: { ...JSON_TYPE, 'x-payment': 'bm90aGluZw==' },
      body: JSON.stringify({ intent: 'demo' }),
    })
    for (const name of ['x-request-id', 'ratelimit', 'ratelimit-policy'])
      expect(seen?.headers[name], name).toBeDefined()
  })

  it('reads nothing that needs a token and has no page', async () => {
    expect(await askFrom(page, { url: urlOf('/v1/egress/credentials') })).toBeUndefined()
  })
})

describe('in a sandbox a page of another origin', () => {
  const urlOf = (path: string) => `http://localhost:${sandbox.gateway.port}${path}`

  it.each(REQUESTS)('is refused where it %s', async (_, { path, ...asked }) => {
    const seen = await askFrom(page, { url: urlOf(path), ...asked })
    expect(seen).toBeUndefined()
  })

  it('does nothing with a request that needs no question before', async () => {
    const before = sandbox.log().length
    await askFrom(page, {
      url: urlOf('/v1/execute'),
      method: 'POST',
      headers: { 'content-type': 'text/plain' },
      body: JSON.stringify({ intent: 'demo' }),
    })
    expect(sandbox.log().slice(before)).not.toContain('"tool":"gateway_execute"')
  })

  it('reaches nothing through its own name that leads here', async () => {
    const rebound = await browser.newPage()
    const origin = `http://rebound.test:${sandbox.gateway.port}`
    const opened = await rebound.goto(`${origin}/`)
    expect(opened?.status()).toBe(403)
    for (const [, { path, ...asked }] of REQUESTS) {
      const seen = await askFrom(rebound, { url: origin + path, ...asked })
      expect([seen?.status, seen?.text]).toEqual([403, expect.stringContaining('origin_denied')])
    }
    await rebound.close()
  })

  it('is served where the operator named it', async () => {
    const origin = new URL(page.url()).origin
    const named = await startTestGateway({ env: { GATEWAY_ALLOWED_ORIGINS: origin } })
    try {
      for (const [, { path, ...asked }, expected] of REQUESTS) {
        const seen = await askFrom(page, { url: `http://localhost:${named.gateway.port}${path}`, ...asked })
        expect(seen?.text).toContain(expected)
      }
    } finally {
      await named.close()
    }
  })
})

it('its own page goes on working: the sandbox is used from itself', async () => {
  const own = await browser.newPage()
  const origin = `http://localhost:${sandbox.gateway.port}`
  await own.goto(`${origin}/docs/`)
  for (const [, { path, ...asked }, expected] of REQUESTS)
    expect((await askFrom(own, { url: origin + path, ...asked }))?.text).toContain(expected)
  await own.close()
})
