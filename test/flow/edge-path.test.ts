// Request targets as bytes on a socket: whatever they are, the merchant sees its own path as it was written, or nobody sees
// anything.
import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { errorsOf } from '../../src/core/tool-errors.ts'
import { edgeForward } from '../../tools/edge-forward.ts'
import type { AnyTool } from '../../src/core/registry.ts'
import { type EdgeAnswer, type EdgeGateway, type EdgeRequest, startEdgeGateway } from '../support/edge.ts'
import { UPSTREAM_HOST } from '../support/gateway.ts'

const OTHER = 'other.example.com'
const CREDITS = '100000'

let edge: EdgeGateway
beforeAll(async () => {
  edge = await startEdgeGateway({
    env: { GATEWAY_SERVICE_KEY_CREDITS: CREDITS, GATEWAY_LOG_LEVEL: 'error' },
    nameTtlSeconds: 300,
  })
  edge.upstream.respond((_request, res) => res.end())
})
afterAll(() => edge?.close())

const port = () => edge.upstream.port
/** `{host}` stands for the merchant with its port. */
const targetOf = (text: string) =>
  Buffer.from(text.replaceAll('{host}', `${UPSTREAM_HOST}:${port()}`), 'latin1')

describe('reaches the merchant, byte for byte', () => {
  it.each<[string, string]>([
    ['/edge/{host}/', '/'],
    ['/edge/{host}/v1/orders', '/v1/orders'],
    ['/edge/{host}/v1/%C3%A9', '/v1/%C3%A9'],
    ['/edge/{host}/v1?a=%2f..%2F&b=//?', '/v1?a=%2f..%2F&b=//?'],
    // Every spelling is the merchant's own business: what it signs, or looks up, is what was written.
    ['/edge/{host}/v1;x', '/v1;x'],
    ['/edge/{host}/v1;color=red;size=2/a;b/', '/v1;color=red;size=2/a;b/'],
    ['/edge/{host}/repos/acme%2Fshop/a%2fb', '/repos/acme%2Fshop/a%2fb'],
    ['/edge/{host}/%7Eada/%7euser/~grace', '/%7Eada/%7euser/~grace'],
    ['/edge/{host}/%61%2D%5F/%3Bx%3d', '/%61%2D%5F/%3Bx%3d'],
    ['/edge/{host}/v1/...;x/..a', '/v1/...;x/..a'],
    ['/edge/{host}/edge/other.example.com/x', '/edge/other.example.com/x'],
    // RFC 9112, section 3.2.2: another spelling of the same resource, whatever authority it names.
    ['http://evil.example/edge/{host}/v1', '/v1'],
    ['HTTPS://user@evil.example:1/edge/{host}/v1?x', '/v1?x'],
  ])('%s', async (text, target) => {
    const before = edge.upstream.requests.length
    const answer = await edge.send(targetOf(text))
    expect(answer.status).toBe(200)
    const arrived = edge.upstream.requests.slice(before)
    expect(arrived.map((request) => [request.servername, request.target])).toEqual([[UPSTREAM_HOST, target]])
    expect(arrived[0]!.headers).toContainEqual(['host', `${UPSTREAM_HOST}:${port()}`])
  })
})

