// Every address that any generated document names is asked, and must answer what was claimed of it.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ERRORS } from '../../src/core/errors.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { at, type Json, keysAt } from '../support/tree.ts'

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startTestGateway()
})
afterAll(() => gateway?.close())

/** Where a reader may start; everything else must be reachable from these. */
const ENTRANCES: Readonly<Record<string, string>> = {
  '/': 'text/html',
  '/agent.txt': 'text/plain',
  '/agents.txt': 'text/plain',
  '/llms.txt': 'text/plain',
  '/llms-full.txt': 'text/plain',
  '/llms/web.txt': 'text/plain',
  '/robots.txt': 'text/plain',
  '/favicon.ico': 'image/',
  '/docs': 'text/html',
  '/reference': 'text/html',
  '/problems': 'text/html',
  '/changelog': 'text/html',
  '/ar': 'text/html',
  '/docs.md': 'text/markdown',
  '/site.webmanifest': 'application/manifest+json',
  '/sitemap.xml': 'application/xml',
  '/openapi.json': 'application/json',
  '/healthz': 'application/json',
  '/v1/protocols': 'application/json',
  '/v1/capabilities': 'application/json',
  '/v1/egress': 'application/json',
  '/v1/egress/pricing': 'application/json',
  '/v1/egress/providers': 'application/json',
  '/.well-known/api-catalog': 'application/linkset+json',
  '/.well-known/agent-card.json': 'application/json',
  '/.well-known/gateway-egress-key.json': 'application/json',
  '/.well-known/jwks.json': 'application/json',
  '/.well-known/x402': 'application/json',
  '/.well-known/agent-skills/index.json': 'application/json',
  '/skills': 'application/json',
  '/skills/index.json': 'application/json',
}

