// Request targets as bytes on a socket: whatever they are, the merchant sees its own path as it was written, or nobody sees
// anything.
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { errorsOf } from '../../src/core/tool-errors.ts'
import { edgeForward } from '../../tools/edge-forward.ts'
import type { AnyTool } from '../../src/core/registry.ts'
import { startEdgeGateway, type EdgeGateway } from '../support/edge.ts'
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
    ['/edge/{host}/v1;x', 400],
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

it('whatever bytes the target is made of', { timeout: 120_000 }, async () => {
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