describe('reaches nobody', () => {
  it.each<[string, number]>([
    ['/edge/{host}', 400],
    ['/edge/{host}?a', 400],
    ['/edge/', 400],
    ['/edge//{host}/v1', 400],
    ['/edge/{host}//v1', 400],
    ['/edge/{host}/v1/../admin', 400],
    ['/edge/{host}/v1/..', 400],
    ['/edge/../edge/{host}/v1', 400],
    ['/edge/{host}/v1/%2e%2e/admin', 400],
    ['/edge/{host}/v1%2f..%2fadmin', 400],
    ['/edge/{host}/v1/..%5cadmin', 400],
    ['/edge/{host}/v1\\..\\admin', 400],
    ['/edge/{host}\\@other.example.com/v1', 400],
    ['/edge/{host}@other.example.com/v1', 400],
    ['/edge/other.example.com@{host}/v1', 400],
    ['/edge/api.example.com./v1', 400],
    ['/edge/API.example.com/v1', 400],
    ['/edge/api%2eexample.com/v1', 400],
    ['/edge/b\u00c3\u00bccher.example.com/v1', 400],
    ['/edge/{host}/caf\u00c3\u00a9', 400],
    ['/edge/{host}/v1#frag', 400],
    ['/edge/{host}/v1?', 400],
    // What leads out of a folder for some server, whatever stands around the dots.
    ['/edge/{host}/v1/..;/admin', 400],
    ['/edge/{host}/v1/..;x=1/admin', 400],
    ['/edge/{host}/v1/.;/admin', 400],
    ['/edge/{host}/v1/..;', 400],
    ['/edge/{host}/v1/..%3b/admin', 400],
    ['/edge/{host}/v1/..%2Fadmin', 400],
    ['/edge/{host}/v1/x%2F..%2f..%2Fadmin', 400],
    ['/edge/{host}/v1/%2E%2E;/admin', 400],
    ['/edge/{host}/v1%2F%2Fadmin', 400],
    ['/edge/{host}/v1/%252e%252e/admin', 400],
    ['/edge/{host}/v1/a%5Cb', 400],
    ['/edge/{host}/v1/a%00b', 400],
    ['/edge/{host}/v1/a%EF%BC%9Bb', 400],
    ['/edge/https://{host}/v1', 403],
    ['/edge/127.0.0.1/v1', 403],
    ['/edge/0x7f.1/v1', 403],
    ['/edge/[::1]/v1', 403],
    ['/edge/localhost/v1', 403],
    ['/edge/api.example.com:22/v1', 403],
    ['/edge/other.example.com/v1', 403],
    ['/EDGE/{host}/v1', 404],
    ['/%65dge/{host}/v1', 404],
    ['//edge/{host}/v1', 404],
    ['/x/../edge/{host}/v1', 404],
    ['ftp://evil.example/edge/{host}/v1', 404],
    ['*', 404],
  ])('%s (%i)', async (text, status) => {
    const before = edge.upstream.requests.length
    const answer = await edge.send(targetOf(text))
    expect({ status: answer.status, type: answer.header('content-type') }).toEqual({
      status,
      type: 'application/problem+json',
    })
    expect(answer.header('x-gateway-attempt')).toBeUndefined()
    expect(edge.upstream.requests.length).toBe(before)
    expect(edge.dns.queries.map(({ name }) => name)).not.toContain(OTHER)
  })
})

