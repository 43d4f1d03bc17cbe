// What the REST door decides by itself: where input comes from, which method and type it takes, what refusals look like.
import { request } from 'node:http'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { free } from '../../src/core/price.ts'
import { defineTool } from '../../tools/services.ts'
import type { Capability } from '../../src/store/ports.ts'
import { hashToken, newToken } from '../../src/lib/tokens.ts'
import { type Harness, startRestHarness } from '../support/door-harness.ts'

const common = {
  summary: 'Test tool.',
  price: free,
  effects: { readOnly: true, idempotent: true, openWorld: false },
  errors: [],
  examples: [],
} as const

const seen = z.strictObject({ input: z.unknown() })
const echo = defineTool({
  ...common,
  name: 'gateway.echo',
  title: 'Echo',
  toolset: 'web',
  caller: 'anyone',
  input: z.strictObject({
    id: z.string(),
    limit: z.int().max(30).default(10),
    ratio: z.number().optional(),
    deep: z.boolean().optional(),
    tags: z.array(z.string()).optional(),
    counts: z.array(z.int()).optional(),
    note: z.string().nullable().optional(),
  }),
  output: seen,
  rest: [
    { method: 'GET', path: '/v1/echo/{id}', operationId: 'echoGet' },
    { method: 'POST', path: '/v1/echo/{id}', operationId: 'echoPost', status: 201 },
  ],
  handle: async (input) => ({ input }),
})
const shout = defineTool({
  ...common,
  name: 'gateway.shout',
  title: 'Shout',
  toolset: 'web',
  caller: 'operator',
  maxBodyBytes: 1000,
  input: z.strictObject({ text: z.string() }),
  output: seen,
  rest: { method: 'POST', path: '/v1/shout', operationId: 'shout' },
  handle: async (input) => ({ input }),
})

let waiting: { reached: Promise<void>; aborted: Promise<void> }
function newWait() {
  let reach!: () => void
  let abort!: () => void
  waiting = { reached: new Promise((r) => (reach = r)), aborted: new Promise((r) => (abort = r)) }
  return { reach, abort }
}
let wait = newWait()
const stuck = defineTool({
  ...common,
  name: 'gateway.stuck',
  title: 'Stuck',
  toolset: 'web',
  caller: 'anyone',
  input: z.strictObject({}),
  output: seen,
  rest: { method: 'POST', path: '/v1/stuck', operationId: 'stuck' },
  async handle(_input, { signal }) {
    wait.reach()
    await new Promise((resolve) => signal().addEventListener('abort', resolve))
    wait.abort()
    return { input: null }
  },
})
const broken = defineTool({
  ...common,
  name: 'gateway.broken',
  title: 'Broken',
  toolset: 'web',
  caller: 'anyone',
  input: z.strictObject({}),
  output: seen,
  rest: { method: 'GET', path: '/v1/broken', operationId: 'broken' },
  handle: async () => {
    throw new Error('the driver says: password=hunter2')
  },
})

const balance = defineTool({
  ...common,
  name: 'gateway.balance',
  title: 'Balance',
  toolset: 'web',
  caller: 'account',
  input: z.strictObject({ capability: z.string().optional() }),
  output: seen,
  rest: [
    { method: 'GET', path: '/v1/balance', operationId: 'balanceGet' },
    { method: 'POST', path: '/v1/balance', operationId: 'balancePost' },
  ],
  handle: async (_input, { caller }) => ({ input: caller.kind }),
})

const key = newToken('sk')
const capability = newToken('cap')
let gateway: Harness
beforeAll(async () => {
  gateway = await startRestHarness({
    tools: [echo, shout, stuck, broken, balance],
    keys: {
      [key]: {
        id: 'key_1',
        accountId: 'acct_1',
        label: '',
        admin: true,
        role: 'operator',
        createdAt: 0,
        revokedAt: null,
      },
    },
    store: {
      findCapability: async (hash) =>
        hashToken(capability).equals(hash)
          ? ({ id: 'cap_1', accountId: 'acct_1', expiresAt: Infinity, revokedAt: null } as Capability)
          : undefined,
    },
    env: { GATEWAY_RATE_LIMIT: '1000' },
  })
})
afterAll(() => gateway.close())

