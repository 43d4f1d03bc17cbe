// The samples of deploy/proxies, each run by its own program in front of a real gateway: what a proxy could break is tried through it.
import { once } from 'node:events'
import { readFile, readlink } from 'node:fs/promises'
import { connect as connectHttp2, type IncomingHttpHeaders } from 'node:http2'
import { createServer, type RequestListener } from 'node:http'
import { request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestCa } from '../support/ca.ts'
import { startTestChain, type TestChain } from '../support/chain.ts'
import { freePort } from '../support/free-port.ts'
import {
  createWorld,
  startTestGateway,
  type TestGateway,
  UPSTREAM_HOST,
  type World,
} from '../support/gateway.ts'
import { createRestBuyer, fromHeader } from '../support/rest-buyer.ts'
import { prepareReverseProxy, PROXIES, type ReverseProxy } from '../support/reverse-proxy.ts'
import { connectWebSocket, serveWebSockets } from '../support/websocket.ts'

const PAID = '/v1/tools/web.fetch/testnet'
const LIMIT = 40
const KIB = 1024

let chain: TestChain
let payers = 0
beforeAll(async () => {
  chain = await startTestChain(84532)
})
afterAll(() => chain?.close())

describe.each(PROXIES)('%s before two replicas', (name) => {
  it.each(['GET', 'PUT', 'POST'])(
    'sends no %s again that one of them took and did not answer',
    async (method) => {
      const taken: string[] = []
      const used = new Set<number>()
      await withReplicas(
        (req, res) => {
          if (req.url === '/used') {
            used.add(req.socket.localPort!)
            return void res.end()
          }
          taken.push(`${req.method} ${req.url}`)
          req.socket.destroy()
        },
        async (send) => {
          // A proxy that keeps connections has one to each replica then.
          while (used.size < 2) expect(await send('GET', '/used')).toBe(200)
          expect(await send(method, '/via/api')).toBe(502)
          expect(taken).toEqual([`${method} /via/api`])
        },
      )
    },
  )

  it('asks for nothing that an answer of theirs names', async () => {
    const taken: string[] = []
    await withReplicas(
      (req, res) => {
        taken.push(`${req.method} ${req.url}`)
        res.writeHead(200, { 'x-accel-redirect': '/via/other', 'x-sendfile': '/etc/passwd' }).end()
      },
      async (send) => {
        expect(await send('PUT', '/via/api')).toBe(200)
        expect(taken).toEqual(['PUT /via/api'])
      },
    )
  })

  /** @param send one request; resolves with its status */
  async function withReplicas(
    answer: RequestListener,
    run: (send: (method: string, path: string) => Promise<unknown>) => Promise<void>,
  ): Promise<void> {
    const ca = await createTestCa()
    const port = await freePort()
    const replicas = await Promise.all(
      [1, 2].map(async () => {
        const server = createServer((req, res) => {
          if (req.url === '/readyz') return void res.end()
          answer(req, res)
        }).listen(0, '127.0.0.1')
        // A connection that the proxy keeps ends by the test alone.
        server.keepAliveTimeout = 0
        await once(server, 'listening')
        return server
      }),
    )
    const proxy = await prepareReverseProxy(name, {
      port,
      gatewayPorts: replicas.map((server) => (server.address() as AddressInfo).port),
      leaf: await ca.leaf('localhost', '127.0.0.1'),
    })
    const send = (method: string, path: string) =>
      new Promise((resolve, reject) => {
        const options = {
          host: '127.0.0.1',
          servername: 'localhost',
          port,
          path,
          // With it the HTTP client of Go takes a POST for one that it may send again.
          headers: { host: `localhost:${port}`, 'idempotency-key': 'a-call' },
          method,
          agent: false,
          ca: ca.pem,
        }
        const req = request(options, (res) => resolve(res.resume().statusCode)).on('error', reject)
        req.end(method === 'PUT' ? '{}' : undefined)
      })
    try {
      expect(proxy.checked.code, proxy.checked.said).toBe(0)
      await proxy.start()
      await run(send)
    } finally {
      await proxy.stop()
      for (const server of replicas) server.close().closeAllConnections()
    }
  }
})

