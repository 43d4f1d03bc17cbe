// The door by itself: who may connect, to which names, and what a request inside has to look like. What happens behind it is told by a stub.
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { createOutside } from '../../src/app/proxy-outside.ts'
import { GatewayError } from '../../src/core/errors.ts'
import { createProxyDoor, type ProxyDoor } from '../../src/doors/proxy/index.ts'
import type { ObserveProxy, Passage, Refusal, UnknownHosts } from '../../src/doors/proxy/ports.ts'
import { createResolver } from '../../src/egress/adapters/dns.ts'
import { createRunAuthority } from '../../src/interception/authority.ts'
import { createWorld, UPSTREAM_HOST, type World } from '../support/gateway.ts'
import { LOOPBACK_IS_PUBLIC } from '../support/loopback.ts'
import { startDnsServer, type TestDnsServer } from '../support/dns-server.ts'
import { basic, exchange, sendConnect, startTls } from '../support/proxy-client.ts'
import { startRawUpstream } from '../support/upstream.ts'

const TOKEN = 'token-of-a-test'
const COVERED = 'covered.example.com'

let world: World
let dns: TestDnsServer
let door: ProxyDoor
let proxy: string
let ca: string
let unknown: UnknownHosts = 'deny'
let isCovered = true
let canIssue = true
/** Of connections that nobody judges request by request. */
let watchers = 0
let waitMs: number | undefined
/** Told of requests inside of opened connections. */
let observe: ObserveProxy | undefined
/** Besides 443, those of upstreams. */
const ports = [443]
/** Places for connections; each test has its own, since connections of the one before may still end. */
let places = { left: Infinity }
const relayed: string[] = []
const passed: Passage[] = []
const refused: Refusal[] = []
/** Connections that ended without a request: told of when a socket is gone, which may be during the next test. */
const hangUps: Refusal[] = []

beforeAll(async () => {
  world = await createWorld()
  ports.push(world.upstream.port)
  dns = await startDnsServer({
    [UPSTREAM_HOST]: { A: ['127.0.0.1'] },
    'private.example.com': { A: ['10.0.0.7'] },
    'metadata.example.com': { A: ['169.254.169.254'] },
    'half.example.com': { A: ['127.0.0.1', '192.168.1.1'] },
  })
  const authority = createRunAuthority(Date.now)
  ca = authority.trusted()
  door = createProxyDoor({
    identify(token) {
      if (token === undefined) throw new GatewayError('proxy_identity_required', 'Who are you?')
      if (token !== TOKEN) throw new GatewayError('scope_denied', 'Not you.')
      return {
        id: 'agent-1',
        unknown,
        covers: (host) => isCovered && host === COVERED,
        enter() {
          const mine = places
          if (mine.left <= 0)
            throw new GatewayError('rate_limited', 'Too many.', { extras: { retry_after_seconds: 1 } })
          mine.left--
          return () => void mine.left++
        },
        watchRevocation() {
          watchers++
          return { signal: new AbortController().signal, leave: () => void watchers-- }
        },
        async relay(req, res, url) {
          let body = ''
          for await (const chunk of req) body += String(chunk)
          relayed.push(`${req.method} ${url} ${body}`)
          res.end(`relayed ${req.method}`)
        },
      }
    },
    authority: {
      trusted: () => ca,
      issue(host) {
        if (!canIssue) throw new Error('there is no root that is good now')
        return authority.issue(host)
      },
    },
    outside: createOutside({
      resolver: createResolver([dns.address]),
      policy: LOOPBACK_IS_PUBLIC,
      checkHost: async (host) =>
        host === 'denied.example.com' ? { ok: false, reason: 'denied_host' } : { ok: true },
      extraCa: [world.ca.pem],
    }),
    targets: { ports },
    watch: {
      passed: (one) => void passed.push(one),
      refused: (one) =>
        void (['handshake', 'no_request'].includes(one.reason ?? '') ? hangUps : refused).push(one),
    },
    baseUrl: 'http://gateway.test',
    now: Date.now,
    get waitMs() {
      return waitMs
    },
    get observe() {
      return observe
    },
  })
  await new Promise<void>((resolve) => door.server.listen(0, '127.0.0.1', resolve))
  proxy = `http://127.0.0.1:${(door.server.address() as AddressInfo).port}`
})
afterAll(async () => {
  await door.close()
  await Promise.all([world.close(), dns.close()])
})
beforeEach(() => {
  unknown = 'deny'
  isCovered = true
  canIssue = true
  waitMs = undefined
  observe = undefined
  places = { left: Infinity }
  for (const list of [relayed, passed, refused]) list.length = 0
})

