// Documents as clients and caches fetch them: compressed, with a tag to ask by, under every spelling of their address, and never so
// where an answer may hold a secret.
import { request } from 'node:http'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'

let gw: TestGateway
beforeAll(async () => {
  gw = await startTestGateway({
    env: { GATEWAY_SECURITY_CONTACT: 'mailto:security@example.com,https://example.com/report' },
  })
})
afterAll(() => gw?.close())

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: Buffer
}

/** The bytes as they came: `fetch` would decompress them. */
function ask(
  path: string,
  headers: Record<string, string> = {},
  { method = 'GET', body }: { method?: string; body?: string } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const req = request(gw.baseUrl + path, { method, headers }, (res) => {
      const chunks: Buffer[] = []
      res.on('data', (chunk: Buffer) => chunks.push(chunk))
      res.on('end', () =>
        resolve({
          status: res.statusCode ?? 0,
          headers: res.headers as Record<string, string | undefined>,
          body: Buffer.concat(chunks),
        }),
      )
    })
    req.on('error', reject)
    req.end(body)
  })
}

const DOCUMENTS = [
  '/openapi.json',
  '/agent.txt',
  '/',
  '/docs/mcp',
  '/reference',
  '/sitemap.xml',
  '/marketplace/sell',
  '/schemas/gateway_execute.json',
  '/.well-known/agent-card.json',
  '/.well-known/x402',
]

describe.each(DOCUMENTS)('%s', (path) => {
  it('is compressed for whoever takes it so, the same document each time', async () => {
    const plain = await ask(path)
    const packed = await ask(path, { 'accept-encoding': 'gzip' })
    const smaller = await ask(path, { 'accept-encoding': 'gzip, br' })
    expect([plain, packed, smaller].map(({ headers }) => headers['content-encoding'])).toEqual([
      undefined,
      'gzip',
      'br',
    ])
    expect(gunzipSync(packed.body)).toEqual(plain.body)
    expect(brotliDecompressSync(smaller.body)).toEqual(plain.body)
    expect(packed.body.length).toBeLessThan(plain.body.length)
    for (const { headers, body } of [plain, packed, smaller]) {
      expect(headers['vary']?.toLowerCase()).toContain('accept-encoding')
      expect(headers['content-length']).toBe(String(body.length))
    }
  })

  it('has a tag for each coding, by which it is not sent again', async () => {
    const codings = ['identity', 'gzip', 'br']
    const tags = await Promise.all(
      codings.map(async (coding) => (await ask(path, { 'accept-encoding': coding })).headers['etag'] ?? ''),
    )
    expect(new Set(tags).size).toBe(3)
    for (const [at, coding] of codings.entries()) {
      const again = await ask(path, { 'accept-encoding': coding, 'if-none-match': `"other", W/${tags[at]}` })
      expect([again.status, again.body.length, again.headers['etag']]).toEqual([304, 0, tags[at]])
      expect(again.headers['cache-control']).toMatch(/^public, max-age=\d+$/)
      expect((await ask(path, { 'accept-encoding': coding, 'if-none-match': '"other"' })).status).toBe(200)
    }
  })

  it('has a head of its own', async () => {
    const { headers } = await ask(path, { 'accept-encoding': 'gzip' })
    const head = await ask(path, { 'accept-encoding': 'gzip' }, { method: 'HEAD' })
    expect([head.status, head.body.length]).toEqual([200, 0])
    for (const name of ['content-length', 'content-encoding', 'content-type', 'etag'])
      expect(head.headers[name], name).toBe(headers[name])
  })
})

it('the description of every address is a tenth of its size on the way', async () => {
  const plain = await ask('/openapi.json')
  const { body } = await ask('/openapi.json', { 'accept-encoding': 'gzip' })
  expect(body.length).toBeLessThan(plain.body.length / 8)
})

