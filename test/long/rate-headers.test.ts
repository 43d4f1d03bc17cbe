// What is left of a limit stands in the head of every answer, whichever door gave it, as it does over REST.
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'

const LIMIT = 3
let gw: TestGateway
beforeAll(async () => {
  gw = await startTestGateway({ env: { GATEWAY_RATE_LIMIT: String(LIMIT) } })
})
afterAll(() => gw?.close())

const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(gw.baseUrl + path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: JSON.stringify(body),
  })
const rpc = (method: string, params: object) => ({ jsonrpc: '2.0', id: 1, method, params })
const A2A = { 'a2a-version': '1.0' }
const toolOf = (name: string, input: object) => rpc('tools/call', { name, arguments: input })
const words = (text: string, skillId: string, data: object) => ({
  message: { messageId: text, role: 'ROLE_USER', metadata: { skillId }, parts: [{ data }] },
})
const SAMPLE = { target: 'https://example.com/pay', method: 'POST', headers: {}, body: {} }

it.each<[string, () => Promise<Response>]>([
  ['a call over REST', () => post('/v1/inspect', SAMPLE)],
  ['a call over MCP', () => post('/mcp', toolOf('gateway_protocols', {}))],
  ['the list over MCP', () => post('/mcp', rpc('tools/list', {}))],
  ['a message over A2A', () => post('/a2a', rpc('SendMessage', words('a', 'test-transaction', SAMPLE)), A2A)],
  ['a message over HTTP+JSON', () => post('/a2a/rest/message:send', words('b', 'preflight', {}), A2A)],
  ['a task over A2A', () => post('/a2a', rpc('GetTask', { id: 'none' }), A2A)],
])('%s says what is left, and when to come back', async (_, ask) => {
  const answers: Response[] = []
  for (let i = 0; i <= LIMIT; i++) answers.push(await ask())
  const left = answers.map(({ headers }) => headers.get('ratelimit')?.replace(/;t=\d+$/, ''))
  expect(left).toEqual(['"default";r=2', '"default";r=1', '"default";r=0', '"default";r=0'])
  for (const { headers } of answers) expect(headers.get('ratelimit-policy')).toBe(`"default";q=${LIMIT};w=60`)
  const [retry, ...before] = answers.map(({ headers }) => headers.get('retry-after')).toReversed()
  expect(Number(retry)).toBeGreaterThan(0)
  expect(before).toEqual([null, null, null])
})

/** @returns what is answered to the head of a request, whose body never comes */
function announce(
  path: string,
  length: number,
  headers: readonly string[] = [],
  method = 'POST',
): Promise<string> {
  return new Promise((resolve, reject) => {
    const head = [
      `${method} ${path} HTTP/1.1`,
      'Host: localhost',
      'Content-Type: application/json',
      ...headers,
    ]
    const socket = connect(gw.gateway.port, '127.0.0.1', () =>
      socket.write(`${head.join('\r\n')}\r\nContent-Length: ${length}\r\n\r\n{`),
    )
    let text = ''
    socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')))
    socket.on('error', reject)
    socket.on('close', () => resolve(text))
  })
}

it('reads nothing of a large body that could only be refused', async () => {
  for (let i = 0; i <= LIMIT; i++) await post('/v1/test', {})
  const spent = await announce('/v1/test', 600_000)
  expect(spent).toMatch(/^HTTP\/1\.1 429 /)
  expect(spent.toLowerCase()).toMatch(
    /connection: close[^]*retry-after: \d+|retry-after: \d+[^]*connection: close/,
  )
  expect(spent).toContain('"rate_limited"')

  const unknown = ['Authorization: Bearer agw_sk_nobody']
  expect(await announce('/v1/marketplace/seller/services/import', 600_000, unknown)).toContain(
    '"key_invalid"',
  )
  expect(await announce('/mcp', 600_000, unknown)).toContain('"key_invalid"')
})

it.each([
  ['GET', '/healthz', 200],
  ['GET', '/openapi.json', 200],
  ['POST', '/openapi.json', 405],
  ['POST', '/nothing', 404],
  ['PUT', '/mcp', 405],
  ['PUT', '/a2a', 405],
  ['POST', '/mcp', 413],
])('answers %s %s with %i, and reads nothing of the large body behind it', async (method, path, status) => {
  const answer = await announce(path, 50_000_000, [], method)
  expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
  expect(answer.toLowerCase()).toContain('connection: close')
})