const open = async (host = COVERED, port: number | string = 443) =>
  sendConnect(proxy, `${host}:${port}`, [basic(TOKEN)])
const openTls = async (options: Partial<Parameters<typeof startTls>[1]> = {}) => {
  const { status, socket } = await open()
  expect(status).toBe(200)
  return startTls(socket, { ca, servername: COVERED, ...options })
}

describe('CONNECT', () => {
  it('without an identity is 407, with both ways to say who one is', async () => {
    const { status, head, socket } = await sendConnect(proxy, `${COVERED}:443`)
    expect(status).toBe(407)
    expect(head).toMatch(/proxy-authenticate: Basic realm="agent-gateway"\r\nproxy-authenticate: Bearer/)
    socket.destroy()
  })

  it('with a token that is no good is 403, so that no program asks again in a circle', async () => {
    const { status, head } = await sendConnect(proxy, `${COVERED}:443`, [basic('another')])
    expect(status).toBe(403)
    expect(head).not.toContain('proxy-authenticate')
  })

  it.each([
    [
      'Basic with the token as the name',
      `Proxy-Authorization: Basic ${Buffer.from(`${TOKEN}:`).toString('base64')}`,
    ],
    ['Basic with the token as the password', basic(TOKEN)],
    ['Bearer', `Proxy-Authorization: Bearer ${TOKEN}`],
  ])('takes %s', async (_, line) => {
    const { status, socket } = await sendConnect(proxy, `${COVERED}:443`, [line])
    expect(status).toBe(200)
    socket.destroy()
  })

  it.each([
    ['an address of digits', '127.0.0.1:443', 403, 'ip_literal'],
    ['an address in a spelling of its own', '0x7f.1:443', 403, 'ip_literal'],
    ['an address of IPv6', '[::1]:443', 403, 'ip_literal'],
    ['the address of a metadata service', '169.254.169.254:443', 403, 'ip_literal'],
    ['a local name', 'localhost:443', 403, 'local_name'],
    ['a name without a dot', 'intranet:443', 403, 'local_name'],
    ['a port that is not open', `${COVERED}:8443`, 403, 'port_not_allowed'],
    ['port 80', `${COVERED}:80`, 403, 'port_not_allowed'],
    ['a name with a trailing dot', `${COVERED}.:443`, 400, 'host_not_canonical'],
    ['no port', COVERED, 400, undefined],
    ['user information', `user@${COVERED}:443`, 400, undefined],
  ])('to %s is refused', async (_, authority, status, reason) => {
    const answer = await sendConnect(proxy, authority, [basic(TOKEN)])
    expect(answer.status).toBe(status)
    expect(refused).toMatchObject([{ reason }])
  })

  it('to a host that nothing is held for is refused in the same words, whether or not somebody else has a credential', async () => {
    const texts: unknown[] = []
    for (const host of ['one.example.com', 'two.example.com']) {
      const { status, body } = await open(host)
      expect(status).toBe(403)
      const { detail, title, code } = JSON.parse(body)
      texts.push(JSON.stringify({ detail, title, code }).replaceAll(host, 'HOST'))
    }
    expect(texts[0]).toBe(texts[1])
    expect(refused).toHaveLength(2)
    expect(refused[0]).toMatchObject({ agentId: 'agent-1', code: 'scope_denied', reason: 'unknown_host' })
  })
})

