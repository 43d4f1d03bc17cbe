import { createServer, type RequestListener, type Server } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { createPlainSender } from '../../../src/discovery/adapters/plain-http.ts'
import { createOutbound, type OutboundGet } from '../../../src/discovery/outbound.ts'
import { createAddressPolicy } from '../../../src/egress/address.ts'
import { type OutboundRequest, ResolveError, type SendResult } from '../../../src/egress/ports.ts'
import { Secret } from '../../../src/lib/secret.ts'

const signal = new AbortController().signal

describe('a request to the outside', () => {
  const DNS: Readonly<Record<string, readonly string[]>> = {
    'public.example.com': ['93.184.216.34', '2606:2800:220:1::1'],
    'half.example.com': ['93.184.216.34', '10.0.0.1'],
    'local.example.com': ['127.0.0.1'],
    'empty.example.com': [],
  }

  function setUp(over: { allowed?: boolean | Error; result?: SendResult } = {}) {
    const sent: { over: 'https' | 'http'; request: OutboundRequest }[] = []
    let now = 0
    const senderOf = (kind: 'https' | 'http') => ({
      async send(request: OutboundRequest): Promise<SendResult> {
        sent.push({ over: kind, request })
        return (
          over.result ?? {
            ok: true,
            response: { status: 200, statusText: '', headers: [], body: Buffer.from('{}') },
          }
        )
      },
      close: async () => {},
    })
    const outbound = createOutbound({
      resolver: {
        async resolve(host) {
          now += 400
          const addresses = DNS[host]
          if (!addresses) throw new ResolveError('not_found')
          return addresses
        },
      },
      sender: senderOf('https'),
      plainSender: senderOf('http'),
      policy: createAddressPolicy([]),
      ports: [443],
      checkHost: async () => {
        if (over.allowed instanceof Error) throw over.allowed
        return { ok: over.allowed ?? true }
      },
      now: () => now,
    })
    const get = (url: string, more: Partial<OutboundGet> = {}) =>
      outbound.get({ url, timeoutMs: 1000, maxBytes: 10, signal, ...more })
    return { get, sent }
  }

  it('goes once, to the vetted addresses, in what is left of its time, and says nothing about anybody', async () => {
    const { get, sent } = setUp()
    expect(await get('https://public.example.com/a?b=c')).toMatchObject({
      ok: true,
      response: { status: 200 },
    })
    expect(sent).toHaveLength(1)
    const { over, request } = sent[0]!
    expect(over).toBe('https')
    expect(request).toMatchObject({
      method: 'GET',
      addresses: DNS['public.example.com'],
      body: undefined,
      timeoutMs: 600,
      maxResponseBytes: 10,
    })
    expect(request.headers.use((headers) => headers.map(([name]) => name))).toEqual([
      'accept',
      'accept-encoding',
      'user-agent',
    ])
  })

  it.each<[string, string, boolean, string]>([
    ['a private address among public ones', 'https://half.example.com/', false, 'not_public'],
    ['a name of this machine', 'https://local.example.com/', false, 'not_public'],
    ['an address', 'https://93.184.216.34/', false, 'not_public'],
    ['a port that is not allowed', 'https://public.example.com:8443/', false, 'not_public'],
    ['plain http', 'http://public.example.com/', false, 'target_invalid'],
    ['a file', 'file:///etc/passwd', false, 'target_invalid'],
    ['no name', 'https://nobody.example.com/', false, 'name_unresolved'],
    ['a name without an address', 'https://empty.example.com/', false, 'name_unresolved'],
    ['a configured private address', 'http://10.0.0.1/', true, 'not_public'],
    ['a configured name of this machine', 'http://local.example.com/', true, 'not_public'],
    ['a configured name of the local network', 'https://printer.lan/', true, 'not_public'],
    ['configured credentials', 'http://user:pw@public.example.com/', true, 'target_invalid'],
    ['configured nonsense', 'nonsense', true, 'target_invalid'],
  ])('does not go to %s', async (_, url, isConfigured, reason) => {
    const { get, sent } = setUp()
    expect(await get(url, { isConfigured })).toEqual({ ok: false, reason })
    expect(sent).toEqual([])
  })

  it.each<[string, string, 'https' | 'http']>([
    ['plain http', 'http://public.example.com/', 'http'],
    ['a public address', 'http://93.184.216.34/', 'http'],
    ['a port of its own', 'https://public.example.com:8443/', 'https'],
  ])('goes by %s where the operator configured that', async (_, url, over) => {
    const { get, sent } = setUp()
    expect(await get(url, { isConfigured: true })).toMatchObject({ ok: true })
    expect(sent).toMatchObject([{ over }])
  })

  it.each<[string, boolean | Error]>([
    ['denies the host', false],
    ['cannot be read', new Error('disk')],
  ])('does not go anywhere while the policy of the operator %s', async (_, allowed) => {
    const { get, sent } = setUp({ allowed })
    expect(await get('https://public.example.com/')).toEqual({ ok: false, reason: 'denied' })
    expect(sent).toEqual([])
  })

  it.each<[SendResult, string]>([
    [{ ok: false, phase: 'before_send', reason: 'timeout' }, 'timeout'],
    [{ ok: false, phase: 'after_send', reason: 'timeout' }, 'timeout'],
    [{ ok: false, phase: 'before_send', reason: 'tls_failed' }, 'unreachable'],
    [{ ok: false, phase: 'after_send', reason: 'reset' }, 'unreachable'],
    [{ ok: false, phase: 'response', status: 200, reason: 'too_large' }, 'too_large'],
    [{ ok: false, phase: 'response', status: 200, reason: 'encoded' }, 'unreadable'],
  ])('sorts %o', async (result, reason) => {
    const { get } = setUp({ result })
    expect(await get('https://public.example.com/')).toEqual({ ok: false, reason })
  })
})

