// What every door does before it reads a request: who may reach it from a browser, and heads that say one thing only.
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'

let sandbox: TestGateway
let production: TestGateway
beforeAll(async () => {
  sandbox = await startTestGateway()
  production = await startTestGateway({
    env: { GATEWAY_MODE: 'production', GATEWAY_BASE_URL: 'https://gateway.example.com' },
  })
})
afterAll(async () => {
  await sandbox?.close()
  await production?.close()
})

const EVIL = 'https://evil.example'
/** One address of each door. */
const DOORS = [
  ['MCP', 'POST', '/mcp'],
  ['A2A', 'POST', '/a2a'],
  ['A2A over HTTP', 'GET', '/a2a/rest/tasks'],
  ['the card', 'GET', '/.well-known/agent-card.json'],
  ['a tool', 'POST', '/v1/preflight'],
  ['the health', 'GET', '/healthz'],
  ['a page', 'GET', '/'],
  ['a document', 'GET', '/openapi.json'],
  ['the market', 'GET', '/p/gateway/feed-digest/'],
  ['the edge', 'POST', '/edge/shop.example/pay'],
  ['nothing', 'GET', '/nothing'],
] as const

interface Answer {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
}

/** A request as it stands, header by header, which no client library would send. */
function say(gw: TestGateway, target: string, headers: readonly string[]): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const socket = connect(gw.gateway.port, '127.0.0.1', () =>
      socket.write([`${target} HTTP/1.1`, ...headers, 'Connection: close', '', ''].join('\r\n')),
    )
    let text = ''
    socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')))
    socket.on('error', reject)
    socket.on('close', () => {
      const [head = '', body = ''] = text.split('\r\n\r\n', 2)
      const [line = '', ...lines] = head.split('\r\n')
      const pairs = lines.map((one): [string, string] => {
        const colon = one.indexOf(':')
        return [one.slice(0, colon).toLowerCase(), one.slice(colon + 1).trim()]
      })
      resolve({ status: Number(line.split(' ')[1]), headers: new Map(pairs), body })
    })
  })
}

const isDenied = ({ status, body }: Answer) => status === 403 && body.includes('"origin_denied"')
const EMPTY = ['Content-Type: application/json', 'Content-Length: 0']

describe.each(DOORS)('%s', (_, method, path) => {
  const target = `${method} ${path}`

  it('of a sandbox is not reached under a name that was made to lead here', async () => {
    const answer = await say(sandbox, target, ['Host: evil.example', ...EMPTY])
    expect([answer.status, answer.body]).toEqual([403, expect.stringContaining('"origin_denied"')])
  })

  it('of a sandbox is not reached from a page of another origin', async () => {
    const answer = await say(sandbox, target, ['Host: localhost', `Origin: ${EVIL}`, ...EMPTY])
    expect([answer.status, answer.body]).toEqual([403, expect.stringContaining('GATEWAY_ALLOWED_ORIGINS')])
    expect(answer.headers.get('access-control-allow-origin')).toBeUndefined()
    const own = await say(sandbox, target, ['Host: localhost', 'Origin: http://localhost:3000', ...EMPTY])
    expect(isDenied(own)).toBe(false)
  })

  it('of production is reached from a page of any origin', async () => {
    const answer = await say(production, target, ['Host: localhost', `Origin: ${EVIL}`, ...EMPTY])
    expect(isDenied(answer)).toBe(false)
  })

  it.each([
    ['Host', ['Host: localhost', 'Host: localhost']],
    ['Authorization', ['Host: localhost', 'Authorization: Bearer a', 'authorization: Bearer b']],
    ['X-Gateway-Capability', ['Host: localhost', 'X-Gateway-Capability: a', 'X-Gateway-Capability: b']],
    ['Idempotency-Key', ['Host: localhost', 'Idempotency-Key: a', 'Idempotency-Key: a']],
  ])('takes one %s', async (name, headers) => {
    // What the edge passes on is judged by the policy of transactions.
    if (path.startsWith('/edge/') && name !== 'Host') return
    const answer = await say(production, target, [...headers, ...EMPTY])
    expect([answer.status, answer.body]).toEqual([400, expect.stringContaining('"request_invalid"')])
    expect(answer.body.toLowerCase()).toContain(`send one ${name.toLowerCase()} header`)
  })

  it('takes no target that names another host than its Host', async () => {
    // An edge call names its merchant in the path, and neither of the two is looked at (edge-path.test.ts).
    if (path.startsWith('/edge/')) return
    const other = `${method} http://localhost${path}`
    const answer = await say(production, other, ['Host: gateway.example.com', ...EMPTY])
    expect([answer.status, answer.body]).toEqual([400, expect.stringContaining('"request_invalid"')])
    const same = await say(production, other, ['Host: localhost', ...EMPTY])
    expect(same.status === 400 && same.body.includes('different hosts')).toBe(false)
  })
})