describe('plain HTTP', () => {
  it('through the proxy is refused with what to do', async () => {
    const { socket, ...answer } = await sendPlain(
      `GET http://${COVERED}/ HTTP/1.1\r\nHost: ${COVERED}\r\n\r\n`,
    )
    expect(answer.status).toBe(400)
    expect(JSON.parse(answer.body).detail).toContain('Use https://')
    socket.destroy()
  })

  it('to the proxy itself gives the certificates to trust, and nothing else', async () => {
    const pem = await fetch(`${proxy}/ca.pem`)
    expect(await pem.text()).toBe(ca)
    expect((await fetch(`${proxy}/`)).status).toBe(400)
  })
})

describe('inside a connection that is opened', () => {
  it('requests are relayed with the URL as it was written, several on one connection', async () => {
    const tls = await openTls()
    expect(tls.alpnProtocol).toBe(false)
    const get = `GET /a/%2e?b=c%20d HTTP/1.1\r\nHost: ${COVERED}\r\n\r\n`
    const post = `POST /p HTTP/1.1\r\nHost: ${COVERED}:443\r\nContent-Length: 4\r\n\r\nbody`
    expect((await exchange(tls, get)).body).toBe('relayed GET')
    expect((await exchange(tls, post)).body).toBe('relayed POST')
    tls.destroy()
    expect(relayed).toEqual([`GET https://${COVERED}/a/%2e?b=c%20d `, `POST https://${COVERED}/p body`])
    await expect.poll(() => passed).toMatchObject([{ host: COVERED, way: 'credential', requests: 2 }])
  })

  it('HTTP/1.1 is agreed on where HTTP/2 is offered beside it, and alone it is refused in the handshake', async () => {
    const tls = await openTls({ ALPNProtocols: ['h2', 'http/1.1'] })
    expect(tls.alpnProtocol).toBe('http/1.1')
    tls.destroy()
    await expect(openTls({ ALPNProtocols: ['h2'] })).rejects.toThrow(
      /no application protocol|alert number 120/i,
    )
  })

  it.each([
    ['another Host', `GET / HTTP/1.1\r\nHost: other.example.com\r\n\r\n`, 421],
    ['the port of somebody else in Host', `GET / HTTP/1.1\r\nHost: ${COVERED}:8443\r\n\r\n`, 421],
    ['Host twice', `GET / HTTP/1.1\r\nHost: ${COVERED}\r\nHost: other.example.com\r\n\r\n`, 400],
    ['the same Host twice', `GET / HTTP/1.1\r\nHost: ${COVERED}\r\nHost: ${COVERED}\r\n\r\n`, 400],
    ['no Host', 'GET / HTTP/1.1\r\n\r\n', 400],
    ['no Host in HTTP/1.0', 'GET / HTTP/1.0\r\n\r\n', 400],
    ['the absolute form', `GET https://other.example.com/ HTTP/1.1\r\nHost: ${COVERED}\r\n\r\n`, 400],
    [
      'the absolute form of the same host',
      `GET https://${COVERED}/ HTTP/1.1\r\nHost: ${COVERED}\r\n\r\n`,
      400,
    ],
    ['the authority form', `CONNECT other.example.com:443 HTTP/1.1\r\nHost: ${COVERED}\r\n\r\n`, 0],
    [
      'Content-Length and chunks',
      `POST / HTTP/1.1\r\nHost: ${COVERED}\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      400,
    ],
    [
      'another coding before the chunks',
      `POST / HTTP/1.1\r\nHost: ${COVERED}\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
      400,
    ],
    [
      'two lengths',
      `POST / HTTP/1.1\r\nHost: ${COVERED}\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nbody!`,
      400,
    ],
    ['a bare line feed', `GET / HTTP/1.1\nHost: ${COVERED}\n\n`, 400],
    ['a folded header', `GET / HTTP/1.1\r\nHost: ${COVERED}\r\nA: b\r\n c\r\n\r\n`, 400],
  ])('%s is refused, and nothing is relayed', async (_, text, status) => {
    const tls = await openTls()
    const answer = await exchange(tls, text)
    expect(answer.status).toBe(status)
    tls.destroy()
    expect(relayed).toEqual([])
  })

  it.each([
    ['says nothing', ''],
    ['never comes to the end of a head, however often it sends a letter', 'GET / HTTP/1.1\r\nHost: '],
    ['does so behind a request', `GET / HTTP/1.1\r\nHost: ${COVERED}\r\n\r\nGET / HTTP/1.1\r\nA: `],
  ])('a connection is not kept for a program that %s', async (_how, begin) => {
    waitMs = 300
    const tls = await openTls()
    tls.resume()
    const over = new Promise((resolve) => tls.on('close', resolve))
    tls.write(begin)
    const drip = begin === '' ? undefined : setInterval(() => tls.write('x'), 20)
    await over
    clearInterval(drip)
  })

  it('what stands behind a refused request is no request, even where it came with it', async () => {
    const tls = await openTls()
    const get = (path: string, host = COVERED) => `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`
    let received = ''
    tls.on('data', (piece) => (received += String(piece)))
    const over = new Promise((resolve) => tls.on('close', resolve))
    tls.write(get('/first') + get('/second', 'other.example.com') + get('/third') + get('/fourth'))
    await over
    expect(received.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 421'])
    expect(relayed).toEqual([`GET https://${COVERED}/first `])
  })

  it('a TLS server name other than the host of the CONNECT is refused at each request', async () => {
    const tls = await openTls({ servername: 'other.example.com', anyName: true })
    expect((await exchange(tls, `GET / HTTP/1.1\r\nHost: ${COVERED}\r\n\r\n`)).status).toBe(421)
    tls.destroy()
    expect(relayed).toEqual([])
    expect(refused).toMatchObject([{ code: 'host_mismatch', reason: 'server_name' }])
  })

  it('a WebSocket is for the host of the CONNECT like any other request', async () => {
    const upgrade = (host: string) =>
      `GET /ws HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`
    expect((await exchange(await openTls(), upgrade('other.example.com'))).status).toBe(421)
    expect(refused).toMatchObject([{ host: COVERED, reason: 'host' }])
    // The engine is a stub here, which answers it like any other request.
    expect((await exchange(await openTls(), upgrade(COVERED))).body).toBe('relayed GET')
  })

  it('a host that no certificate can be made for is answered before the tunnel, and no connection is watched', async () => {
    unknown = 'inspect'
    canIssue = false
    await expect.poll(() => watchers).toBe(0)
    const { status, socket } = await open('without-certificate.example.com')
    expect(status).toBe(500)
    expect(refused).toMatchObject([{ host: 'without-certificate.example.com:443', code: 'internal' }])
    expect(watchers).toBe(0)
    socket.destroy()
  })

  it('a program that speaks HTTP/2 alone is told of as one, and not as one that does not trust us', async () => {
    const { socket } = await open()
    hangUps.length = 0
    await expect(startTls(socket, { ca, servername: COVERED, ALPNProtocols: ['h2'] })).rejects.toThrow()
    socket.destroy()
    await expect.poll(() => hangUps.map(({ detail }) => detail)).toEqual([expect.stringContaining('HTTP/2')])
  })

  it('a program that does not trust us is told of', async () => {
    const { socket } = await open()
    hangUps.length = 0
    await expect(startTls(socket, { ca: world.ca.pem, servername: COVERED })).rejects.toThrow()
    socket.destroy()
    await expect.poll(() => hangUps.map(({ reason }) => reason)).toContain('handshake')
    hangUps.length = 0
    const another = await open()
    another.socket.end('no TLS at all')
    await expect.poll(() => hangUps.map(({ reason }) => reason)).toContain('handshake')
  })
})

it.each([
  ['a user and a password in a CONNECT', 'CONNECT agent:agw_cap_0123456789@other.example.com:443 HTTP/1.1'],
  ['a token for a host', 'CONNECT agw_cap_0123456789:443 HTTP/1.1'],
  [
    'keys in a plain address',
    'GET http://me:agw_cap_0123456789@other.example.com/agw_cap_0123456789?key=sk-0123456789 HTTP/1.1',
  ],
])('nothing but the host is told of what is refused: %s', async (_what, line) => {
  const { socket } = await sendPlain(`${line}\r\nHost: other.example.com\r\n${basic(TOKEN)}\r\n\r\n`)
  socket.destroy()
  expect(refused.map(({ host }) => host)).toEqual([
    line.includes('other') ? expect.stringMatching(/^other\.example\.com(?::443)?$/) : 'agw_…:443',
  ])
  expect(JSON.stringify(refused)).not.toContain('0123456789')
})

describe('hosts without a credential', () => {
  const get = () =>
    `GET /x HTTP/1.1\r\nHost: ${UPSTREAM_HOST}:${world.upstream.port}\r\nConnection: close\r\n\r\n`

  it('are tunnelled where that is the policy: counted, and the certificate is their own', async () => {
    unknown = 'tunnel'
    const { status, socket } = await open(UPSTREAM_HOST, world.upstream.port)
    expect(status).toBe(200)
    const tls = await startTls(socket, { ca: world.ca.pem, servername: UPSTREAM_HOST })
    expect((await exchange(tls, get())).body).toContain('{"ok":true}')
    tls.destroy()
    await expect.poll(() => passed).toMatchObject([{ host: UPSTREAM_HOST, way: 'tunnel' }])
    expect(passed[0]!.bytesUp).toBeGreaterThan(200)
    expect(passed[0]!.bytesDown).toBeGreaterThan(200)
  })

  it('are opened and passed on as they came where that is the policy', async () => {
    unknown = 'inspect'
    const before = world.upstream.requests.length
    const { socket } = await open(UPSTREAM_HOST, world.upstream.port)
    const tls = await startTls(socket, { ca, servername: UPSTREAM_HOST })
    const post =
      `POST /p?q=1 HTTP/1.1\r\nHost: ${UPSTREAM_HOST}:${world.upstream.port}\r\nAuthorization: Bearer own\r\n` +
      'Transfer-Encoding: chunked\r\nConnection: x-hop\r\nX-Hop: 1\r\n\r\n4\r\nbody\r\n0\r\n\r\n'
    expect((await exchange(tls, post)).status).toBe(200)
    tls.destroy()
    const [received] = world.upstream.requests.slice(before)
    expect(received).toMatchObject({ method: 'POST', target: '/p?q=1' })
    expect(received!.body.toString()).toBe('body')
    expect(received!.headers).toContainEqual(['authorization', 'Bearer own'])
    expect(received!.headers.map(([name]) => name)).not.toContain('x-hop')
    expect(relayed).toEqual([])
    await expect.poll(() => passed).toMatchObject([{ way: 'inspect', requests: 1 }])
  })

  it.each(['Content-Length', 'Transfer-Encoding'])(
    'are sent one request where its Connection header names %s',
    async (named) => {
      unknown = 'inspect'
      const before = world.upstream.requests.length
      const { socket } = await open(UPSTREAM_HOST, world.upstream.port)
      const tls = await startTls(socket, { ca, servername: UPSTREAM_HOST })
      const hidden = get()
      const frame =
        named === 'Content-Length'
          ? `Content-Length: ${hidden.length}\r\n\r\n${hidden}`
          : `Transfer-Encoding: chunked\r\n\r\n${hidden.length.toString(16)}\r\n${hidden}\r\n0\r\n\r\n`
      const text = `GET /p HTTP/1.1\r\nHost: ${UPSTREAM_HOST}:${world.upstream.port}\r\nConnection: host, ${named}\r\n${frame}`
      expect((await exchange(tls, text)).status).toBe(200)
      expect((await exchange(tls, get())).status).toBe(200)
      tls.destroy()
      const received = world.upstream.requests.slice(before)
      expect(received.map(({ target, body }) => [target, String(body)])).toEqual([
        ['/p', hidden],
        ['/x', ''],
      ])
    },
  )

  it.each(['tunnel', 'inspect'] as const)(
    'take a place for as long as they are open, and none where there is none left: %s',
    async (way) => {
      unknown = way
      places = { left: 1 }
      const first = await open(UPSTREAM_HOST, world.upstream.port)
      const tls = await startTls(first.socket, {
        ca: way === 'tunnel' ? world.ca.pem : ca,
        servername: UPSTREAM_HOST,
      })
      const { status, head } = await open(UPSTREAM_HOST, world.upstream.port)
      expect([status, head.includes('retry-after: 1')]).toEqual([429, true])
      tls.destroy()
      await expect.poll(() => places.left).toBe(1)
      // Whoever is refused takes none.
      expect((await open('private.example.com')).status).toBe(way === 'tunnel' ? 403 : 200)
    },
  )

  const openInspected = async (port = world.upstream.port) => {
    unknown = 'inspect'
    const { socket } = await open(UPSTREAM_HOST, port)
    return startTls(socket, { ca, servername: UPSTREAM_HOST })
  }
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  const CAPABILITY = 'agw_cap_0123456789'

  it.each([
    ['as a bearer token', `Authorization: Bearer ${CAPABILITY}`],
    ['as the user of Basic', `Authorization: Basic ${base64(`${CAPABILITY}:`)}`],
    ['as the password of Basic', `authorization: basic ${base64(`who?:${CAPABILITY}`)}`],
    ['in a document in base64', `X-Registry-Auth: ${base64(JSON.stringify({ password: CAPABILITY }))}`],
    ['in a subprotocol', `Sec-WebSocket-Protocol: base64url.bearer.example.${base64(CAPABILITY)}, v1`],
    ['in a cookie with percent signs', 'Cookie: a=b; key=agw%5Fcap%5f0123456789'],
    ['in the address', `/x?key=${CAPABILITY}`],
    ['in the address with percent signs', '/x?key=agw%5Fcap%5f0123456789'],
    ['in the address in base64', `/x?auth=${encodeURIComponent(base64(`a:${CAPABILITY}`))}`],
    ['in the path in base64', `/x/${Buffer.from(CAPABILITY).toString('base64url')}/y`],
  ])('are never sent a token of this gateway: %s', async (_where, added) => {
    const before = world.upstream.requests.length
    const tls = await openInspected()
    const text = added.startsWith('/')
      ? get().replace('/x', added)
      : get().replace('\r\n\r\n', `\r\n${added}\r\n\r\n`)
    const { status, body } = await exchange(tls, text)
    tls.destroy()
    expect([status, JSON.parse(body).code]).toEqual([400, 'header_forbidden'])
    expect(world.upstream.requests.length).toBe(before)
  })

  it("are sent the program's own user and password, and whatever else is encoded", async () => {
    const tls = await openInspected()
    const own = `Authorization: Basic ${base64('me:sk-0123456789')}\r\nCookie: a=%5F%zz; b=${base64('{"agw":1}')}`
    const text = get().replace('\r\n\r\n', `\r\n${own}\r\n\r\n`)
    expect((await exchange(tls, text)).status).toBe(200)
    tls.destroy()
  })

  it.each([
    ['Upgrade', 'connection: upgrade\r\nupgrade: something\r\n'],
    ['nothing else', ''],
  ])(
    'that answer 101 to an ordinary request keep no connection, and the program is told: with %s',
    async (_with, lines) => {
      const held = new Set<Socket>()
      const leaf = await world.ca.leaf(UPSTREAM_HOST)
      const upstream = await startRawUpstream(leaf, (socket) => {
        held.add(socket)
        socket.on('close', () => held.delete(socket))
        socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines}\r\n`)
      })
      ports.push(upstream.port)
      const text = get().replace(`:${world.upstream.port}`, `:${upstream.port}`)
      for (let i = 0; i < 3; i++) {
        const tls = await openInspected(upstream.port)
        const { status, body } = await exchange(tls, text)
        tls.destroy()
        expect([status, JSON.parse(body || '{}').code]).toEqual([502, 'response_unacceptable'])
      }
      await expect.poll(() => held.size).toBe(0)
      expect(upstream.requests).toHaveLength(3)
      ports.pop()
      await upstream.close()
    },
  )

  it.each([
    ['a request', 'GET /slow'],
    ['one that asks for a WebSocket', 'GET /slow-socket'],
  ])(
    'are waited for as long as their own clock runs, however silent the program is: %s',
    async (_what, line) => {
      const TEN_MINUTES_MS = 600_000
      const sockets: Socket[] = []
      observe = {
        connect: (_req, _socket, handle) => handle({ established: () => {}, refused: () => {} }),
        request({ req }, handle) {
          sockets.push(req.socket)
          handle()
        },
      }
      const asked = Promise.withResolvers<void>()
      const go = Promise.withResolvers<void>()
      world.upstream.respond(async (_request, res) => {
        asked.resolve()
        await go.promise
        res.writeHead(403).end('no')
      })
      const tls = await openInspected()
      const isSocket = line.endsWith('socket')
      const lines = isSocket
        ? 'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n'
        : ''
      const answered = exchange(tls, get().replace('GET /x', line).replace('Connection: close\r\n', lines))
      await asked.promise
      expect(sockets.map(({ timeout }) => timeout! > TEN_MINUTES_MS)).toEqual([true])
      go.resolve()
      expect(await answered).toMatchObject({ status: 403, body: expect.stringContaining('no') })
      if (!isSocket) await expect.poll(() => sockets[0]?.timeout).toBeLessThan(TEN_MINUTES_MS)
      tls.destroy()
      world.upstream.respond((_request, res) => res.end('{"ok":true}'))
    },
  )

  it('are sent many requests on one connection, and none of them leaves a listener on it', async () => {
    const warnings: string[] = []
    // Others of this process may be warned of something else.
    const warn = ({ name, message }: Error) =>
      void (name === 'MaxListenersExceededWarning' && warnings.push(message))
    process.on('warning', warn)
    onTestFinished(() => void process.off('warning', warn))
    const tls = await openInspected()
    const text = get().replace('Connection: close\r\n', '')
    for (let i = 0; i < 12; i++) expect((await exchange(tls, text)).status).toBe(200)
    tls.destroy()
    await expect.poll(() => passed.map(({ requests }) => requests)).toContain(12)
    expect(warnings).toEqual([])
  })

  it('are sent what a program sent in one piece over one connection, in its order', async () => {
    const sockets = new Set<unknown>()
    const targets: string[] = []
    world.upstream.respond(({ target }, res) => {
      sockets.add(res.socket)
      targets.push(target)
      setTimeout(() => res.end('{"ok":true}'), targets.length === 1 ? 50 : 0)
    })
    const tls = await openInspected()
    const text = get().replace('Connection: close\r\n', '')
    const paths = ['/x', '/second', '/third']
    tls.write(paths.map((path) => text.replace('/x', path)).join(''))
    await expect.poll(() => targets).toEqual(paths)
    expect(sockets.size).toBe(1)
    tls.destroy()
    world.upstream.respond((_request, res) => res.end('{"ok":true}'))
  })

  it.each([
    ['that never answers', (text: string) => text],
    [
      'that never answers, with one for another host among them',
      (text: string) => text.replace('Host: ', 'Host: not-'),
    ],
  ])(
    'have no more of a program read than a little: thousands of requests to one %s',
    async (_what, spoil) => {
      let parsed = 0
      observe = { request: (_opened, answer) => (parsed++, answer()) } as ObserveProxy
      world.upstream.respond(() => {})
      const tls = await openInspected()
      const text = get().replace('Connection: close\r\n', '')
      let isTaken = false
      tls.write(text + spoil(text) + text.repeat(200_000), () => (isTaken = true))
      await expect.poll(() => parsed).toBeGreaterThan(30)
      for (let before = 0; before !== parsed; await sleep(500)) before = parsed
      // What one piece holds that was on its way already.
      expect(parsed).toBeLessThan(32 + (128 * 1024) / text.length)
      expect(isTaken).toBe(false)
      tls.destroy()
      world.upstream.respond((_request, res) => res.end('{"ok":true}'))
    },
  )

  it('answer more requests than may wait, in their order, where a program sends them all at once', async () => {
    const tls = await openInspected()
    world.upstream.respond(({ target }, res) => res.setHeader('x-target', target).end())
    let answers = ''
    tls.on('data', (piece) => (answers += piece.toString('latin1')))
    // Long ones, so that most are read only when others are answered.
    const text = get().replace('Connection: close\r\n', `X-Long: ${'x'.repeat(2000)}\r\n`)
    const targets = Array.from({ length: 300 }, (_, at) => `/${at}`)
    tls.write(targets.map((target) => text.replace('/x', target)).join(''))
    const answered = () => [...answers.matchAll(/x-target: (\S+)/g)].map(([, target]) => target)
    await expect.poll(() => answered().length).toBe(300)
    expect(answered()).toEqual(targets)
    tls.destroy()
    world.upstream.respond((_request, res) => res.end('{"ok":true}'))
  })

  it('are asked nothing more once the program is gone, not even what it sent behind', async () => {
    const targets: string[] = []
    const tls = await openInspected()
    const text = get().replace('Connection: close\r\n', '')
    const given = new Promise<void>((resolve) =>
      world.upstream.respond(({ target }, res) => {
        targets.push(target)
        res.on('close', resolve)
        tls.write(text.replace('/x', '/behind'), () => tls.destroy())
      }),
    )
    tls.write(text)
    await given
    await sleep(50)
    expect(targets).toEqual(['/x'])
    world.upstream.respond((_request, res) => res.end('{"ok":true}'))
  })

  it.each([
    ['a private address', 'private.example.com', 'private'],
    ['a metadata service', 'metadata.example.com', 'link_local'],
    ['a private address beside a public one', 'half.example.com', 'private'],
    ['a host that the operator denies', 'denied.example.com', 'denied_host'],
    ['a name that does not exist', 'nowhere.example.com', 'not_found'],
  ])('that lead to %s are refused before anything is dialled', async (_, host, reason) => {
    unknown = 'tunnel'
    const { status } = await open(host)
    expect([403, 503]).toContain(status)
    expect(refused).toMatchObject([{ reason }])
  })

  it('are refused inside the connection where it is opened', async () => {
    unknown = 'inspect'
    const { socket } = await open('private.example.com')
    const tls = await startTls(socket, { ca, servername: 'private.example.com' })
    expect((await exchange(tls, 'GET / HTTP/1.1\r\nHost: private.example.com\r\n\r\n')).status).toBe(403)
    tls.destroy()
  })

  it('become so when what was held is revoked: the next connection is another', async () => {
    expect((await open()).status).toBe(200)
    isCovered = false
    expect((await open()).status).toBe(403)
  })
})

async function sendPlain(text: string) {
  const { connect } = await import('node:net')
  const { port } = new URL(proxy)
  const socket = connect(Number(port), '127.0.0.1')
  return { ...(await exchange(socket, text)), socket }
}
