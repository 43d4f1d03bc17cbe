import { createServer, type IncomingHttpHeaders, type RequestListener, type Server } from 'node:http'
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { createGatewayRelay, type Relayed } from '../../../../src/cli/run/relay.ts'
import { Secret } from '../../../../src/lib/secret.ts'
import { newToken } from '../../../../src/lib/tokens.ts'
import { exchange } from '../../../support/proxy-client.ts'

const servers: Server[] = []
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve))))
})

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const held = () => ({
  id: 'cap_1',
  credentialId: 'crd_1',
  token: new Secret('agw_cap_of_the_run'),
  expiresAt: 0,
})
const chunked = (body: string) =>
  `Transfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`

describe('the door of a run', () => {
  it('hands on what the program says, with the capability of the run, and nothing of proxies and pages', async () => {
    let seen: { url: string | undefined; headers: IncomingHttpHeaders } | undefined
    const gateway = await serve((req, res) => {
      seen = { url: req.url, headers: req.headers }
      res.writeHead(200, { 'x-gateway-attempt': 'att_1' }).end('hello')
    })
    const relay = createGatewayRelay(gateway)
    let relayed: Promise<Relayed> | undefined
    const door = await serve((req, res) => {
      relayed = relay.send(req, res, '/v1/%7Ea?b=1', held())
    })
    const answer = await fetch(door, {
      headers: {
        'x-own': 'kept',
        'x-gateway-capability': 'agw_cap_of_the_program',
        'proxy-authorization': 'Basic eA==',
        'sec-fetch-site': 'cross-site',
        'sec-fetch-dest': 'image',
      },
    })
    expect(await answer.text()).toBe('hello')
    expect(await relayed).toEqual({ attempt: 'att_1', refused: undefined })
    expect(seen?.url).toBe('/via/crd_1/v1/%7Ea?b=1')
    expect(seen?.headers).toMatchObject({ 'x-own': 'kept', 'x-gateway-capability': 'agw_cap_of_the_run' })
    for (const name of ['proxy-authorization', 'sec-fetch-site', 'sec-fetch-dest'])
      expect(seen?.headers).not.toHaveProperty(name)
    relay.close()
  })

  it.each([
    ['as long as the gateway takes from an upstream, with what it adds', 15_500, 2_500, 200],
    ['longer than that by far', 70_000, 0, 502],
  ])('reads the head of an answer that is %s', async (_how, ofUpstream, ofGateway, status) => {
    const gateway = await serve((_req, res) =>
      res
        .writeHead(200, {
          'x-of-upstream': 'a'.repeat(ofUpstream),
          'x-gateway-attempt': 'att_1',
          'x-gateway-receipt': 'b'.repeat(ofGateway),
        })
        .end('hello'),
    )
    const relay = createGatewayRelay(gateway)
    const door = await serve((req, res) => void relay.send(req, res, '/v1', held()))
    const answer = await exchange(
      connect(Number(new URL(door).port), '127.0.0.1'),
      'GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n',
    )
    expect(answer.status).toBe(status)
    if (status === 200) expect(answer.head).toContain(`x-of-upstream: ${'a'.repeat(ofUpstream)}`)
    relay.close()
  })

  it('takes all of a request that was answered before, and the next one on the same connection', async () => {
    const answers = ['413 Too Large', '200 OK']
    const reader = createTcpServer((socket) => {
      socket.on('error', () => {})
      // Reads a head, answers, and nothing more.
      socket.once('data', () =>
        socket.pause().write(`HTTP/1.1 ${answers.shift()}\r\nContent-Length: 3\r\n\r\nbig`),
      )
    })
    await new Promise<void>((resolve) => reader.listen(0, '127.0.0.1', resolve))
    const relay = createGatewayRelay(`http://127.0.0.1:${(reader.address() as AddressInfo).port}`)
    const door = await serve((req, res) => void relay.send(req, res, '/v1', held()))
    const socket = connect(Number(new URL(door).port), '127.0.0.1').pause()
    const size = 24 * 1024 * 1024
    socket.write(`POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${size}\r\n\r\n`)
    await new Promise<void>((resolve) => socket.write(Buffer.alloc(size, 'a'), () => resolve()))
    const first = exchange(socket, '')
    socket.resume()
    expect(await first).toMatchObject({ status: 413, body: 'big' })
    expect(await exchange(socket, 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')).toMatchObject({ status: 200 })
    socket.destroy()
    relay.close()
    reader.close()
  }, 20_000)

  const OTHER = newToken('cap')
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  it.each([
    ['as a bearer token', 'authorization', `Bearer ${OTHER}`, undefined],
    ['as the user of Basic', 'authorization', `Basic ${base64(`${OTHER}:`)}`, undefined],
    ['as the password of Basic', 'authorization', `Basic ${base64(`agent:${OTHER}`)}`, undefined],
    ['as a key', 'x-api-key', OTHER, undefined],
    ['in a cookie', 'cookie', `a=b; key=${OTHER}`, undefined],
    ['among subprotocols', 'sec-websocket-protocol', `v1, openai-insecure-api-key.${OTHER}, v2`, 'v1, v2'],
    ['as the one subprotocol', 'sec-websocket-protocol', `openai-insecure-api-key.${OTHER}`, undefined],
  ])(
    'keeps a token of the gateway back that the program has from elsewhere: %s',
    async (_, name, value, left) => {
      let seen: IncomingHttpHeaders = {}
      const gateway = await serve((req, res) => {
        seen = req.headers
        res.end()
      })
      const relay = createGatewayRelay(gateway)
      const door = await serve((req, res) => void relay.send(req, res, '/v1', held()))
      await exchange(
        connect(Number(new URL(door).port), '127.0.0.1'),
        `GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-Own: kept\r\n${name}: ${value}\r\n\r\n`,
      )
      expect(seen).toMatchObject({ 'x-own': 'kept', 'x-gateway-capability': 'agw_cap_of_the_run' })
      expect(seen[name]).toBe(left)
      relay.close()
    },
  )

  it.each([
    ['GET', 'Content-Length', (body: string) => `Content-Length: ${body.length}\r\n\r\n${body}`],
    ['HEAD', 'Content-Length', (body: string) => `Content-Length: ${body.length}\r\n\r\n${body}`],
    ['DELETE', 'Transfer-Encoding', chunked],
    ['GET', 'Transfer-Encoding', chunked],
  ])('makes one request of a %s whose Connection header names its %s', async (method, named, frame) => {
    const seen: string[] = []
    const gateway = await serve((req, res) => {
      let body = ''
      req.on('data', (piece) => (body += String(piece)))
      req.on('end', () => {
        seen.push(`${req.method} ${req.url} ${body}`)
        res.end('hello')
      })
    })
    const relay = createGatewayRelay(gateway)
    const door = await serve((req, res) => void relay.send(req, res, '/v1', held()))
    const hidden = 'POST /v1/egress/fetch HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n'
    const socket = connect(Number(new URL(door).port), '127.0.0.1')
    const answer = await exchange(
      socket,
      `${method} / HTTP/1.1\r\nHost: localhost\r\nConnection: ${named}, close\r\n${frame(hidden)}`,
    )
    expect(answer.status).toBe(200)
    // What was hidden would be answered before another request on the same connection.
    await (await fetch(door)).text()
    expect(seen).toEqual([`${method} /via/crd_1/v1 ${hidden}`, 'GET /via/crd_1/v1 '])
    relay.close()
  })

  it.each(['/../../mcp', '/v1/%2e%2e/%2E%2E/mcp', '/v1/..%2f..', '//mcp', '/v1\\..\\mcp', '/..;a/mcp'])(
    'hands on no path that a proxy before the gateway could lead out of /via/: %s',
    async (path) => {
      let asked = 0
      const gateway = await serve((_req, res) => {
        asked++
        res.end()
      })
      const relay = createGatewayRelay(gateway)
      const door = await serve((req, res) => void relay.send(req, res, path, held()))
      expect([(await fetch(door)).status, asked]).toEqual([400, 0])
      relay.close()
    },
  )

  it.each([
    [
      'in words',
      403,
      {},
      '{"code":"scope_denied","detail":"No rule allows this."}',
      { code: 'scope_denied', detail: 'No rule allows this.' },
    ],
    [
      'without words',
      429,
      {},
      'slow down',
      { code: 'status_429', detail: 'The gateway refused it with status 429.' },
    ],
    ['by its upstream', 403, { 'x-gateway-attempt': 'att_1' }, '{"code":"no","detail":"No."}', undefined],
  ])('tells what the gateway refused, %s', async (_how, status, headers, body, refused) => {
    const gateway = await serve((_req, res) => res.writeHead(status, headers).end(body))
    const relay = createGatewayRelay(gateway)
    let relayed: Promise<Relayed> | undefined
    const door = await serve((req, res) => {
      relayed = relay.send(req, res, '/', held())
    })
    const answer = await fetch(door)
    expect([answer.status, await answer.text()]).toEqual([status, body])
    expect((await relayed)?.refused).toEqual(refused)
    relay.close()
  })

  const toldToRetry = ({ headers }: Response) =>
    ['x-should-retry', 'stripe-should-retry'].map((name) => headers.get(name))

  it.each(['http://127.0.0.1:1', 'http://gateway.invalid', 'https://127.0.0.1:1'])(
    'tells the program that the gateway does not answer, and leaves a retry to its library: %s',
    async (gateway) => {
      const relay = createGatewayRelay(gateway)
      let relayed: Promise<Relayed> | undefined
      const door = await serve((req, res) => {
        relayed = relay.send(req, res, '/', held())
      })
      const answer = await fetch(door, { method: 'POST', body: 'once' })
      expect([answer.status, await answer.text()]).toEqual([
        502,
        'The gateway behind this proxy does not answer.\n',
      ])
      expect(toldToRetry(answer)).toEqual([null, null])
      expect((await relayed)?.refused?.detail).toBe('The gateway behind this proxy does not answer.')
      relay.close()
    },
  )

  it.each([
    ['its first request', 0],
    ['a request on a connection that was kept', 1],
  ])(
    'tells the libraries of a program not to send again what the gateway took before it was gone: %s',
    async (_, answered) => {
      const bodies: string[] = []
      const gateway = await serve((req, res) => {
        let body = ''
        req.on('data', (piece) => (body += String(piece)))
        req.on('end', () => {
          bodies.push(body)
          if (bodies.length > answered) req.socket.destroy()
          else res.end()
        })
      })
      const relay = createGatewayRelay(gateway)
      const door = await serve((req, res) => void relay.send(req, res, '/v1/charges', held()))
      const post = () => fetch(door, { method: 'POST', body: 'amount=100' })
      for (let i = 0; i < answered; i++) expect((await post()).status).toBe(200)
      const answer = await post()
      expect(bodies.at(-1)).toBe('amount=100')
      expect(answer.status).toBe(502)
      expect(toldToRetry(answer)).toEqual(['false', 'false'])
      expect(await answer.text()).toContain('Whether it was sent is not known')
      expect(bodies).toHaveLength(answered + 1)
      relay.close()
    },
  )

  it.each(['the program went away', 'the relay was closed'])(
    'asks the gateway for nothing once %s, and says that it is over',
    async (end) => {
      let asked = 0
      const gateway = await serve((_req, res) => {
        asked++
        res.end()
      })
      const relay = createGatewayRelay(gateway)
      const { promise: relayed, resolve } = Promise.withResolvers<Relayed>()
      let program: Socket | undefined
      const door = await serve((req, res) => {
        const send = () => void relay.send(req, res, '/v1', held()).then(resolve)
        if (end === 'the relay was closed') {
          relay.close()
          return send()
        }
        // Everybody else was told of the end by then.
        res.once('close', () => setImmediate(send))
        program?.destroy()
      })
      program = connect(Number(new URL(door).port), '127.0.0.1').on('error', () => {})
      program.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
      expect(await relayed).toEqual({ attempt: undefined, refused: undefined })
      expect(asked).toBe(0)
      program.destroy()
      relay.close()
    },
  )
})