describe.each(PROXIES)('behind %s', (name) => {
  const authorities = getCACertificates('default')
  let world: World
  let gw: TestGateway
  let proxy: ReverseProxy
  let capability: string
  let base: string
  beforeAll(async () => {
    const port = await freePort()
    base = `https://localhost:${port}`
    world = await createWorld({
      env: {
        ...chain.env,
        GATEWAY_BASE_URL: base,
        GATEWAY_TRUST_PROXY: '1',
        GATEWAY_SERVICE_KEY_CREDITS: '1000',
        GATEWAY_RATE_LIMIT: String(LIMIT),
      },
    })
    gw = await startTestGateway({ world })
    proxy = await prepareReverseProxy(name, {
      port,
      gatewayPorts: [gw.gateway.port],
      leaf: await world.ca.leaf('localhost', '127.0.0.1'),
    })
    setDefaultCACertificates([...authorities, world.ca.pem])
    await proxy.start()
    const { body } = await gw.rest('GET', '/v1/credits')
    expect(body.balance).toBe(1000)
    ;({ capability } = await gw.grant({
      credential: {
        label: 'api',
        hosts: [`${UPSTREAM_HOST}:${world.upstream.port}`],
        path_prefixes: ['/v1'],
      },
    }))
  })
  afterAll(async () => {
    await proxy?.stop()
    await gw?.close()
    await world?.close()
    setDefaultCACertificates(authorities)
  })

  const bearer = () => ({ authorization: `Bearer ${capability}` })

  it('its own check takes the sample as it is', () => {
    expect(proxy.checked.code, proxy.checked.said).toBe(0)
    // The names of a test certificate are nobody's, and its port is not 443: of that Caddy warns as well.
    const warnings = proxy.checked.said.split('\n').filter((line) => /\bwarn/i.test(line))
    expect(warnings.filter((line) => !/"logger":"(?:tls|http)"/.test(line))).toEqual([])
  })

  // nginx and Caddy are given their user by what Debian has around the samples.
  if (name === 'haproxy')
    it('is not root, and sees no file of the machine, where root started it', async () => {
      // It listens a moment before that; it answers after.
      expect((await ask('/healthz')).status).toBe(200)
      const [, uid] = /^Uid:\t(\d+)/m.exec(await readFile(`/proc/${proxy.pid()}/status`, 'utf8'))!
      const seen = await readlink(`/proc/${proxy.pid()}/root`)
      const own = process.getuid!()
      const [, user] = /^haproxy:[^:]*:(\d+):/m.exec(await readFile('/etc/passwd', 'utf8'))!
      expect([uid, seen]).toEqual(own === 0 ? [user, '/var/lib/haproxy'] : [String(own), '/'])
    })

  it('a paid call is challenged, paid and answered with a receipt', async () => {
    world.upstream.respond((_request, res) =>
      res.writeHead(200, { 'content-type': 'text/plain' }).end('a page'),
    )
    const payer = chain.payers[payers++]!
    const before = await chain.usdcOf(payer.address)
    const buyer = createRestBuyer(base, payer)
    const challenge = await buyer.send(PAID, { url: world.url('/page') })
    expect(challenge.status, challenge.text).toBe(402)
    const required = fromHeader<{ resource: { url: string } }>(challenge.headers.get('payment-required'))
    expect(required.resource.url).toBe(base + PAID)
    const answer = await buyer.send(PAID, { url: world.url('/page') }, await buyer.sign(challenge))
    expect(answer.status, answer.text).toBe(200)
    expect(answer.text).toContain('a page')
    expect(answer.headers.get('payment-response')).toBeTruthy()
    expect(await chain.usdcOf(payer.address)).toBeLessThan(before)
  })

  // The sample of nginx has none, for its releases disagree how to say it.
  if (name !== 'nginx')
    it('a challenge comes over HTTP/2 as well', async () => {
      const session = connectHttp2(base, { ca: world.ca.pem })
      const stream = session.request({
        ':method': 'POST',
        ':path': PAID,
        'content-type': 'application/json',
      })
      stream.end(JSON.stringify({ url: world.url('/page') }))
      const [headers] = (await once(stream, 'response')) as [IncomingHttpHeaders]
      expect(headers[':status']).toBe(402)
      expect(headers['payment-required']).toBeTruthy()
      await text(stream)
      session.close()
    })

  it('each event of a stream arrives before the next one is made', async () => {
    let next: ((event: string) => void) | undefined
    world.upstream.respond((_request, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' })
      next = (event) => (event === '' ? res.end() : res.write(`data: ${event}\n\n`))
      next('one')
    })
    const answer = await fetch(`${base}/via/api/v1/stream`, { headers: bearer() })
    const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader()
    let seen = ''
    const until = async (event: string) => {
      while (!seen.includes(`data: ${event}`)) {
        const { value, done } = await reader.read()
        if (done) throw new Error(`the stream ended before ${event}: ${seen}`)
        seen += value
      }
    }
    for (const [event, following] of [
      ['one', 'two'],
      ['two', 'three'],
      ['three', ''],
    ] as const) {
      await until(event)
      next!(following)
    }
    expect(seen).not.toContain('undefined')
  })

  it('an answer of an upstream has the proxy ask for nothing else', async () => {
    world.upstream.respond((_request, res) =>
      res.writeHead(200, { 'x-accel-redirect': '/via/api/v1/other', 'x-sendfile': '/etc/passwd' }).end('ok'),
    )
    const before = world.upstream.requests.length
    const answer = await ask('/via/api/v1/asked', { headers: bearer() })
    expect([answer.status, answer.body]).toEqual([200, 'ok'])
    expect(world.upstream.requests.slice(before).map(({ target }) => target)).toEqual(['/v1/asked'])
  })

  it('a WebSocket passes messages both ways', async () => {
    serveWebSockets(world.upstream)
    const socket = await connectWebSocket(`${base.replace('https', 'wss')}/via/api/v1/live`, {
      headers: bearer(),
      ca: world.ca.pem,
    })
    for (const message of ['hello', 'x'.repeat(70_000)]) {
      socket.ws.send(message)
      expect((await socket.next()).data.toString()).toBe(message)
    }
    socket.ws.close(4000, 'done')
    expect(await socket.closed).toEqual({ code: 4000, reason: 'done' })
    world.upstream.upgrade(undefined)
  })

  it.each([5, 15])('an answer with %s KiB of headers arrives', async (kib) => {
    const value = 'v'.repeat(kib * KIB)
    world.upstream.respond((_request, res) => res.writeHead(200, { 'x-long': value }).end('ok'))
    const answer = await ask('/via/api/v1/long', { headers: bearer() })
    expect(answer.status, answer.body).toBe(200)
    expect(answer.headers['x-long']).toBe(value)
  })

  it('15 KiB of request headers reach the gateway; more is refused in its words', async () => {
    const taken = await ask('/healthz', { headers: { 'x-long': 'v'.repeat(15 * KIB) } })
    expect(taken.status, taken.body).toBe(200)
    const refused = await ask('/healthz', { headers: { 'x-long': 'v'.repeat(17 * KIB) } })
    expect([refused.status, JSON.parse(refused.body).code]).toEqual([431, 'headers_too_large'])
  })

  it('a body that is too large is refused in the words of the gateway', async () => {
    const refused = await ask('/v1/inspect', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ text: 'x'.repeat(2 * KIB * KIB) }),
    })
    expect([refused.status, JSON.parse(refused.body).code], refused.body).toEqual([413, 'body_too_large'])
  })

  it('the target of a request reaches the gateway as it was sent, and by it the upstream', async () => {
    world.upstream.respond((_request, res) => res.end('ok'))
    for (const target of ['/v1/c%20d?x=%7E&y=a%2Fb+c', '/v1/%E4%B8%AD']) {
      const answer = await ask(`/via/api${target}`, { headers: bearer() })
      expect(answer.status, answer.body).toBe(200)
      expect(world.upstream.requests.at(-1)!.target).toBe(target)
    }
    // What servers disagree on is refused, and not first made into something else.
    for (const instance of ['/via/api/v1/a%2Fb', '/via/api/v1//c', '/via/api/v1/%2e%2e/v2']) {
      const refused = await ask(instance, { headers: bearer() })
      expect(JSON.parse(refused.body)).toMatchObject({ status: 400, code: 'target_invalid', instance })
    }
  })

  it('callers are counted by their own address, whatever they say of it', async () => {
    const call = async (from: string, says: string) => {
      const { status } = await ask('/v1/protocols', {
        localAddress: from,
        headers: { 'x-forwarded-for': says, forwarded: `for=${says}` },
      })
      return status
    }
    const statuses: number[] = []
    for (let i = 0; i <= LIMIT; i++) statuses.push(await call('127.0.0.8', `192.0.2.${i}`))
    expect(statuses).toEqual([...Array<number>(LIMIT).fill(200), 429])
    expect(await call('127.0.0.9', '127.0.0.8')).toBe(200)
  })

  interface Asking {
    readonly method?: string
    readonly headers?: Readonly<Record<string, string>>
    readonly body?: string
    readonly localAddress?: string
  }
  /** One request on a connection of its own; the answer counts, also where it comes before the whole body went. */
  function ask(target: string, { body, ...options }: Asking = {}) {
    const port = new URL(base).port
    return new Promise<{ status: number; headers: Record<string, unknown>; body: string }>(
      (resolve, reject) => {
        const req = request(
          // The host is a number: `localAddress` is of IPv4.
          {
            host: '127.0.0.1',
            servername: 'localhost',
            port,
            path: target,
            agent: false,
            ca: world.ca.pem,
            maxHeaderSize: 64 * KIB,
            ...options,
            headers: { host: `localhost:${port}`, ...options.headers },
          },
          (res) =>
            void text(res).then(
              (said) => resolve({ status: res.statusCode!, headers: res.headers, body: said }),
              reject,
            ),
        )
        req.on('error', reject)
        req.end(body)
      },
    )
  }
})
