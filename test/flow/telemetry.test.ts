// Telemetry of a whole gateway with everything on: what a call leaves in traces, metrics and log, and that no secret, payment, address or
// name that a caller wrote is in any of them.
import { randomBytes } from 'node:crypto'
import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { INSTRUMENTS, prometheusName, type InstrumentName } from '../../src/telemetry/instruments.ts'
import { startTestChain, type TestChain } from '../support/chain.ts'
import { encodingsOf, findSecret } from '../support/encodings.ts'
import { startTestGateway, type TestGateway, UPSTREAM_HOST } from '../support/gateway.ts'
import { type CollectedSpan, type OtlpCollector, startOtlpCollector } from '../support/otlp-collector.ts'
import { basic, exchange, sendConnect, startTls } from '../support/proxy-client.ts'
import { createRestBuyer } from '../support/rest-buyer.ts'
import { connectWebSocket, refusalOf, serveWebSockets } from '../support/websocket.ts'

const hex = (bytes: number) => randomBytes(bytes).toString('hex')
const TRACE = hex(16)
const META_TRACE = hex(16)
const parentOf = (trace: string) => `00-${trace}-${hex(8)}-01`

/** A host that the gateway has no credential for: the log names it, and nothing else does. */
const STRANGER = `canary-host-${hex(6)}.example.com`

/** Nothing of these may be anywhere but where it was sent. */
const CANARIES = {
  'the secret of a credential': `CANARY_${randomBytes(18).toString('base64')}`,
  'an e-mail address': `canary.${hex(6)}@private-person.example`,
  'a path': `canary-path-${hex(6)}`,
  'a query': `canary-query-${hex(6)}`,
  'a header': `canary-header-${hex(6)}`,
  'a body': `canary-body-${hex(6)}`,
  'the name of a tool': `canary_tool_${hex(6)}`,
  'a method': `CANARY${hex(6).toUpperCase()}`,
  'a token of nobody': `agw_sk_${hex(20)}`,
}

let chain: TestChain
let collector: OtlpCollector
let gw: TestGateway
let capability: string
let prometheus: string
let log: string
let spans: readonly CollectedSpan[]
const secrets: Record<string, string> = { ...CANARIES }

async function scrape(): Promise<string> {
  const answer = await fetch(gw.gateway.metricsUrl!)
  expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/)
  return answer.text()
}

/** Asks the proxy for a tunnel, with a capability that is none. */
function throughProxy(token: string): Promise<number | undefined> {
  const authorization = `Basic ${Buffer.from(`agent:${token}`).toString('base64')}`
  return new Promise((resolve, reject) => {
    request(gw.gateway.proxyUrl!, {
      method: 'CONNECT',
      path: 'api.example.com:443',
      headers: { 'proxy-authorization': authorization },
    })
      .on('connect', (answer, socket) => {
        socket.destroy()
        resolve(answer.statusCode)
      })
      .on('response', (answer) => {
        answer.resume()
        resolve(answer.statusCode)
      })
      .on('error', reject)
      .end()
  })
}

/** A WebSocket behind a base URL, and one inside the proxy; a request through the proxy to a credential, and one to a stranger. */
async function driveConnections(): Promise<void> {
  const { 'a path': path, 'a query': query, 'a header': header, 'a body': body } = CANARIES
  serveWebSockets(gw.upstream)
  const target = `/${path}?q=${query}`
  const say = async (url: string, options: object) => {
    const noted = await connectWebSocket(url, options, [])
    noted.ws.send(body)
    await noted.next()
    noted.ws.close(1000, body)
    await noted.closed
  }
  const via = (label: string) => `${gw.baseUrl.replace('http', 'ws')}/via/${label}${target}`
  const own = await gw.grant({
    secret: CANARIES['the secret of a credential'],
    credential: { label: 'live', hosts: [`${UPSTREAM_HOST}:${gw.upstream.port}`] },
  })
  secrets['a capability for WebSockets'] = own.capability
  const authorization = `Bearer ${own.capability}`
  await say(via('live'), { headers: { authorization, 'x-own': header, traceparent: parentOf(TRACE) } })
  await refusalOf(say(via(path), { headers: { authorization } }))
  await refusalOf(say(via('live'), { headers: { authorization: `Bearer ${CANARIES['a token of nobody']}` } }))

  const ca = await (await fetch(`${gw.gateway.proxyUrl}/ca.pem`)).text()
  const into = async (host: string) => {
    const authority = `${host}:${gw.upstream.port}`
    const { socket } = await sendConnect(gw.gateway.proxyUrl!, authority, [
      basic(capability),
      `X-Own: ${header}`,
    ])
    return { tls: await startTls(socket, { ca, servername: host }), authority }
  }
  gw.upstream.respond((_request, res) => res.end(body))
  for (const host of [UPSTREAM_HOST, STRANGER]) {
    const { tls, authority } = await into(host)
    const head = [`POST ${target} HTTP/1.1`, `Host: ${authority}`, `X-Own: ${header}`]
    const sent = await exchange(tls, [...head, `Content-Length: ${body.length}`, '', body].join('\r\n'))
    expect(sent.status).toBe(200)
    await say(`wss://${authority}${target}`, { createConnection: () => tls, headers: { 'x-own': header } })
  }
  // Neither of these becomes a tunnel: the first has no address, the second is no CONNECT.
  await sendConnect(gw.gateway.proxyUrl!, `nowhere.${STRANGER}:${gw.upstream.port}`, [basic(capability)])
  await fetch(`${gw.gateway.proxyUrl}/${path}?${query}`)
  gw.upstream.upgrade(undefined)
}