/** Blocks of code: of HTML, of Markdown, and of the JSON form of a tool's page. */
const CALLS = /<pre[^>]*>[^]*?<\/pre>|^(`{3,}).*\n[^]*?^\1$|"code":"(?:[^"\\]|\\.)*"|`{3}\w*\\n.*?\\n`{3}/gm

/** The other forms and the other language of a tool's page: one tool's stand for all. test/flow/site-tools.test.ts asks for each page. */
const isFormOfMany = (path: string) =>
  /^\/ar\/tools\/|^\/tools\/.+\.(?:md|json)$/.test(path) && !/web\.fetch|gateway_execute/.test(path)

/** Own addresses in a text; `<…>` and `{…}` mark a template, which names no address of its own. */
function findAddresses(given: string, baseUrl: string): string[] {
  // The calls that a tool's page shows are no links: some take a POST, some an id of the reader's. test/long runs them as they stand.
  const text = given.replaceAll(CALLS, '')
  const found = text
    .split(baseUrl)
    .slice(1)
    .map((rest) => /^[^\s"'<>`)\]\\,;|]*/.exec(rest)![0] + nextOf(rest))
  const relative = [...text.matchAll(/(?:href|src)="(\/[^"]*)"/g)].map((match) => match[1]!)
  return (
    [...found, ...relative]
      .filter((path) => /^(?:$|[/?#])/.test(path) && !/[<{]/.test(path))
      // What mcporter calls a tool: the address of the server, and the tool's name behind it.
      .filter((path) => !path.startsWith('/mcp.'))
      .map((path) => path.replace(/[.:]$/, '').replace(/#.*$/, '') || '/')
  )
}

const nextOf = (rest: string) => (/^[^\s"'<>`)\\,;|]*</.test(rest) && /^[^\s"'<>]*\/</.test(rest) ? '<' : '')

const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(gateway.baseUrl + path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: JSON.stringify(body),
  })

const isConsole = (path: string) => /^\/(?:ar\/)?console/.test(path)

/** How an address that is not for GET shows that it is there. */
async function probe(path: string, openApi: Json): Promise<{ status: number; type: string; text: string }> {
  const methods = keysAt(openApi, 'paths', path)
  let response: Response
  if (path === '/mcp' || path.startsWith('/mcp?'))
    response = await post(path, {
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: {
        protocolVersion: '2025-11-25',
        capabilities: {},
        clientInfo: { name: 'crawl', version: '1' },
      },
    })
  else if (path === '/a2a')
    response = await post(
      path,
      { jsonrpc: '2.0', id: 1, method: 'ListTasks', params: {} },
      { 'A2A-Version': '1.0', authorization: `Bearer ${gateway.operatorKey}` },
    )
  else if (/^\/oauth\/(?!authorize|jwks)/.test(path))
    response = await fetch(gateway.baseUrl + path, { method: 'POST' })
  else if (methods.length > 0 && !methods.includes('get')) response = await post(path, {})
  else
    // The HTTP+JSON binding of A2A is a prefix: its shortest address is the list of tasks.
    response = await fetch(gateway.baseUrl + (path === '/a2a/rest' ? '/a2a/rest/tasks' : path), {
      headers: { authorization: `Bearer ${gateway.operatorKey}`, 'A2A-Version': '1.0' },
      // Pages for people lead those to the sign-in who have not.
      redirect: isConsole(path) ? 'manual' : 'error',
    })
  return {
    status: response.status,
    type: response.headers.get('content-type') ?? '',
    text: (await response.text()) + (response.headers.get('link') ?? ''),
  }
}

describe('addresses', () => {
  it.each(Object.entries(ENTRANCES))('%s answers with %s, to GET and to HEAD', async (path, type) => {
    const got = await fetch(gateway.baseUrl + path)
    expect(got.status).toBe(200)
    expect(got.headers.get('content-type')).toMatch(type)
    const length = (await got.arrayBuffer()).byteLength
    expect(length).toBeGreaterThan(0)
    const head = await fetch(gateway.baseUrl + path, { method: 'HEAD' })
    expect({ status: head.status, type: head.headers.get('content-type') }).toEqual({
      status: 200,
      type: got.headers.get('content-type'),
    })
  })

  it('all that are named anywhere answer, and none is a guess', async () => {
    const openApi = (await (await fetch(`${gateway.baseUrl}/openapi.json`)).json()) as Json
    const namedBy = new Map<string, string>(Object.keys(ENTRANCES).map((path) => [path, 'the start']))
    const dead: string[] = []
    // The map grows while it is walked: each address is asked once.
    for (const [path, source] of namedBy) {
      const { status, type, text } = await probe(path, openApi)
      // A POST without its input is refused for its input: the address is there.
      const isThere =
        status === 200 ||
        status === 201 ||
        (status === 400 && keysAt(openApi, 'paths', path, 'post').length > 0)
      const isGuarded = status === 401 && keysAt(openApi, 'paths', path, 'post').length > 0
      // What is for sale says its price.
      const isForSale = status === 402 && path.startsWith('/p/')
      // Programs in guides name addresses that take another method; of no address nothing is allowed.
      const isForOthers = status === 405 && path.startsWith('/edge/')
      // Nobody is signed in, and nothing was asked for.
      const isForSignedIn = (status === 303 && isConsole(path)) || (status === 401 && path === '/mcp/connect')
      const isSignIn = status === 400 && path.startsWith('/oauth/')
      if (!isThere && !isGuarded && !isForSale && !isForOthers && !isForSignedIn && !isSignIn)
        dead.push(`${status} ${path} (named by ${source})`)
      if (!/^(?:application|text)\//.test(type)) continue
      // In a page a quotation mark that ends an address is written so.
      const words = type.startsWith('text/html')
        ? text.replaceAll('&quot;', '"').replaceAll('&amp;', '&')
        : text
      for (const named of findAddresses(words, gateway.baseUrl))
        if (!namedBy.has(named) && !isFormOfMany(named)) namedBy.set(named, path)
    }
    expect(dead).toEqual([])
    // Proof that the walk found its way: pages, schemas and problem types are named only inside other documents.
    expect([...namedBy.keys()]).toEqual(
      expect.arrayContaining([
        '/capabilities/extract-preview',
        '/v1/capabilities/extract-preview',
        '/schemas/gateway_execute.json',
        '/problems/outcome_ambiguous',
        '/v1/egress/fetch',
        '/a2a',
        '/mcp',
        '/docs/mcp',
        '/ar/docs/mcp',
        '/docs/mcp.md',
        '/tools/gateway_execute',
        '/reference.json',
      ]),
    )
  })

  it('types that the API catalog states are the types that answer', async () => {
    const catalog = (await (await fetch(`${gateway.baseUrl}/.well-known/api-catalog`)).json()) as Json
    const links = (catalog['linkset'] as Json[]).flatMap((context) =>
      Object.values(context).flatMap((value) => (Array.isArray(value) ? (value as Json[]) : [])),
    )
    const typed = links.filter((link) => 'type' in link)
    expect(typed.length).toBeGreaterThan(3)
    for (const { href, type } of typed) {
      const response = await fetch(String(href))
      expect(response.headers.get('content-type'), String(href)).toMatch(new RegExp(`^${String(type)}`))
      await response.arrayBuffer()
    }
  })

  it.each(Object.keys(ERRORS))('/problems/%s explains the code', async (code) => {
    const response = await fetch(`${gateway.baseUrl}/problems/${code}`)
    expect(response.status).toBe(200)
    expect(await response.text()).toContain(`<code>${code}</code>`)
  })
})

describe('claims', () => {
  it('the first result of the catalogue works when sent unchanged', async () => {
    const catalogue = (await (await fetch(`${gateway.baseUrl}/v1/capabilities`)).json()) as Json
    const first = catalogue['first_result'] as {
      url: string
      method: string
      body: unknown
      expected_status: number
    }
    const response = await fetch(first.url, {
      method: first.method,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(first.body),
    })
    expect(response.status).toBe(first.expected_status)
    expect(await response.json()).toMatchObject({ ok: true, receipt: null })
  })

  it('the example of each capability works when sent unchanged, or asks exactly its price', async () => {
    const catalogue = (await (await fetch(`${gateway.baseUrl}/v1/capabilities`)).json()) as Json
    const amounts: Json = {}
    for (const capability of catalogue['capabilities'] as Json[]) {
      const response = await post(new URL(String(capability['execute_url'])).pathname, capability['example'])
      const body = (await response.json()) as Json
      const price = String(at(capability, 'pricing', 'amount_atomic'))
      if (price === '0') expect(body).toMatchObject({ ok: true, capability: capability['id'] })
      else {
        expect(response.status, JSON.stringify(body)).toBe(402)
        expect((body['accepts'] as Json[]).map((way) => way['maxAmountRequired'])).toEqual([price])
      }
      amounts[String(capability['id'])] = price
    }
    expect(amounts).toEqual({
      'extract-preview': '0',
      'web-extraction': '3000',
      'product-offers': '6000',
      'feed-digest': '2000',
    })
  })

  it('each capability has a page with its price, a request and the shape of its answer', async () => {
    const catalogue = (await (await fetch(`${gateway.baseUrl}/v1/capabilities`)).json()) as Json
    for (const { url, pricing, example, limitations } of catalogue['tools'] as Json[]) {
      // The colours of its code are spans.
      const page = (await (await fetch(String(url))).text()).replaceAll(/<\/?span[^>]*>/g, '')
      const amount = String(at(pricing as Json, 'amount'))
      expect(page).toContain(
        amount === '0.000000' ? 'Free: no payment' : `${amount} USDC for one bounded execution`,
      )
      expect(page.includes('Payment-Signature')).toBe(amount !== '0.000000')
      for (const key of Object.keys(example as Json)) expect(page).toContain(`&quot;${key}&quot;: `)
      expect(page).toContain('Shape of the answer')
      expect(page).toContain('&quot;receipt&quot;: ')
      for (const limitation of limitations as string[]) expect(page).toContain(limitation.split('`')[0])
    }
  })

  it('every address of a tool in the protocol manifest is an operation of the OpenAPI description', async () => {
    const openApi = (await (await fetch(`${gateway.baseUrl}/openapi.json`)).json()) as Json
    const manifest = (await (await fetch(`${gateway.baseUrl}/v1/protocols`)).json()) as Json
    for (const tool of manifest['tools'] as Json[])
      for (const route of tool['http'] as { method: string; path: string; operation_id: string }[])
        expect(at(openApi, 'paths', route.path, route.method.toLowerCase(), 'operationId')).toBe(
          route.operation_id,
        )
  })

  it('the published keys are public and complete', async () => {
    const response = await fetch(`${gateway.baseUrl}/.well-known/gateway-egress-key.json`)
    expect(response.headers.get('cache-control')).toMatch(/max-age=(?:[1-9]\d?|[12]\d\d|300)$/)
    const { keys } = (await response.json()) as { keys: Json[] }
    expect(new Set(keys.map(({ use }) => use))).toEqual(new Set(['sig', 'enc']))
    for (const key of keys) {
      expect(key).toEqual(
        expect.objectContaining({
          kty: expect.any(String),
          crv: expect.any(String),
          x: expect.any(String),
          kid: expect.any(String),
          purpose: expect.any(String),
          not_before: expect.stringMatching(/Z$/),
          retired_at: null,
        }),
      )
      expect(key).not.toHaveProperty('d')
    }
  })

  it('pages forbid scripts of others and framing', async () => {
    for (const path of ['/', '/docs', '/capabilities/extract-preview', '/problems/not_found']) {
      const { headers } = await fetch(gateway.baseUrl + path)
      const policy = headers.get('content-security-policy')
      expect(policy).toMatch(/default-src 'none'/)
      expect(policy).toMatch(/frame-ancestors 'none'/)
      expect(policy).not.toMatch(/unsafe/)
      expect(headers.get('x-content-type-options')).toBe('nosniff')
    }
  })
})
