// What telemetry says of connections that are taken over: WebSockets behind a base URL, and whatever goes through the proxy.
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startTestGateway, type TestGateway, UPSTREAM_HOST } from '../support/gateway.ts'
import { type CollectedSpan, type OtlpCollector, startOtlpCollector } from '../support/otlp-collector.ts'
import { basic, exchange, sendConnect, startTls } from '../support/proxy-client.ts'
import { connectWebSocket, refusalOf, serveWebSockets } from '../support/websocket.ts'

const OTHER = 'other.example.com'
const TRACE = 'ab'.repeat(16)

let collector: OtlpCollector
let gw: TestGateway
let capability: string
let ca: string
const open: (Socket | TLSSocket)[] = []

async function start(unknown: 'inspect' | 'tunnel'): Promise<void> {
  collector = await startOtlpCollector()
  gw = await startTestGateway({
    names: [OTHER],
    env: {
      GATEWAY_METRICS_PORT: '0',
      GATEWAY_PROXY_PORT: '0',
      GATEWAY_PROXY_UNKNOWN: unknown,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_METRICS_EXPORTER: 'none',
      OTEL_BSP_SCHEDULE_DELAY: '100',
    },
  })
  const hosts = [`${UPSTREAM_HOST}:${gw.upstream.port}`]
  ;({ capability } = await gw.grant({ credential: { label: 'my-api', hosts } }))
  serveWebSockets(gw.upstream)
  ca = await (await fetch(`${gw.gateway.proxyUrl}/ca.pem`)).text()
}
async function stop(): Promise<void> {
  await gw.close()
  await collector.close()
}
afterEach(() => {
  for (const socket of open.splice(0)) socket.destroy()
})

const series = async (start: string): Promise<readonly string[]> =>
  (await (await fetch(gw.gateway.metricsUrl!)).text()).split('\n').filter((line) => line.startsWith(start))
const openConnections = async (kind: string) =>
  Number(
    (await series(`agent_gateway_connections_open{agent_gateway_connection="${kind}"}`))[0]!.split(' ')[1],
  )
/** Requests so far of a method, a route and a status, whatever else they have. */
async function answered(method: string, route: string, status: number): Promise<number> {
  const lines = await series('http_server_request_duration_seconds_count{')
  return lines
    .filter((line) =>
      [`http_request_method="${method}"`, `http_route="${route}"`, `status_code="${status}"`].every((label) =>
        line.includes(label),
      ),
    )
    .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
}
const named = (name: string): readonly CollectedSpan[] =>
  collector.spans().filter((span) => span.name === name)
/** Spans come a moment after their end. */
const spansOf = async (name: string, count: number): Promise<readonly CollectedSpan[]> => {
  await expect.poll(() => named(name).length).toBe(count)
  return named(name)
}
/** Requests inside of opened connections; the proxy itself is asked for its certificate over http. */
const innerSpans = async (count: number): Promise<readonly CollectedSpan[]> => {
  const inner = () => named('GET proxy').filter(({ attributes }) => attributes['url.scheme'] === 'https')
  await expect.poll(() => inner().length).toBe(count)
  return inner()
}
const webSocket = (path: string, token: string) =>
  connectWebSocket(`${gw.baseUrl.replace('http', 'ws')}/via/my-api${path}`, {
    headers: { authorization: `Bearer ${token}`, traceparent: `00-${TRACE}-${'c'.repeat(16)}-01` },
  })
async function connectThrough(host: string, token: string = capability) {
  const authority = `${host}:${gw.upstream.port}`
  const { socket, status } = await sendConnect(gw.gateway.proxyUrl!, authority, [basic(token)])
  open.push(socket)
  return { socket, status, authority }
}
async function tlsThrough(host: string) {
  const { socket, authority } = await connectThrough(host)
  const tls = await startTls(socket, { ca, servername: host })
  open.push(tls)
  return { tls, authority }
}

describe('a WebSocket behind a base URL', () => {
  beforeAll(() => start('inspect'))
  afterAll(stop)

  it('counts when it is answered, and has a span until it closes, with its call inside', async () => {
    // Not a gap in the graph, which would also be what a gateway that counts nothing shows.
    for (const kind of ['websocket', 'credential', 'inspect', 'tunnel'])
      expect(await openConnections(kind), kind).toBe(0)
    const socket = await webSocket('/live', capability)
    expect(await answered('GET', '/via/*', 101)).toBe(1)
    expect(await openConnections('websocket')).toBe(1)
    expect(await series('http_server_active_requests{http_request_method="GET"}')).toEqual([
      'http_server_active_requests{http_request_method="GET"} 0',
    ])
    socket.ws.send('hello')
    await socket.next()
    expect(named('GET /via/*')).toEqual([])
    socket.ws.close(1000)
    await socket.closed
    const [span] = await spansOf('GET /via/*', 1)
    expect(span).toMatchObject({
      kind: 2,
      traceId: TRACE,
      parentSpanId: 'c'.repeat(16),
      attributes: {
        'http.request.method': 'GET',
        'url.scheme': 'http',
        'http.route': '/via/*',
        'http.response.status_code': 101,
      },
    })
    expect(Object.keys(span!.attributes)).toHaveLength(4)
    const [call] = await spansOf('execute_tool gateway.egress.relay', 1)
    expect(call!.parentSpanId).toBe(span!.spanId)
    await expect.poll(() => openConnections('websocket')).toBe(0)
  })

  it('counts with its status where it is refused', async () => {
    expect((await refusalOf(webSocket('/live', `${capability.slice(0, -1)}_`))).status).toBe(401)
    expect(await answered('GET', '/via/*', 401)).toBe(1)
    expect(await openConnections('websocket')).toBe(0)
    const spans = await spansOf('GET /via/*', 2)
    expect(spans[1]!.attributes).toMatchObject({ 'http.response.status_code': 401 })
    expect(spans[1]!.attributes).not.toHaveProperty('error.type')
  })
})