async function drive(): Promise<void> {
  const { 'a path': path, 'a query': query, 'a header': header, 'a body': body } = CANARIES
  const rpc = (method: string, params: object, more: object = {}) =>
    fetch(`${gw.baseUrl}/mcp`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        authorization: `Bearer ${capability}`,
        'mcp-protocol-version': '2025-11-25',
        ...more,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    }).then((answer) => answer.text())

  const egress = { url: gw.url(`/${path}?q=${query}`), method: 'POST', body }
  const response = await fetch(`${gw.baseUrl}/v1/egress/fetch`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${capability}`,
      'content-type': 'application/json',
      traceparent: parentOf(TRACE),
    },
    body: JSON.stringify(egress),
  })
  expect(await response.text()).toContain('attempt_id')
  await rpc('tools/call', { name: 'gateway.egress.fetch', arguments: egress })
  // Refused before it is sent, and an answer that has the secret in it.
  await gw.fetch(capability, { ...egress, headers: { [header]: header } })
  gw.upstream.respond((request, res) => res.writeHead(200).end(JSON.stringify(request.headers)))
  await gw.fetch(capability, egress)
  await rpc('tools/call', {
    name: 'gateway_health',
    arguments: {},
    _meta: { traceparent: parentOf(META_TRACE) },
  })
  await rpc('tools/list', {})
  await rpc(CANARIES['the name of a tool'], {})
  await rpc('tools/call', { name: CANARIES['the name of a tool'], arguments: { [body]: body } })
  await rpc('tools/list', {}, { authorization: `Bearer ${CANARIES['a token of nobody']}` })
  await gw.rest('POST', '/a2a', {
    jsonrpc: '2.0',
    id: 1,
    method: CANARIES['the name of a tool'],
    params: { message: { messageId: query, role: 'ROLE_USER', parts: [{ text: body }] } },
  })
  await gw.rest('GET', `/v1/receipts/${path}`, undefined, CANARIES['a token of nobody'])
  await gw.rest('GET', `/${path}?${query}`)
  await gw.rest('GET', `/via/${path}/${query}`, undefined, capability)
  await gw.rest('POST', `/edge/${path}.example/${query}`, { [body]: body })
  await gw.rest('POST', `/p/${path}/${query}`, { [body]: body }, CANARIES['a token of nobody'])
  await gw.rest('GET', `/oauth/authorize?client_id=${query}&redirect_uri=https://${path}.example/`)
  await fetch(`${gw.baseUrl}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({ grant_type: 'refresh_token', refresh_token: CANARIES['a token of nobody'] }),
  })
  await fetch(`${gw.baseUrl}/console/${path}?${query}`, { headers: { cookie: `session=${header}` } })
  await throughProxy(CANARIES['a token of nobody'])
  await driveConnections()
  await fetch(`${gw.baseUrl}/healthz`, { method: CANARIES['a method'] }).catch(() => {})
  await gw.rest('POST', '/v1/email/verify', { email: CANARIES['an e-mail address'] })

  const buyer = createRestBuyer(gw.baseUrl, chain.payers[0]!)
  const challenge = await buyer.send(
    '/v1/credits/purchase',
    { credits: 1 },
    { authorization: `Bearer ${gw.operatorKey}` },
  )
  const payment = await buyer.sign(challenge)
  secrets['a payment'] = payment['payment-signature']!.slice(0, 200)
  secrets['the address of a payer'] = chain.payers[0]!.address.slice(2)
  const paid = await buyer.send(
    '/v1/credits/purchase',
    { credits: 1 },
    { ...payment, authorization: `Bearer ${gw.operatorKey}` },
  )
  expect(paid.status).toBe(200)
}

beforeAll(async () => {
  chain = await startTestChain(8453)
  collector = await startOtlpCollector()
  gw = await startTestGateway({
    names: [STRANGER],
    env: {
      ...chain.env,
      GATEWAY_LOG_LEVEL: 'trace',
      GATEWAY_METRICS_PORT: '0',
      GATEWAY_PROXY_PORT: '0',
      GATEWAY_PROXY_UNKNOWN: 'inspect',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_EXPORTER_OTLP_HEADERS: 'x-key=of%20the%20collector',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    },
  })
  ;({ capability } = await gw.grant({ secret: CANARIES['the secret of a credential'] }))
  secrets['a capability'] = capability
  secrets['the key of the operator'] = gw.operatorKey
  secrets['the key of the collector'] = 'of the collector'
  await drive()
  await scrape()
  prometheus = await scrape()
  // Closing sends what is left.
  await gw.close()
  log = gw.log()
  spans = collector.spans()
})
afterAll(async () => {
  await collector?.close()
  await chain?.close()
})

/** Lines of the text for Prometheus that begin so: a failure prints few of its thousands. */
const lines = (start: string) => prometheus.split('\n').filter((line) => line.startsWith(start))
const named = (name: string) => spans.filter((span) => span.name === name)
const inTrace = (trace: string) => spans.filter(({ traceId }) => traceId === trace)

describe('telemetry', () => {
  it('writes a trace from the request of a caller to the database and the upstream, below the one it came with', () => {
    const trace = inTrace(TRACE)
    const server = trace.find(({ name }) => name === 'POST /v1/egress/fetch')!
    const tool = trace.find(({ name }) => name === 'execute_tool gateway.egress.fetch')!
    expect(server.attributes).toMatchObject({
      'http.route': '/v1/egress/fetch',
      'http.response.status_code': 200,
    })
    expect(tool.parentSpanId).toBe(server.spanId)
    expect(tool.attributes).toMatchObject({
      'gen_ai.operation.name': 'execute_tool',
      'agent_gateway.code': 'ok',
    })
    const steps = trace.filter(({ parentSpanId }) => parentSpanId === tool.spanId)
    expect(steps.find(({ name }) => name === 'POST')!.attributes).toEqual({
      'http.request.method': 'POST',
      'agent_gateway.egress.purpose': 'credential',
      'http.response.status_code': 200,
    })
    expect(steps.some(({ attributes }) => attributes['db.system.name'] === 'sqlite')).toBe(true)
  })

  it('names a call of MCP after its tool, below the trace of its message, with a link to its request', () => {
    expect(named('tools/call gateway.egress.fetch')).toHaveLength(1)
    const [call] = inTrace(META_TRACE).filter(({ name }) => name === 'tools/call gateway.health')
    expect(call).toMatchObject({ kind: 2, attributes: { 'mcp.method.name': 'tools/call' } })
    const requests = named('POST /mcp').map(({ spanId }) => spanId)
    expect(requests).toContain(call!.links[0]!.spanId)
  })

  it('writes how a payment was judged and settled', () => {
    expect(named('payment settle').map(({ attributes }) => attributes['agent_gateway.outcome'])).toEqual([
      'settled',
    ])
  })

  it('names the span in each line of the log that is written within one', () => {
    const line = log.split('\n').find((text) => text.includes(TRACE) && text.includes('"call"'))
    const { trace_id, span_id } = JSON.parse(line!)
    expect(inTrace(trace_id).map(({ spanId }) => spanId)).toContain(span_id)
  })

  it('sends metrics to the collector, and shows Prometheus the same under names of its own', () => {
    expect(collector.metrics()).toContain('http.server.request.duration')
    expect(lines('http_server_request_duration_seconds_bucket{http_request_method="POST"')).not.toEqual([])
    expect(lines('process_cpu_time_seconds_total{cpu_mode="user"} ')).toHaveLength(1)
    expect(lines('agent_gateway_ready')).toEqual(['agent_gateway_ready 1'])
    expect(lines('agent_gateway_credits_charged_total')).toEqual([
      'agent_gateway_credits_charged_total{gen_ai_tool_name="gateway.egress.fetch"} 2',
      'agent_gateway_credits_charged_total{gen_ai_tool_name="gateway.egress.relay"} 3',
    ])
    expect(lines('agent_gateway_payments_total')).toEqual([
      'agent_gateway_payments_total{gen_ai_tool_name="gateway.credits.purchase",agent_gateway_network="eip155:8453",agent_gateway_outcome="settled"} 1',
    ])
    const [target] = lines('target_info')
    expect(target).toContain('service_name="agent-gateway"')
    expect(target).toContain('deployment_environment_name="test"')
  })

  it('has no instrument that the list does not name, and no label that it does not', () => {
    const listed = new Map(
      (Object.keys(INSTRUMENTS) as InstrumentName[]).map((name) => [
        prometheusName(name, INSTRUMENTS[name].unit),
        INSTRUMENTS[name].labels.map((label) => label.replaceAll('.', '_')),
      ]),
    )
    const seen = [...prometheus.matchAll(/^(\w+?)(?:_total|_bucket|_sum|_count)?(?:\{(.*)\})? [^ ]+$/gm)]
    expect(seen.length).toBeGreaterThan(200)
    for (const [, name, labels = ''] of seen) {
      if (name === 'target_info') continue
      expect([...listed.keys()]).toContain(name)
      for (const [, label] of labels.matchAll(/(\w+)="/g))
        expect([...listed.get(name!)!, 'le'], `${name} ${label}`).toContain(label)
    }
  })

  it('begins at 0 to count what rules take a rate of', () => {
    expect(lines('agent_gateway_calls_ended_total{agent_gateway_code="store_unavailable"')).toEqual([
      expect.stringMatching(/ 0$/),
    ])
    const settlements = 'agent_gateway_settlements_total{agent_gateway_network="eip155:8453"'
    expect(lines(`${settlements},agent_gateway_outcome="settled"`)).toEqual([expect.stringMatching(/ 1$/)])
    expect(lines(`${settlements},agent_gateway_outcome="unknown"`)).toEqual([expect.stringMatching(/ 0$/)])
  })

  it('makes one series of all that callers make up', () => {
    for (const label of [
      'mcp_method_name="_OTHER"',
      'mcp_method_name="tools/call",gen_ai_tool_name="_OTHER"',
      'http_route="_OTHER"',
      'http_route="/v1/receipts/{receipt_id}"',
      'http_route="/via/*"',
    ])
      expect(prometheus.includes(label), label).toBe(true)
  })

  it('takes the headers of the collector along, and no others', () => {
    expect(collector.headers().every((headers) => headers['x-key'] === 'of the collector')).toBe(true)
    expect(new Set(collector.paths())).toEqual(new Set(['/v1/traces', '/v1/metrics']))
  })
})

describe('no canary', () => {
  const places = () => ({
    otlp: collector.bytes(),
    prometheus: Buffer.from(prometheus),
    log: Buffer.from(log),
  })

  it('would stay unseen: the search finds each of them', () => {
    for (const secret of Object.values(secrets))
      expect(findSecret(Buffer.from(`<${secret}>`), encodingsOf(secret))).not.toEqual([])
  })

  it('is in a span, a metric or a line of the log', () => {
    for (const [where, bytes] of Object.entries(places())) {
      expect(bytes.length, where).toBeGreaterThan(5000)
      for (const [what, secret] of Object.entries(secrets))
        expect(findSecret(bytes, encodingsOf(secret)), `${what} in ${where}`).toEqual([])
    }
  })

  it('and no host of a stranger is in a span or a metric', () => {
    const { otlp, prometheus: text, log: lines } = places()
    for (const bytes of [otlp, text]) expect(bytes.includes(STRANGER)).toBe(false)
    expect(lines.includes(STRANGER)).toBe(true)
  })
})

describe('a gateway without telemetry', () => {
  it('loads nothing of it, and listens nowhere else', async () => {
    const plain = await startTestGateway()
    try {
      expect(plain.gateway.metricsUrl).toBeUndefined()
      expect((await fetch(`${plain.baseUrl}/metrics`)).status).toBe(404)
    } finally {
      await plain.close()
    }
  })
})
