// WebSockets through the gateway's own proxy, by real clients: over CONNECT and TLS, with a credential and without one.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { setTimeout as sleep } from 'node:timers/promises'
import { ProxyAgent, WebSocket as UndiciWebSocket } from 'undici'
import {
  createWorld,
  startTestGateway,
  type TestGateway,
  UPSTREAM_HOST,
  type World,
} from '../support/gateway.ts'
import { basic, exchange, sendConnect, startTls } from '../support/proxy-client.ts'
import { connectWebSocket, type Noted, refusalOf, serveWebSockets } from '../support/websocket.ts'

const SECRET = 'real-secret-0123456789abcdef'
const PLACEHOLDER = 'placeholder-0000'
const OTHER = 'other.example.com'

const opened: Noted[] = []
afterEach(() => {
  for (const { ws } of opened.splice(0)) ws.terminate()
})

describe.each(['deny', 'tunnel', 'inspect'] as const)('through the proxy, where others are %s', (unknown) => {
  let world: World
  let gateway: TestGateway
  let capability: string
  let capabilityId: string
  let ca: string
  let skewMs = 0
  beforeAll(async () => {
    world = await createWorld({
      env: { GATEWAY_PROXY_PORT: '0', GATEWAY_PROXY_UNKNOWN: unknown },
      names: [OTHER],
    })
    gateway = await startTestGateway({ world, now: () => Date.now() + skewMs })
    ca = await (await fetch(`${gateway.gateway.proxyUrl}/ca.pem`)).text()
  })
  beforeEach(async () => {
    skewMs = 0
    ;({ capability, capabilityId } = await gateway.grant({ secret: SECRET }))
    serveWebSockets(world.upstream)
  })
  afterAll(async () => {
    await gateway.close()
    await world.close()
  })

  async function open(host: string, path: string, headers: Record<string, string> = {}) {
    const authority = `${host}:${world.upstream.port}`
    const { socket, status } = await sendConnect(gateway.gateway.proxyUrl!, authority, [basic(capability)])
    if (status !== 200) throw new Error(`CONNECT: ${status}`)
    const trusted = host !== UPSTREAM_HOST && unknown === 'tunnel' ? world.ca.pem : ca
    const tls = await startTls(socket, { ca: trusted, servername: host })
    const noted = await connectWebSocket(`wss://${authority}${path}`, {
      createConnection: (() => tls) as never,
      headers,
    })
    opened.push(noted)
    return noted
  }
  const lastSent = (name: string) =>
    world.upstream.requests.at(-1)!.headers.flatMap(([header, value]) => (header === name ? [value] : []))

  it('reaches the host of a credential with the secret, which the program never has', async () => {
    const socket = await open(UPSTREAM_HOST, '/live', { authorization: `Bearer ${PLACEHOLDER}` })
    expect(lastSent('authorization')).toEqual([`Bearer ${SECRET}`])
    socket.ws.send('hello')
    expect((await socket.next()).data.toString()).toBe('hello')
    socket.ws.close(1000)
    expect((await socket.closed).code).toBe(1000)
    const id = String(socket.head.headers['x-gateway-attempt'])
    expect((await gateway.rest('GET', `/v1/egress/attempts/${id}`)).body).toMatchObject({
      state: 'settled',
      outcome: 'delivered',
      upstream_status: 101,
    })
    expect(gateway.log()).not.toContain(SECRET)
    expect(gateway.log()).not.toContain(capability)
  })

  it('serves the WebSocket of undici behind its own proxy agent', async () => {
    const dispatcher = new ProxyAgent({
      uri: gateway.gateway.proxyUrl!,
      token: basic(capability).replace('Proxy-Authorization: ', ''),
      requestTls: { ca },
    })
    const ws = new UndiciWebSocket(world.url('/live').replace('https', 'wss'), {
      dispatcher,
      headers: { authorization: `Bearer ${PLACEHOLDER}` },
    })
    const answer = await new Promise((resolve, reject) => {
      ws.addEventListener('open', () => ws.send('hello'))
      ws.addEventListener('message', ({ data }) => resolve(data))
      ws.addEventListener('error', reject)
    })
    expect([answer, lastSent('authorization')]).toEqual(['hello', [`Bearer ${SECRET}`]])
    const closed = new Promise((resolve) => ws.addEventListener('close', resolve))
    ws.close(1000)
    await closed
    await dispatcher.close()
  })

  it(`treats a WebSocket to a host without a credential as it treats others: ${unknown}`, async () => {
    const before = world.upstream.requests.length
    if (unknown === 'deny') {
      await expect(open(OTHER, '/live')).rejects.toThrow('CONNECT: 403')
      return expect(world.upstream.requests.length).toBe(before)
    }
    const socket = await open(OTHER, '/live', { authorization: 'Bearer own', 'x-own': 'kept' })
    expect([lastSent('authorization'), lastSent('x-own')]).toEqual([['Bearer own'], ['kept']])
    expect(socket.head.headers['x-gateway-attempt']).toBeUndefined()
    socket.ws.send('hello')
    expect((await socket.next()).data.toString()).toBe('hello')
    socket.ws.close(4001)
    expect((await socket.closed).code).toBe(4001)
    if (unknown !== 'inspect') return
    const refused = await refusalOf(open(OTHER, '/live', { 'x-mine': capability }))
    expect([refused.status, JSON.parse(refused.body).code]).toEqual([400, 'header_forbidden'])
    world.upstream.upgrade(undefined)
    world.upstream.respond((_request, res) => res.writeHead(403).end('no'))
    const answered = await refusalOf(open(OTHER, '/live'))
    expect([answered.status, answered.body]).toEqual([403, 'no'])
  })

  it('cuts what is open when the capability is revoked', async () => {
    const withCredential = await open(UPSTREAM_HOST, '/live')
    const without = unknown === 'deny' ? undefined : await open(OTHER, '/live')
    await gateway.rest('POST', `/v1/egress/capabilities/${capabilityId}/revoke`, {})
    expect((await withCredential.closed).code).toBe(1008)
    // A tunnel is not read, so that nothing can be said in it.
    if (without) expect((await without.closed).code).toBe(1006)
  })

  it('cuts what nobody opens, or what nobody judges, when the time of the capability is over', async () => {
    const withCredential = await open(UPSTREAM_HOST, '/live')
    const without = unknown === 'deny' ? undefined : await open(OTHER, '/live')
    skewMs = 3_600_000
    if (without) expect((await without.closed).code).toBe(1006)
    // It is one request, which its time was enough for.
    withCredential.ws.send('hello')
    expect((await withCredential.next()).data.toString()).toBe('hello')
    await expect(open(UPSTREAM_HOST, '/live')).rejects.toThrow('CONNECT: 403')
  })

  it('ends the connection of an upgrade that comes before an earlier request on it is answered', async () => {
    const authority = `${UPSTREAM_HOST}:${world.upstream.port}`
    world.upstream.respond(() => {})
    const before = world.upstream.requests.length
    const { socket } = await sendConnect(gateway.gateway.proxyUrl!, authority, [basic(capability)])
    const tls = await startTls(socket, { ca, servername: UPSTREAM_HOST })
    const text = exchange(
      tls,
      `GET /slow HTTP/1.1\r\nHost: ${authority}\r\n\r\nGET /live HTTP/1.1\r\nHost: ${authority}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
    )
    expect((await text).status).toBe(0)
    const targets = world.upstream.requests.slice(before).map(({ target }) => target)
    expect(targets).not.toContain('/live')
  })

  it('takes no second upgrade on a connection that was taken over', async () => {
    const before = world.upstream.requests.length
    const socket = await open(UPSTREAM_HOST, '/live')
    const raw = (socket.ws as unknown as { _socket: NodeJS.WritableStream })._socket
    raw.write(
      `GET /again HTTP/1.1\r\nHost: ${UPSTREAM_HOST}:${world.upstream.port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
    )
    expect((await socket.closed).code).toBe(1002)
    await sleep(20)
    expect(world.upstream.requests.length).toBe(before + 1)
  })
})