describe('a connection of the proxy that is opened', () => {
  beforeAll(() => start('inspect'))
  afterAll(stop)

  it('has a span until it closes, and each request in it has a trace of its own that is linked to it', async () => {
    const { tls, authority } = await tlsThrough(UPSTREAM_HOST)
    expect(await answered('CONNECT', 'proxy', 200)).toBe(1)
    expect(await openConnections('credential')).toBe(1)
    gw.upstream.respond((_request, res) => res.end('fine'))
    for (const path of ['/one', '/two'])
      expect((await exchange(tls, `GET ${path} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`)).status).toBe(200)
    const requests = await innerSpans(2)
    expect(named('CONNECT proxy')).toEqual([])
    tls.destroy()
    const [connect] = await spansOf('CONNECT proxy', 1)
    expect(connect!.attributes).toEqual({
      'http.request.method': 'CONNECT',
      'url.scheme': 'http',
      'http.route': 'proxy',
      'agent_gateway.connection': 'credential',
      'http.response.status_code': 200,
    })
    for (const { attributes, links } of requests) {
      expect(attributes).toEqual({
        'http.request.method': 'GET',
        'url.scheme': 'https',
        'http.route': 'proxy',
        'http.response.status_code': 200,
      })
      expect(links.map(({ spanId }) => spanId)).toEqual([connect!.spanId])
    }
    const traces = new Set([connect!, ...requests].map(({ traceId }) => traceId))
    expect(traces.size).toBe(3)
    const calls = await spansOf('execute_tool gateway.egress.relay', 2)
    expect(calls.map(({ parentSpanId }) => parentSpanId)).toEqual(requests.map(({ spanId }) => spanId))
    expect(await answered('GET', 'proxy', 200)).toBe(3) // with /ca.pem
    await expect.poll(() => openConnections('credential')).toBe(0)
  })

  it('counts a WebSocket in it, and requests to a host without a credential', async () => {
    const { socket, authority } = await connectThrough(OTHER)
    const tls = await startTls(socket, { ca, servername: OTHER })
    open.push(tls)
    const noted = await connectWebSocket(`wss://${authority}/live`, {
      createConnection: (() => tls) as never,
    })
    expect(await openConnections('websocket')).toBe(1)
    expect(await openConnections('inspect')).toBe(1)
    expect(await answered('GET', 'proxy', 101)).toBe(1)
    noted.ws.close(1000)
    await noted.closed
    await expect.poll(() => openConnections('websocket')).toBe(0)
    const spans = await innerSpans(3)
    expect(spans.at(-1)!.attributes).toMatchObject({ 'http.response.status_code': 101 })
  })

  it('counts with its status where it is refused', async () => {
    expect((await connectThrough(UPSTREAM_HOST, 'nobody')).status).toBe(403)
    expect(await answered('CONNECT', 'proxy', 403)).toBe(1)
    const refused = (await spansOf('CONNECT proxy', 3)).at(-1)!
    expect(refused.attributes).not.toHaveProperty('agent_gateway.connection')
  })
})

describe('a tunnel of the proxy', () => {
  beforeAll(() => start('tunnel'))
  afterAll(stop)

  it('has a span until it closes, and nothing of what goes through it', async () => {
    const { socket } = await connectThrough(OTHER)
    expect(await openConnections('tunnel')).toBe(1)
    const tls = await startTls(socket, { ca: gw.ca.pem, servername: OTHER })
    gw.upstream.respond((_request, res) => res.end('fine'))
    await exchange(tls, `GET /one HTTP/1.1\r\nHost: ${OTHER}:${gw.upstream.port}\r\n\r\n`)
    tls.destroy()
    const [span] = await spansOf('CONNECT proxy', 1)
    expect(span!.attributes).toMatchObject({ 'agent_gateway.connection': 'tunnel' })
    expect(named('GET proxy')).toHaveLength(1) // /ca.pem
    await expect.poll(() => openConnections('tunnel')).toBe(0)
  })
})