describe('a page of another origin', () => {
  const ask = (path: string, init: RequestInit = {}) =>
    fetch(`http://127.0.0.1:${production.gateway.port}${path}`, {
      ...init,
      headers: { origin: EVIL, ...(init.headers as Record<string, string>) },
    })

  it.each([
    ['/mcp', 'POST', ['authorization', 'mcp-protocol-version', 'mcp-session-id', 'content-type']],
    ['/a2a', 'POST', ['authorization', 'a2a-version', 'a2a-extensions', 'content-type']],
    ['/a2a/rest/message:send', 'POST', ['authorization', 'a2a-version', 'content-type']],
    ['/.well-known/agent-card.json', 'GET', ['a2a-version']],
    ['/v1/preflight', 'POST', ['authorization', 'content-type']],
    ['/v1/execute', 'POST', ['payment-signature', 'content-type']],
    ['/openapi.json', 'GET', ['accept']],
  ])('may ask before it sends to %s', async (path, method, names) => {
    const answer = await ask(path, {
      method: 'OPTIONS',
      headers: { 'access-control-request-method': method, 'access-control-request-headers': names.join() },
    })
    expect(answer.status).toBe(204)
    expect(answer.headers.get('access-control-allow-origin')).toBe('*')
    expect(answer.headers.get('access-control-allow-credentials')).toBeNull()
    expect(answer.headers.get('access-control-allow-methods')).toContain(method)
    expect(answer.headers.get('allow')).toContain('OPTIONS')
    for (const name of names) expect(answer.headers.get('access-control-allow-headers')).toContain(name)
  })

  it('reads what MCP and A2A answer, refusals too', async () => {
    const json = { 'content-type': 'application/json' }
    const rpc = (method: string) => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: {} })
    for (const answer of [
      await ask('/mcp', { method: 'POST', headers: json, body: rpc('tools/list') }),
      await ask('/mcp', { method: 'POST', headers: json, body: rpc('ping') }),
      await ask('/mcp', { method: 'POST', headers: json, body: '{' }),
      await ask('/a2a', { method: 'POST', headers: json, body: rpc('GetTask') }),
      await ask('/a2a', { method: 'GET' }),
      await ask('/a2a/nothing', { method: 'POST' }),
      await ask('/a2a/rest/tasks/none'),
    ]) {
      expect(answer.headers.get('access-control-allow-origin'), answer.url).toBe('*')
      for (const name of ['mcp-session-id', 'retry-after', 'x-request-id', 'ratelimit', 'www-authenticate'])
        expect(answer.headers.get('access-control-expose-headers'), answer.url).toContain(name)
    }
  })

  it('reads no answer of an address that needs a token or changes something', async () => {
    for (const path of ['/v1/egress/credentials', '/v1/keys/free', '/edge/shop.example/pay']) {
      const answer = await ask(path, { method: 'POST' })
      expect(answer.headers.get('access-control-allow-origin'), path).toBeNull()
      const asked = await ask(path, { method: 'OPTIONS' })
      expect(asked.headers.get('access-control-allow-origin'), path).toBeNull()
    }
  })
})

it('answers what there is at all', async () => {
  const answer = await say(sandbox, 'OPTIONS *', ['Host: localhost'])
  expect([answer.status, answer.headers.get('allow')]).toEqual([204, 'GET, HEAD, POST, OPTIONS'])
})

describe('the log', () => {
  const linesOf = (gw: TestGateway) =>
    gw
      .log()
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Record<string, unknown>)

  it('says why the MCP door refused, and holds no address of whoever asked', async () => {
    const answer = await say(production, 'POST /mcp', ['Host: evil.example', ...EMPTY])
    const id = answer.headers.get('x-request-id')
    const [line] = linesOf(production).filter(({ request_id }) => request_id === id)
    expect(line).toEqual({
      level: 30,
      time: expect.any(String),
      request_id: id,
      door: 'mcp',
      code: 'origin_denied',
      reason: 'host',
      msg: 'refused',
    })
  })
  it.each([
    ['two of a header', ['Host: localhost', 'Idempotency-Key: a', 'Idempotency-Key: b'], 'request_invalid'],
    ['a foreign Host', ['Host: evil.example'], 'origin_denied'],
    ['a foreign Origin', ['Host: localhost', `Origin: ${EVIL}`], 'origin_denied'],
  ])(
    'holds no error, and no stack, for %s: whoever sends it can do so as often as they like',
    async (_, headers, code) => {
      const answer = await say(sandbox, 'GET /v1/pricing', [...headers, ...EMPTY])
      const id = answer.headers.get('x-request-id')
      const line = linesOf(sandbox).find(({ request_id }) => request_id === id)
      expect(line).toMatchObject({ level: 30, code, msg: 'refused' })
      expect(Object.keys(line ?? {})).not.toContain('err')
    },
  )
})

it('counts heads that it refuses on the address that they came from, and nothing else on them', async () => {
  const gw = await startTestGateway({ env: { GATEWAY_RATE_LIMIT: '3' } })
  try {
    const statusOf = async (host: string) =>
      (await say(gw, 'GET /v1/pricing', [`Host: ${host}`, ...EMPTY])).status
    const statuses = []
    for (let i = 0; i < 4; i++) statuses.push(await statusOf('evil.example'))
    expect(statuses).toEqual([403, 403, 403, 429])
    expect(await statusOf('localhost')).toBe(200)
  } finally {
    await gw.close()
  }
})