describe('a method', () => {
  const METHODS = ['GET', 'PUT', 'PATCH', 'DELETE'] as const
  const at = () => `${edge.merchant}/v1/orders/1;v=2?a=1`
  const evidenceOf = (answer: EdgeAnswer) =>
    JSON.parse(Buffer.from(answer.header('x-gateway-evidence')!.split('.')[1]!, 'base64url').toString())
  const sha256 = (text: string) => `sha-256=:${createHash('sha256').update(text).digest('base64')}:`
  const arrivals = async (send: () => Promise<EdgeAnswer>) => {
    const before = edge.upstream.requests.length
    const answer = await send()
    return { answer, arrived: edge.upstream.requests.slice(before) }
  }

  it.each(METHODS)(
    '%s goes on only where the record lists it, with its body and its evidence',
    async (method) => {
      const body = method === 'GET' ? '' : '{"quantity":2}'
      const headers = [['Content-Type', 'application/json']] as const
      const refused = await arrivals(() => edge.send(at(), { method, headers, body }))
      expect([refused.answer.status, refused.answer.header('allow'), refused.answer.problem.code]).toEqual([
        405,
        'POST',
        'method_not_allowed',
      ])
      expect(refused.arrived).toEqual([])

      await edge.publish(`${edge.record}; methods=POST,${method}`)
      const { answer, arrived } = await arrivals(() => edge.send(at(), { method, headers, body }))
      const others = await arrivals(() =>
        edge.send(at(), { method: METHODS.find((one) => one !== method)!, headers }),
      )
      await edge.publish(edge.record)
      expect(answer.status).toBe(200)
      expect(arrived.map(({ method, target, body }) => [method, target, body.toString()])).toEqual([
        [method, '/v1/orders/1;v=2?a=1', body],
      ])
      // What changes nothing is asked for again without a key, and a cache would keep an answer for each.
      const key = arrived[0]!.headers.find(([name]) => name === 'idempotency-key')?.[1]
      expect(key === undefined).toBe(method === 'GET')
      expect(answer.header('x-gateway-idempotency-key')).toBe(key)
      expect(evidenceOf(answer)).toMatchObject({
        method,
        idempotency_key_added: method !== 'GET',
        request_content_digest: sha256(body),
      })
      expect([others.answer.status, others.answer.header('allow'), others.arrived]).toEqual([
        405,
        `POST, ${method}`,
        [],
      ])
    },
  )

  it('keeps the key of the buyer, whichever it is', async () => {
    await edge.publish(`${edge.record}; methods=GET,DELETE`)
    for (const method of ['GET', 'DELETE']) {
      const { answer, arrived } = await arrivals(() =>
        edge.send(at(), { method, headers: [['Idempotency-Key', 'k-1']] }),
      )
      expect(arrived[0]!.headers).toContainEqual(['idempotency-key', 'k-1'])
      expect(answer.header('x-gateway-idempotency-key')).toBeUndefined()
    }
    // POST is what a record allows that says nothing: this one says something else.
    expect((await edge.send(at())).problem).toMatchObject({
      code: 'edge_not_authorized',
      refusal: 'method_not_covered',
    })
    await edge.publish(edge.record)
  })

  it.each<[string, EdgeRequest, string]>([
    ['GET with a body', { method: 'GET', body: '{}' }, 'request_invalid'],
    [
      'GET with a chunked body',
      { method: 'GET', headers: [['Transfer-Encoding', 'chunked']], body: '2\r\n{}\r\n0\r\n\r\n' },
      'request_invalid',
    ],
    [
      'GET for a script of a page',
      { method: 'GET', headers: [['Sec-Fetch-Dest', 'script']] },
      'origin_denied',
    ],
    [
      'GET for a worker of a page',
      { method: 'GET', headers: [['Sec-Fetch-Dest', 'serviceworker']] },
      'origin_denied',
    ],
    ['HEAD', { method: 'HEAD' }, ''],
    ['OPTIONS', { method: 'OPTIONS' }, 'method_not_allowed'],
  ])('%s reaches nobody, even where the record lists all', async (_what, request, code) => {
    await edge.publish(`${edge.record}; methods=GET,HEAD,POST,PUT,PATCH,DELETE`)
    const before = edge.upstream.requests.length
    if (request.method === 'HEAD') {
      const { status } = await fetch(edge.baseUrl + at(), { method: 'HEAD' })
      expect(status).toBe(405)
    } else expect((await edge.send(at(), request)).problem.code).toBe(code)
    expect(edge.upstream.requests.length).toBe(before)
    await edge.publish(edge.record)
  })
})

it('whatever bytes the target is made of', async () => {
  const documented = new Set<string>(errorsOf(edgeForward as unknown as AnyTool, edgeForward.rest[0]!))
  const piece = fc.oneof(
    fc.constantFrom(
      '..',
      '.',
      '/',
      '//',
      '\\',
      '%2e',
      '%2F',
      '%5C',
      '%00',
      '@',
      ':',
      '#',
      '?',
      '&',
      ';',
      OTHER,
      'v1',
      'a',
    ),
    // Anything that the head of a request can hold: a space or a line break ends the target.
    fc
      .array(fc.integer({ min: 0x21, max: 0xff }), { maxLength: 3 })
      .map((bytes) => Buffer.from(bytes).toString('latin1')),
  )
  const text = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(''))
  const head = fc.constantFrom(
    '/edge/{host}/',
    '/edge/{host}/v1/',
    '/edge/{host}',
    '/edge/',
    'http://evil.example/edge/{host}/',
  )
  let arrivals = 0
  await fc.assert(
    fc.asyncProperty(head, text, async (start, rest) => {
      const before = edge.upstream.requests.length
      const target = targetOf(start + rest)
      const answer = await edge.send(target)
      const arrived = edge.upstream.requests.slice(before)
      if (answer.status !== 200) {
        expect(arrived).toEqual([])
        // What Node's parser refuses is no request of ours.
        if (answer.problem.code !== 'request_invalid') expect([...documented]).toContain(answer.problem.code)
        return
      }
      arrivals++
      expect(arrived).toHaveLength(1)
      expect(arrived[0]!.servername).toBe(UPSTREAM_HOST)
      const behindHost = target.toString('latin1').split(`/edge/${UPSTREAM_HOST}:${port()}`)[1]
      expect(arrived[0]!.target).toBe(behindHost)
    }),
    { numRuns: 1000 },
  )
  expect(arrivals).toBeGreaterThan(50)
})