describe('plain http', () => {
  let server: Server | ReturnType<typeof createTcpServer> | undefined
  afterEach(() => new Promise<void>((resolve) => (server ? server.close(() => resolve()) : resolve())))

  async function listen(given: NonNullable<typeof server>): Promise<number> {
    server = given
    await new Promise<void>((resolve) => given.listen(0, '127.0.0.1', resolve))
    return (given.address() as AddressInfo).port
  }
  const get = (port: number, over: Partial<OutboundRequest> = {}) =>
    createPlainSender().send({
      method: 'GET',
      url: new URL(`http://catalogue.example.com:${port}/a?b=c`),
      addresses: ['127.0.0.1'],
      headers: new Secret([['accept', 'application/json'] as const]),
      body: undefined,
      partition: 'x',
      timeoutMs: 5000,
      maxResponseBytes: 100,
      ...over,
    })
  const answering = (listener: RequestListener) => listen(createServer(listener))

  it('dials the vetted address and asks for the host by its name', async () => {
    const asked: unknown[] = []
    const port = await answering((req, res) => {
      asked.push([req.method, req.url, req.headers.host, req.headers.accept])
      res.end('{}')
    })
    expect(await get(port)).toMatchObject({ ok: true, response: { status: 200, body: Buffer.from('{}') } })
    expect(asked).toEqual([['GET', '/a?b=c', `catalogue.example.com:${port}`, 'application/json']])
  })

  it.each<[string, RequestListener, object]>([
    [
      'a redirect',
      (_, res) => res.writeHead(302, { location: 'http://127.0.0.1/' }).end(),
      { ok: true, response: { status: 302 } },
    ],
    ['too much', (_, res) => res.end('x'.repeat(101)), { phase: 'response', reason: 'too_large' }],
    [
      'an encoding',
      (_, res) => res.writeHead(200, { 'content-encoding': 'gzip' }).end('x'),
      { reason: 'encoded' },
    ],
    ['a part', (_, res) => res.writeHead(206).end('x'), { reason: 'bad_status' }],
    ['nothing', (_, res) => void res.destroy(), { phase: 'after_send', reason: 'reset' }],
    [
      'less than it promised',
      (_, res) => res.writeHead(200, { 'content-length': '50' }).write('x', () => res.destroy()),
      { phase: 'after_send', reason: 'reset' },
    ],
  ])('that answers with %s', async (_, listener, expected) => {
    expect(await get(await answering(listener))).toMatchObject(expected)
  })

  it('that is not HTTP, not there, or given up', async () => {
    const port = await listen(
      createTcpServer((socket) =>
        socket
          .on('error', () => {})
          .resume()
          .end('hello\r\n\r\n'),
      ),
    )
    expect(await get(port)).toMatchObject({ ok: false, phase: 'after_send' })
    const gone = new AbortController()
    gone.abort()
    expect(await get(port, { signal: gone.signal })).toMatchObject({ ok: false, reason: 'timeout' })
    await new Promise<void>((resolve) => server!.close(() => resolve()))
    server = undefined
    expect(await get(port)).toMatchObject({ ok: false, phase: 'before_send', reason: 'connect_failed' })
  })
})