const call = (path: string, init?: RequestInit) => fetch(gateway.baseUrl + path, init)
const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  call(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
const authorization = `Bearer ${key}`

async function expectProblem(response: Response, status: number, code: string) {
  expect(response.headers.get('content-type')).toBe('application/problem+json')
  const problem = (await response.json()) as Record<string, unknown>
  expect({ status: response.status, code: problem['code'] }).toEqual({ status, code })
  expect(problem['type']).toBe(`${gateway.baseUrl}/problems/${code}`)
  expect(problem['request_id']).toBe(response.headers.get('x-request-id'))
  expect(response.headers.get('cache-control')).toBe('no-store')
  return problem
}

describe('input from the address', () => {
  it.each([
    ['/v1/echo/a?limit=3', { id: 'a', limit: 3 }],
    ['/v1/echo/a', { id: 'a', limit: 10 }],
    ['/v1/echo/a%20b%2Fc', { id: 'a b/c', limit: 10 }],
    ['/v1/echo/7?ratio=-1.5&deep=true', { id: '7', limit: 10, ratio: -1.5, deep: true }],
    ['/v1/echo/a?tags=x&tags=y', { id: 'a', limit: 10, tags: ['x', 'y'] }],
    ['/v1/echo/a?tags=1', { id: 'a', limit: 10, tags: ['1'] }],
    ['/v1/echo/a?counts=1&counts=2', { id: 'a', limit: 10, counts: [1, 2] }],
    ['/v1/echo/a?note=10', { id: 'a', limit: 10, note: '10' }],
  ])('reads %s', async (path, input) => {
    const response = await call(path)
    expect(response.status).toBe(200)
    expect(await response.json()).toEqual({ input })
  })

  it.each([
    ['/v1/echo/a?limit=31', 'input_invalid'],
    ['/v1/echo/a?limit=', 'input_wrong_type'],
    ['/v1/echo/a?limit=1e1', 'input_wrong_type'],
    ['/v1/echo/a?limit=1.5', 'input_wrong_type'],
    ['/v1/echo/a?limit=1&limit=2', 'input_invalid'],
    ['/v1/echo/a?deep=yes', 'input_wrong_type'],
    ['/v1/echo/a?other=1', 'input_unknown_property'],
    ['/v1/echo/a?id=b', 'input_invalid'],
    ['/v1/echo/a?__proto__=1', 'input_unknown_property'],
    ['/v1/echo/%E0%A4%A', 'request_invalid'],
  ])('refuses %s with %s', async (path, code) => {
    await expectProblem(await call(path), 400, code)
  })
})

describe('a capability', () => {
  const path = `/v1/balance?capability=${capability}`

  it('is no credential in an address, which ends in access logs', async () => {
    await expectProblem(await call(path), 401, 'key_required')
    await expectProblem(await call(path, { headers: { authorization } }), 400, 'input_invalid')
    const response = await call(path, { headers: { 'x-gateway-capability': capability } })
    await expectProblem(response, 400, 'input_invalid')
  })

  it('is one in a header and in a JSON body', async () => {
    const asHeader = await call('/v1/balance', { headers: { 'x-gateway-capability': capability } })
    expect(await asHeader.json()).toEqual({ input: 'agent' })
    const inBody = await post('/v1/balance', { capability })
    expect(await inBody.json()).toEqual({ input: 'agent' })
  })
})

describe('input from the body', () => {
  it('joins path and body and answers with the status of the route', async () => {
    const response = await post('/v1/echo/a', { limit: 2 })
    expect(response.status).toBe(201)
    expect(await response.json()).toEqual({ input: { id: 'a', limit: 2 } })
  })

  it('accepts the path value repeated in the body, and refuses another one', async () => {
    expect((await post('/v1/echo/a', { id: 'a' })).status).toBe(201)
    await expectProblem(await post('/v1/echo/a', { id: 'b' }), 400, 'input_invalid')
  })

  it('needs no body where the path says everything', async () => {
    expect((await call('/v1/echo/a', { method: 'POST' })).status).toBe(201)
  })

  it.each([
    ['an empty body', '', 'application/json', 400, 'json_invalid'],
    ['broken JSON', '{"text":', 'application/json', 400, 'json_invalid'],
    ['a form', 'text=a', 'application/x-www-form-urlencoded', 415, 'content_type_unsupported'],
    ['no content type', '{"text":"a"}', '', 415, 'content_type_unsupported'],
    ['deep nesting', `{"text":${'['.repeat(40)}${']'.repeat(40)}}`, 'application/json', 400, 'json_too_deep'],
    [
      'one byte too many',
      JSON.stringify({ text: 'x'.repeat(990) }),
      'application/json',
      413,
      'body_too_large',
    ],
    [
      'far too many bytes',
      JSON.stringify({ text: 'x'.repeat(200_000) }),
      'application/json',
      413,
      'body_too_large',
    ],
    ['an array', '[]', 'application/json', 400, 'input_wrong_type'],
    ['a prototype', '{"text":"a","__proto__":{"b":1}}', 'application/json', 400, 'input_unknown_property'],
    ['a missing field', '{}', 'application/json', 400, 'input_missing_field'],
    ['a wrong type', '{"text":1}', 'application/json', 400, 'input_wrong_type'],
  ])('refuses %s', async (_what, body, type, status, code) => {
    const response = await call('/v1/shout', {
      method: 'POST',
      headers: { authorization, ...(type && { 'content-type': type }) },
      body: Buffer.from(body),
    })
    await expectProblem(response, status, code)
  })

  it('accepts a body of exactly the limit', async () => {
    const body = JSON.stringify({ text: 'x'.repeat(1000 - '{"text":""}'.length) })
    expect((await post('/v1/shout', body, { authorization })).status).toBe(200)
  })

  it('lets the sender of a chunked body that is too large read the refusal', async () => {
    const chunks = function* () {
      for (let at = 0; at < 50; at++) yield Buffer.alloc(1000, 0x20)
    }
    const response = await call('/v1/shout', {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: Readable.toWeb(Readable.from(chunks())),
      duplex: 'half',
    } as RequestInit)
    await expectProblem(response, 413, 'body_too_large')
  })

  it('asks for the key before it judges the body', async () => {
    await expectProblem(await post('/v1/shout', '{"text":'), 401, 'key_required')
    await expectProblem(await post('/v1/shout', {}, { authorization: 'Bearer agw_sk_x' }), 401, 'key_invalid')
  })

  it('stays usable on the same connection after a refused body', async () => {
    for (let round = 0; round < 3; round++) {
      await expectProblem(await post('/v1/shout', '{', { authorization }), 400, 'json_invalid')
      expect((await post('/v1/shout', { text: 'a' }, { authorization })).status).toBe(200)
    }
  })
})

describe('methods', () => {
  it('answers HEAD like GET without a body', async () => {
    const response = await call('/v1/echo/a', { method: 'HEAD' })
    expect(response.status).toBe(200)
    expect(Number(response.headers.get('content-length'))).toBeGreaterThan(0)
    expect(await response.text()).toBe('')
  })

  it.each(['PUT', 'DELETE', 'PATCH', 'GET', 'HEAD'])(
    'refuses %s on a POST address and names the methods',
    async (method) => {
      const response = await call('/v1/shout', { method })
      expect(response.status).toBe(405)
      expect(response.headers.get('allow')).toBe('POST, OPTIONS')
      if (method !== 'HEAD') await expectProblem(response, 405, 'method_not_allowed')
    },
  )

  it('opens public reading to other origins, and nothing else', async () => {
    const read = await call('/openapi.json', { method: 'OPTIONS', headers: { origin: 'https://a.example' } })
    expect(read.status).toBe(204)
    expect(read.headers.get('access-control-allow-origin')).toBe('*')
    // A page that paid shows the payment again to read what became of it.
    for (const name of ['payment-signature', 'x-payment'])
      expect(read.headers.get('access-control-allow-headers')).toContain(name)
    const act = await call('/v1/shout', { method: 'OPTIONS', headers: { origin: 'https://a.example' } })
    expect(act.status).toBe(204)
    expect(act.headers.get('allow')).toBe('POST, OPTIONS')
    expect(act.headers.get('access-control-allow-origin')).toBeNull()
  })

  it.each([
    '/nothing',
    '/v1/echo',
    '/v1/echo/',
    '/v1/echo/a/',
    '/v1/echo/a/b',
    '/V1/shout',
    '/v1/shout/',
    '/docs/../agent',
    '//',
    '/%2e%2e',
  ])('answers %s with 404', async (path) => {
    await expectProblem(await raw(path), 404, 'not_found')
  })
})

describe('answers', () => {
  it('carry the request id, the rate limit and no permission to cache', async () => {
    const { headers } = await call('/v1/echo/a')
    expect(headers.get('x-request-id')).toMatch(/^req_/)
    expect(headers.get('ratelimit')).toMatch(/^"default";r=\d+;t=\d+$/)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('x-powered-by')).toBeNull()
    expect(headers.get('etag')).toBeNull()
  })

  it('say nothing of what a driver said', async () => {
    const problem = await expectProblem(await call('/v1/broken'), 500, 'internal')
    expect(JSON.stringify(problem)).not.toMatch(/hunter2|driver|\bat /)
  })

  it('tell the handler when the caller goes away', async () => {
    wait = newWait()
    const abort = new AbortController()
    const response = call('/v1/stuck', { method: 'POST', signal: abort.signal }).catch(() => 'gone')
    await waiting.reached
    abort.abort()
    expect(await response).toBe('gone')
    await waiting.aborted
  })

  it('accept the absolute form of a request target', async () => {
    const response = await raw(`${gateway.baseUrl}/v1/echo/a`)
    expect(response.status).toBe(200)
  })
})

/** fetch() would normalise the path. */
function raw(path: string): Promise<Response> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(gateway.baseUrl)
    const sent = request({ hostname, port, path }, (res) => {
      const chunks: Buffer[] = []
      res.on('data', (chunk: Buffer) => chunks.push(chunk))
      res.on('end', () =>
        resolve(
          new Response(Buffer.concat(chunks), {
            status: res.statusCode!,
            headers: Object.entries(res.headers).map(
              ([name, value]) => [name, String(value)] as [string, string],
            ),
          }),
        ),
      )
    })
    sent.on('error', reject)
    sent.end()
  })
}