describe('an answer of a tool', () => {
  const GZIP = { 'accept-encoding': 'gzip' }

  it('is compressed where everybody may read it', async () => {
    const plain = await ask('/v1/capabilities')
    const packed = await ask('/v1/capabilities', GZIP)
    expect(packed.headers['content-encoding']).toBe('gzip')
    expect(JSON.parse(gunzipSync(packed.body).toString())).toEqual(JSON.parse(plain.body.toString()))
    expect(packed.headers['cache-control']).toBe('no-store')
  })

  it.each([
    ['a token', { authorization: 'Bearer something' }],
    ['a capability', async () => ({ 'x-gateway-capability': (await gw.grant()).capability })],
    ['a payment', { 'payment-signature': 'x' }],
    ['a payment of the first version', { 'x-payment': 'x' }],
    ['a signature', { 'sign-in-with-x': 'x' }],
    ['a cookie', { cookie: 'a=b' }],
  ])('goes as it is to whoever shows %s', async (_, given) => {
    const shown = typeof given === 'function' ? await given() : given
    const answer = await ask('/v1/capabilities', { ...GZIP, ...shown })
    // A refusal is too short to be compressed, whoever it is for.
    expect([answer.status, answer.headers['content-encoding']]).toEqual([200, undefined])
  })

  it('goes as it is where it was asked for with POST', async () => {
    const html = `<article><h1>Tea</h1>${'<p>Green tea is steeped for three minutes.</p>'.repeat(100)}</article>`
    const answer = await ask(
      '/v1/execute',
      { ...GZIP, 'content-type': 'application/json' },
      { method: 'POST', body: JSON.stringify({ capability: 'extract-preview', html }) },
    )
    expect([answer.status, answer.headers['content-encoding']]).toEqual([200, undefined])
    expect(answer.body.length).toBeGreaterThan(4096)
  })
})

it('the list of tools over MCP is compressed, with the id of its request', async () => {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 'an "id"', method: 'tools/list' })
  const plain = await ask('/mcp', headers, { method: 'POST', body })
  const packed = await ask('/mcp', { ...headers, 'accept-encoding': 'gzip, br' }, { method: 'POST', body })
  expect([plain.headers['content-encoding'], packed.headers['content-encoding']]).toEqual([undefined, 'gzip'])
  expect(gunzipSync(packed.body)).toEqual(plain.body)
  expect(JSON.parse(plain.body.toString())).toMatchObject({
    id: 'an "id"',
    result: { tools: expect.anything() },
  })
  expect(packed.body.length).toBeLessThan(plain.body.length / 2)
})

describe('a slash at the end', () => {
  it.each(['/docs', '/v1/capabilities', '/openapi.json', '/marketplace/sell', '/healthz'])(
    'changes nothing at %s',
    async (path) => {
      const [without, with_] = [await ask(path), await ask(`${path}/`)]
      expect([without.status, with_.status]).toEqual([200, 200])
      expect(with_.headers['content-type']).toBe(without.headers['content-type'])
      expect((await ask(`${path}/`, {}, { method: 'HEAD' })).status).toBe(200)
      expect((await ask(`${path}//`)).status).toBe(404)
    },
  )

  it.each(['/mcp/', '/a2a/', '/v1/preflight/'])('changes nothing for what is sent to %s', async (path) => {
    const answer = await ask(path, { 'content-type': 'application/json' }, { method: 'POST', body: '{' })
    expect(answer.status).not.toBe(404)
  })
})

describe('security.txt', () => {
  it('names whom to tell, and never expires', async () => {
    const { status, headers, body } = await ask('/.well-known/security.txt')
    expect([status, headers['content-type']]).toEqual([200, 'text/plain; charset=utf-8'])
    const lines = body.toString().trim().split('\n')
    expect(lines).toContain('Contact: mailto:security@example.com')
    expect(lines).toContain('Contact: https://example.com/report')
    expect(lines).toContain(`Canonical: ${gw.baseUrl}/.well-known/security.txt`)
    const expires = lines
      .filter((line) => line.startsWith('Expires: '))
      .map((line) => Date.parse(line.slice(9)))
    expect(expires).toHaveLength(1)
    const days = ((expires[0] ?? 0) - Date.now()) / 86_400_000
    expect(days).toBeGreaterThan(170)
    expect(days).toBeLessThan(365)
  })
})
