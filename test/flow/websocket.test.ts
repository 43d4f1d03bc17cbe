// WebSockets of unmodified programs behind a base URL: real clients, a real TLS upstream, and what the receipt says of them.
import { randomBytes } from 'node:crypto'
import { type EventEmitter, once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { acceptOf } from '../../src/lib/websocket.ts'
import { JWS_TYPES, verifyJws } from '../../src/receipts/types.ts'
import { startTestGateway, type TestGateway, UPSTREAM_HOST } from '../support/gateway.ts'
import { connectWebSocket, type Noted, refusalOf, serveWebSockets } from '../support/websocket.ts'

const SECRET = 'sk-proj-b7Qx4LmR9vTz2KpW8nYcEu5J'
const KEY = 'dGhlIHNhbXBsZSBub25jZQ=='

let gw: TestGateway
let capability: string
beforeAll(async () => {
  gw = await startTestGateway({
    env: { GATEWAY_SERVICE_KEY_CREDITS: '1000' },
    // The other part of a secret is on its way, however long this process takes to send it.
    times: { messageHoldMs: 60_000 },
  })
  ;({ capability } = await gw.grant({ secret: SECRET, credential: credential('my-api') }))
})
afterAll(() => gw.close())
const opened: WebSocket[] = []
afterEach(() => {
  for (const ws of opened.splice(0)) ws.terminate()
  gw.upstream.upgrade(undefined)
})

const credential = (label: string, more: Record<string, unknown> = {}) => ({
  label,
  hosts: [`${UPSTREAM_HOST}:${gw.upstream.port}`],
  path_prefixes: ['/v1'],
  ...more,
})
async function open(path = '/v1/realtime', token = capability, label = 'my-api', protocols: string[] = []) {
  const noted = await connectWebSocket(
    `${gw.baseUrl.replace('http', 'ws')}/via/${label}${path}`,
    { headers: { authorization: `Bearer ${token}` } },
    protocols,
  )
  opened.push(noted.ws)
  return noted
}
let count = 0
/** A credential with these settings, and a capability on it. */
async function door(relay: Record<string, unknown> = {}, more: Record<string, unknown> = {}) {
  const label = `ws-${++count}`
  const granted = await gw.grant({
    secret: SECRET,
    credential: credential(label, { settings: { relay }, ...more }),
  })
  return { ...granted, label, open: (path = '/v1/realtime') => open(path, granted.capability, label) }
}
const attemptOf = ({ head }: Pick<Noted, 'head'>) => String(head.headers['x-gateway-attempt'])
async function ended(id: string) {
  for (;;) {
    const { body } = await gw.rest('GET', `/v1/egress/attempts/${id}`)
    if (body.state !== 'sending') return body
    await sleep(10)
  }
}
async function receiptOf(id: string) {
  const record = await ended(id)
  const { jws } = (await gw.rest('GET', `/v1/receipts/${record.receipt_id}`, undefined, '')).body
  const jwks = (await gw.rest('GET', '/.well-known/gateway-egress-key.json', undefined, '')).body
  const verdict = await verifyJws(jws, jwks, JWS_TYPES.receipt)
  if (!verdict.ok) throw new Error('the receipt does not verify')
  return { record, payload: verdict.payload as Record<string, any> } // oxlint-disable-line typescript/no-explicit-any
}
const last = () => gw.upstream.requests.at(-1)!
const sent = (name: string) => last().headers.flatMap(([header, value]) => (header === name ? [value] : []))
/** That nothing which the client got says anything of the secret. */
function expectNothingOf({ received }: Pick<Noted, 'received'>) {
  const all = Buffer.concat(received).toString('latin1')
  for (let at = 0; at + 4 <= SECRET.length; at++) expect(all).not.toContain(SECRET.slice(at, at + 4))
}

describe('a WebSocket behind a base URL', () => {
  it('is one attempt: the upstream sees the secret once, messages go both ways, and the receipt says how it ended', async () => {
    serveWebSockets(gw.upstream)
    const before = [await gw.balance(), gw.upstream.requests.length] as const
    const socket = await open('/v1/realtime?model=a')
    expect(sent('authorization')).toEqual([`Bearer ${SECRET}`])
    expect(last().target).toBe('/v1/realtime?model=a')
    expect(sent('sec-websocket-extensions')).toEqual([])
    expect(JSON.stringify(last().headers)).not.toContain('agw_')
    expect(socket.ws.extensions).toBe('')
    expect((await gw.rest('GET', `/v1/egress/attempts/${attemptOf(socket)}`)).body.state).toBe('sending')

    socket.ws.send('hello')
    expect(await socket.next()).toEqual({ data: Buffer.from('hello'), isBinary: false })
    const bytes = randomBytes(300_000)
    socket.ws.send(bytes)
    const back = await socket.next()
    expect([back.data.equals(bytes), back.isBinary]).toEqual([true, true])
    // One message in three frames is one message.
    socket.ws.send('a', { fin: false })
    socket.ws.send('b', { fin: false })
    socket.ws.send('c')
    expect((await socket.next()).data.toString()).toBe('abc')

    socket.ws.close(4000, 'done')
    expect(await socket.closed).toEqual({ code: 4000, reason: 'done' })
    const { record, payload } = await receiptOf(attemptOf(socket))
    expect(record).toMatchObject({ state: 'settled', outcome: 'delivered', upstream_status: 101 })
    expect(payload).toMatchObject({
      response: { leak_gate: 'clean', status: 101, digest: expect.any(String) },
      stream: {
        kind: 'websocket',
        bytes_in: 300_008,
        bytes_out: 300_008,
        events: 3,
        end: 'complete',
        digest: expect.stringMatching(/^sha-256=:/),
        first_byte_ms: expect.any(Number),
        duration_ms: expect.any(Number),
      },
    })
    expect([await gw.balance(), gw.upstream.requests.length]).toEqual([before[0] - 1, before[1] + 1])
  })

  it('has its receipt before the program is told that it ended well', async () => {
    serveWebSockets(gw.upstream, (ws) => ws.on('message', () => ws.close(1000, 'bye')))
    const socket = await open()
    // The close frame itself: the client tells of the end when the connection is gone, too.
    const { _receiver: receiver } = socket.ws as unknown as { _receiver: EventEmitter }
    const told = once(receiver, 'conclude')
    socket.ws.send('that is all')
    await told
    const { body } = await gw.rest('GET', `/v1/egress/attempts/${attemptOf(socket)}`)
    expect(body).toMatchObject({ state: 'settled', receipt_id: expect.stringMatching(/^rcp_/) })
    expect(await socket.closed).toEqual({ code: 1000, reason: 'bye' })
  })

  it('passes pings, pongs and a subprotocol, and the secret in no subprotocol', async () => {
    const pinged = Promise.withResolvers<string>()
    const ponged = Promise.withResolvers<string>()
    serveWebSockets(
      gw.upstream,
      (ws) => {
        ws.on('ping', (data) => pinged.resolve(data.toString()))
        ws.on('pong', (data) => ponged.resolve(data.toString()))
        ws.ping('up?')
      },
      { protocol: () => 'realtime' },
    )
    const protocols = ['realtime', `openai-insecure-api-key.${capability}`]
    const noted = await connectWebSocket(
      `${gw.baseUrl.replace('http', 'ws')}/via/my-api/v1/realtime`,
      {},
      protocols,
    )
    opened.push(noted.ws)
    expect([noted.ws.protocol, sent('sec-websocket-protocol')]).toEqual(['realtime', ['realtime']])
    expect(sent('authorization')).toEqual([`Bearer ${SECRET}`])
    noted.ws.ping('down?')
    expect([await pinged.promise, await ponged.promise]).toEqual(['down?', 'up?'])
  })

  it('serves the WebSocket of Node itself', async () => {
    serveWebSockets(gw.upstream)
    const Global = globalThis.WebSocket as unknown as new (
      url: string,
      options: { headers: Record<string, string> },
    ) => globalThis.WebSocket
    const ws = new Global(`${gw.baseUrl.replace('http', 'ws')}/via/my-api/v1/realtime`, {
      headers: { authorization: `Bearer ${capability}` },
    })
    const answer = await new Promise((resolve, reject) => {
      ws.addEventListener('open', () => ws.send('hello'))
      ws.addEventListener('message', ({ data }) => resolve(data))
      ws.addEventListener('error', reject)
    })
    const closed = new Promise<number>((resolve) => ws.addEventListener('close', ({ code }) => resolve(code)))
    ws.close(1000)
    expect([answer, await closed]).toEqual(['hello', 1000])
  })

  it.each([
    ['in a message', (ws: WebSocket) => ws.send(`{"key":"${SECRET}"}`)],
    [
      'in base64 in a binary one',
      (ws: WebSocket) => ws.send(Buffer.from(Buffer.from(SECRET).toString('base64'))),
    ],
    ['in a ping', (ws: WebSocket) => ws.ping(SECRET)],
    ['in a close frame', (ws: WebSocket) => ws.close(1000, SECRET)],
    ['in a message of a megabyte', (ws: WebSocket) => ws.send(`${'x '.repeat(500_000)}${SECRET}`)],
  ])('ends both sides at a reflected secret %s, with nothing of it out', async (_where, send) => {
    const upstreamClosed = Promise.withResolvers<number>()
    serveWebSockets(gw.upstream, (ws) => {
      ws.on('close', (code) => upstreamClosed.resolve(code))
      ws.send('one')
      setTimeout(() => send(ws), 20)
    })
    const socket = await open()
    const { code, reason } = await socket.closed
    expect([code, reason]).toEqual([1008, 'ended by the gateway'])
    expect(Buffer.concat(socket.received).toString()).toBe('one')
    await upstreamClosed.promise
    const { record, payload } = await receiptOf(attemptOf(socket))
    expect(record.outcome).toBe('secret_reflected')
    expect(payload).toMatchObject({
      response: { leak_gate: 'reflected' },
      stream: { end: 'reflected', events: 1 },
    })
    expectNothingOf(socket)
  })

  it.each(['messages', 'fragments', 'pieces of one frame'])(
    'finds the secret at each byte of a border between two %s',
    async (of) => {
      const { open: openOwn } = await door()
      for (let at = 1; at < SECRET.length; at++) {
        serveWebSockets(gw.upstream, (ws) => {
          const [one, two] = [`got ${SECRET.slice(0, at)}`, `${SECRET.slice(at)} so`]
          if (of === 'pieces of one frame') {
            const { _socket: raw } = ws as unknown as { _socket: Socket }
            const frame = Buffer.concat([
              Buffer.from([0x81, one.length + two.length]),
              Buffer.from(one + two),
            ])
            raw.write(frame.subarray(0, 2 + one.length))
            setTimeout(() => raw.write(frame.subarray(2 + one.length)), 2)
          } else {
            ws.send(one, { fin: of === 'messages' })
            setTimeout(() => ws.send(two), 2)
          }
        })
        const socket = await openOwn()
        expect((await socket.closed).code).toBe(1008)
        const all = Buffer.concat(socket.received).toString()
        // Fewer than four characters of it say nothing, and end every other text.
        expect(all.length).toBeLessThan('got '.length + 4)
        expectNothingOf(socket)
      }
    },
  )

  it('ends both sides at parts of the secret that come by turns in messages and in pings', async () => {
    const [first = '', second = '', third = ''] = SECRET.slice(8).match(/.{1,9}/g) ?? []
    serveWebSockets(gw.upstream, (ws) => {
      ws.send(`${first}\n`)
      ws.ping(`${second}\n`)
      ws.send(`${third}\n`)
    })
    const socket = await open()
    expect((await socket.closed).code).toBe(1008)
    expect((await receiptOf(attemptOf(socket))).record.outcome).toBe('secret_reflected')
    expect(Buffer.concat(socket.received).toString()).not.toContain(second)
  })

  it('lets a message go whose end is the beginning of the secret by chance', async () => {
    // It waits as long as the product lets it wait.
    const own = await startTestGateway()
    try {
      const granted = await own.grant({
        secret: SECRET,
        credential: { label: 'own', hosts: [`${UPSTREAM_HOST}:${own.upstream.port}`] },
      })
      serveWebSockets(own.upstream, (ws) => ws.send(`a key begins with ${SECRET.slice(0, 8)}`))
      const socket = await connectWebSocket(`${own.baseUrl.replace('http', 'ws')}/via/own/v1/realtime`, {
        headers: { authorization: `Bearer ${granted.capability}` },
      })
      expect((await socket.next()).data.toString()).toBe(`a key begins with ${SECRET.slice(0, 8)}`)
      socket.ws.terminate()
    } finally {
      await own.close()
    }
  })

  it.each([
    'key=value',
    'YWxsIGlzIHdlbGw==',
    'three letters of it: pro',
    '{"key":"value"}',
    '{"n":1.5,"ok":true}',
  ])('lets %s go at once', async (text) => {
    // A ping waits for nothing: what waits comes behind it.
    serveWebSockets(gw.upstream, (ws) => ws.send(text, () => ws.ping('later')))
    const socket = await open()
    await expect.poll(() => socket.received.map(String)).toEqual([text, 'later'])
  })

  it('refuses a handshake in which the secret comes back', async () => {
    serveWebSockets(gw.upstream, () => {}, { headers: [`x-echo: ${SECRET}`] })
    const refused = await refusalOf(open())
    expect([refused.status, JSON.parse(refused.body).code]).toEqual([502, 'secret_reflected'])
    expect(JSON.stringify(refused.headers) + refused.body).not.toContain(SECRET.slice(4, 16))
  })

  it.each([
    [401, { 'content-type': 'application/json' }, '{"error":"no"}'],
    [426, { upgrade: 'websocket' }, ''],
    [503, {}, 'later'],
  ])('passes the refusal of an upstream: %s', async (status, headers, body) => {
    gw.upstream.respond((_request, res) => res.writeHead(status, headers).end(body))
    const refused = await refusalOf(open())
    expect([refused.status, refused.body]).toEqual([status, body])
    const { record } = await receiptOf(String(refused.headers['x-gateway-attempt']))
    expect(record).toMatchObject({ state: 'settled', outcome: 'delivered', upstream_status: status })
  })

  it('searches the refusal of an upstream', async () => {
    gw.upstream.respond((_request, res) => res.writeHead(401).end(`bad key ${SECRET}`))
    const refused = await refusalOf(open())
    expect([refused.status, JSON.parse(refused.body).code]).toEqual([502, 'secret_reflected'])
  })

  it.each([
    ['an accept of another key', 'sec-websocket-accept: AAAAAAAAAAAAAAAAAAAAAAAAAAA=', false],
    ['no accept', 'x-nothing: here', false],
    ['an extension that nobody asked for', 'sec-websocket-extensions: permessage-deflate', true],
    ['a subprotocol that nobody asked for', 'sec-websocket-protocol: mine', true],
    ['a length', 'content-length: 5', true],
  ])('takes no 101 with %s', async (_what, line, accepts) => {
    gw.upstream.upgrade((req, socket) => {
      const accept = accepts ? [`sec-websocket-accept: ${acceptOf(req.headers['sec-websocket-key']!)}`] : []
      socket.write(
        [
          'HTTP/1.1 101 Switching Protocols',
          'connection: upgrade',
          'upgrade: websocket',
          ...accept,
          line,
          '',
          '',
        ].join('\r\n'),
      )
    })
    const refused = await refusalOf(open())
    expect([refused.status, JSON.parse(refused.body).code]).toEqual([503, 'outcome_ambiguous'])
  })

  it.each([
    ['to the program', 'response_too_large'],
    ['to the upstream', 'request_too_large'],
  ])('ends at a message of 1 MiB and a byte %s, and not before', async (way, outcome) => {
    const most = Buffer.alloc(1024 * 1024, 'x ')
    const more = Buffer.concat([most, Buffer.from('y')])
    serveWebSockets(gw.upstream, (ws) =>
      ws.on('message', (data) =>
        ws.send((data as Buffer).equals(Buffer.from('more')) ? more : (data as Buffer)),
      ),
    )
    const socket = await open()
    socket.ws.send(most)
    expect((await socket.next()).data.equals(most)).toBe(true)
    socket.ws.send(way === 'to the program' ? 'more' : more)
    expect((await socket.closed).code).toBe(1009)
    const { record, payload } = await receiptOf(attemptOf(socket))
    expect([record.outcome, payload['stream'].end]).toEqual([outcome, 'limit'])
  })

  it('ends where all messages together are more than the credential allows', async () => {
    const { open: openOwn } = await door({ max_response_bytes: 10_000 })
    serveWebSockets(gw.upstream, (ws) => {
      for (let i = 0; i < 20; i++) ws.send('x '.repeat(500))
    })
    const socket = await openOwn()
    expect((await socket.closed).code).toBe(1009)
    expect(Buffer.concat(socket.received).length).toBeLessThanOrEqual(10_000)
  })

  it('stops the upstream when the program goes away', async () => {
    const closed = Promise.withResolvers<void>()
    serveWebSockets(gw.upstream, (ws) => ws.on('close', () => closed.resolve()))
    const socket = await open()
    socket.ws.terminate()
    await closed.promise
    const { record, payload } = await receiptOf(attemptOf(socket))
    expect([record.state, payload['stream'].end]).toEqual(['settled', 'client_closed'])
  })

  it('says that the outcome is not known where the upstream is gone', async () => {
    serveWebSockets(gw.upstream, (ws) => {
      ws.send('one')
      setTimeout(() => ws.terminate(), 20)
    })
    const socket = await open()
    expect((await socket.closed).code).toBe(1014)
    const { record, payload } = await receiptOf(attemptOf(socket))
    expect(record).toMatchObject({ state: 'ambiguous', credits_charged: 1 })
    expect(payload['stream']).toMatchObject({ end: 'upstream_reset', events: 1 })
  })

  // The clock of the whole runs before the upstream has taken it.
  it.each([
    ['nothing is said', { idle_ms: 150 }, 'idle', 'ambiguous', 1001],
    ['it takes too long', { total_ms: 3_000 }, 'limit', 'settled', 1009],
  ] as const)('ends when %s', async (_what, relay, end, state, code) => {
    const { open: openOwn } = await door(relay)
    serveWebSockets(gw.upstream, (ws) => {
      const drip = 'total_ms' in relay ? setInterval(() => ws.send('drop'), 30) : undefined
      ws.on('close', () => clearInterval(drip))
    })
    const socket = await openOwn()
    expect((await socket.closed).code).toBe(code)
    const { record, payload } = await receiptOf(attemptOf(socket))
    expect([record.state, payload['stream'].end]).toEqual([state, end])
  })

  it('stops reading from an upstream whose program does not read, and names the program as the one who stalled', async () => {
    const { open: openOwn } = await door({ idle_ms: 3_000 })
    let buffered = 0
    serveWebSockets(gw.upstream, (ws) => {
      const more = () => {
        if (ws.readyState !== ws.OPEN || buffered > 200 * 1024 * 1024) return
        buffered += 100_000
        ws.send(Buffer.alloc(100_000, 'x '), more)
      }
      more()
    })
    const socket = await openOwn()
    ;(socket.ws as unknown as { _socket: Socket })._socket.pause()
    const { record, payload } = await receiptOf(attemptOf(socket))
    expect([record.state, payload['stream'].end]).toEqual(['settled', 'client_stalled'])
    expect(buffered).toBeLessThan(40 * 1024 * 1024)
  })

  it.each([
    ['a message', (ws: WebSocket) => ws.send(`my key is ${capability}`)],
    ['a binary message', (ws: WebSocket) => ws.send(Buffer.from(`\u0000${capability}`))],
    ['two messages', (ws: WebSocket) => [ws.send('agw_c'), ws.send(capability.slice(5))]],
    ['a ping', (ws: WebSocket) => ws.ping(capability.slice(0, 60))],
    ['a close frame', (ws: WebSocket) => ws.close(1000, capability.slice(0, 60))],
  ])('sends no token of this gateway on in %s', async (_where, send) => {
    const got: Buffer[] = []
    serveWebSockets(gw.upstream, (ws) => {
      ws.on('message', (data) => got.push(data as Buffer)).on('ping', (data) => got.push(data))
      ws.on('close', (_code, reason) => got.push(reason))
    })
    const socket = await open()
    send(socket.ws)
    expect((await socket.closed).code).toBe(1008)
    const { record } = await receiptOf(attemptOf(socket))
    expect(record.outcome).toBe('own_token')
    expect(Buffer.concat(got).toString()).not.toContain('agw_cap')
  })

  it('does not replace a placeholder in a message', async () => {
    serveWebSockets(gw.upstream)
    const socket = await open()
    socket.ws.send('sk-proj-AgentGatewayPlaceholder')
    expect((await socket.next()).data.toString()).toBe('sk-proj-AgentGatewayPlaceholder')
  })

  it('puts the secret in the query or the path of a handshake', async () => {
    serveWebSockets(gw.upstream)
    for (const [placement, asked, target] of [
      [
        { in: 'query', name: 'token' },
        (cap: string) => `/v1/listen?token=${cap}&a=1`,
        `/v1/listen?a=1&token=${SECRET}`,
      ],
      [{ in: 'path', at: 1, prefix: 'bot' }, (cap: string) => `/v1/bot${cap}/ws`, `/v1/bot${SECRET}/ws`],
    ] as const) {
      const own = await door({}, { settings: { placements: [placement] } })
      await own.open(asked(own.capability))
      expect(last().target).toBe(target)
    }
  })
})

describe('whoever attacks it', () => {
  const raw = (lines: readonly string[], more: Buffer | string = '') =>
    new Promise<string>((resolve) => {
      const { hostname, port } = new URL(gw.baseUrl)
      const socket = connect(Number(port), hostname)
      let text = ''
      socket.on('data', (piece) => (text += piece.toString('latin1'))).on('error', () => {})
      socket.on('close', () => resolve(text))
      socket.write([...lines, '', ''].join('\r\n'))
      socket.write(more)
    })
  const handshake = (more: readonly string[] = [], token = capability) => [
    'GET /via/my-api/v1/realtime HTTP/1.1',
    `Host: ${new URL(gw.baseUrl).host}`,
    `Authorization: Bearer ${token}`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    `Sec-WebSocket-Key: ${KEY}`,
    ...more,
  ]

  it.each([
    ['with a token of nobody', () => handshake([], 'agw_cap_nobody'), 401],
    ['with no token', () => handshake().filter((line) => !line.startsWith('Authorization')), 401],
    ['from a page', () => handshake(['Sec-Fetch-Site: cross-site']), 403],
    ['with a body', () => handshake(['Content-Length: 5']), 400],
    ['with a body in chunks', () => handshake(['Transfer-Encoding: chunked']), 400],
    ['with another version', () => handshake().map((line) => line.replace(': 13', ': 8')), 400],
    ['with a short key', () => handshake().map((line) => line.replace(KEY, 'AAAA')), 400],
    ['with POST', () => handshake().map((line) => line.replace('GET', 'POST')), 400],
    ['with two hosts', () => handshake(['Host: other']), 400],
    ['outside of the scope', () => handshake().map((line) => line.replace('/v1/', '/v2/')), 403],
    ['out of the scope by dots', () => handshake().map((line) => line.replace('/v1/', '/v1/../')), 400],
    [
      'of a credential that it does not open',
      () => handshake().map((line) => line.replace('my-api', 'other')),
      404,
    ],
  ])('is refused %s, and nothing is sent or charged', async (_how, lines, status) => {
    serveWebSockets(gw.upstream)
    const before = [gw.upstream.requests.length, await gw.balance()]
    expect((await raw(lines())).split(' ')[1]).toBe(String(status))
    expect([gw.upstream.requests.length, await gw.balance()]).toEqual(before)
  })

  it.each([
    ['the address', () => `/v1/realtime?key=${capability}`, [], 403],
    ['a subprotocol', () => '/v1/realtime', () => `Sec-WebSocket-Protocol: a, b.${capability}`, 403],
    ['a header', () => '/v1/realtime', () => `Authorization: Bearer ${capability}`, 101],
  ])('is a page where it has an Origin and the capability is in %s', async (where, path, line, status) => {
    serveWebSockets(gw.upstream, (ws) => ws.close())
    const lines = handshake(['Origin: http://localhost:3000'])
      .filter((given) => !given.startsWith('Authorization'))
      .map((given) => given.replace('/v1/realtime', path()))
    const text = await raw([...lines, ...(typeof line === 'function' ? [line()] : [])])
    expect([where, text.split(' ')[1]]).toEqual([where, String(status)])
  })

  it('ends the connection of an upgrade that comes before an earlier request on it is answered', async () => {
    serveWebSockets(gw.upstream)
    gw.upstream.respond(() => {})
    const before = gw.upstream.requests.length
    const first = handshake().filter((line) => !/^(?:Connection|Upgrade|Sec-)/.test(line))
    const second = handshake().map((line) => line.replace('/realtime', '/second'))
    expect(await raw([...first, '', ...second])).toBe('')
    expect(gw.upstream.requests.slice(before).map(({ target }) => target)).not.toContain('/v1/second')
    gw.upstream.respond((_request, res) => res.end('still here'))
    expect((await gw.rest('GET', '/v1/health', undefined, '')).status).toBeLessThan(500)
  })

  it.each([
    ['unmasked frames', Buffer.from([0x81, 0x02, 0x68, 0x69]), 1002],
    [
      'a control frame that is too long',
      Buffer.concat([Buffer.from([0x89, 0xfe, 0x00, 0x7e]), Buffer.alloc(130)]),
      1002,
    ],
    ['a control frame in parts', Buffer.from([0x09, 0x80, 0, 0, 0, 0]), 1002],
    [
      'a frame of 8 exabytes',
      Buffer.from([0x82, 0xff, 0x7f, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0, 0]),
      1009,
    ],
    ['a reserved bit', Buffer.from([0xc1, 0x80, 0, 0, 0, 0]), 1002],
    ['a text that is none', Buffer.from([0x81, 0x81, 0, 0, 0, 0, 0xff]), 1007],
    ['another request', Buffer.from('GET /via/my-api/v1/other HTTP/1.1\r\nHost: x\r\n\r\n'), 1002],
  ])(
    'with the handshake sends %s: it is told why, and the upstream sees nothing of it',
    async (_what, bytes, code) => {
      const got: Buffer[] = []
      serveWebSockets(gw.upstream, (ws) => ws.on('message', (data) => got.push(data as Buffer)))
      const seen = gw.upstream.requests.length
      const text = Buffer.from(await raw(handshake(), bytes), 'latin1')
      const frames = text.subarray(text.indexOf('\r\n\r\n') + 4)
      expect([text.toString('latin1', 9, 12), frames[0], frames.readUInt16BE(2)]).toEqual(['101', 0x88, code])
      expect([gw.upstream.requests.length, got]).toEqual([seen + 1, []])
      const { payload } = await receiptOf(/x-gateway-attempt: (\S+)/.exec(text.toString('latin1'))![1]!)
      expect(['client_closed', 'limit']).toContain(payload['stream'].end)
    },
  )

  it('takes what is sent with the handshake for what it is: the first message', async () => {
    serveWebSockets(gw.upstream)
    const hi = Buffer.from([0x81, 0x82, 0, 0, 0, 0, 0x68, 0x69])
    const close = Buffer.from([0x88, 0x82, 0, 0, 0, 0, 0x03, 0xe8])
    const text = await raw(handshake(), Buffer.concat([hi, close]))
    expect(text.split('\r\n\r\n')[1]).toBe('\u0081\u0002hi\u0088\u0002\u0003\u00e8')
  })

  it('is cut off when it sends more than a little before it is answered', async () => {
    gw.upstream.upgrade(() => {})
    const text = await raw(handshake(), Buffer.alloc(200_000, 0x81))
    expect(text).toBe('')
  })

  it('holds no upstream when it goes away before the answer', async () => {
    const asked = Promise.withResolvers<void>()
    const gone = Promise.withResolvers<void>()
    gw.upstream.upgrade((_req, socket) => {
      asked.resolve()
      socket.on('close', () => gone.resolve()).resume()
    })
    const { hostname, port } = new URL(gw.baseUrl)
    const socket = connect(Number(port), hostname)
    socket.write([...handshake(), '', ''].join('\r\n'))
    await asked.promise
    socket.destroy()
    await gone.promise
  })

  it('opens 32 with one capability, and no more until one of them ends', async () => {
    const { open: openOwn } = await door()
    serveWebSockets(gw.upstream)
    const sockets = await Promise.all(Array.from({ length: 32 }, () => openOwn()))
    expect((await refusalOf(openOwn())).status).toBe(429)
    sockets[0]!.ws.close()
    await sockets[0]!.closed
    for (;;) {
      const again = await openOwn().catch(() => undefined)
      if (again) break
      await sleep(10)
    }
  })

  it('gets an ordinary answer to an upgrade that is no WebSocket, and on other paths', async () => {
    gw.upstream.respond((_request, res) => res.end('plain'))
    const h2c = handshake(['Connection: close']).map((line) =>
      line.replace('Upgrade: websocket', 'Upgrade: h2c'),
    )
    expect(await raw(h2c)).toMatch(/^HTTP\/1\.1 200/)
    const health = ['GET /v1/health HTTP/1.1', ...handshake(['Connection: close']).slice(1)]
    expect((await raw(health)).split(' ')[1]).not.toBe('101')
  })
})
