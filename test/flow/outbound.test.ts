// The sender against real TLS servers on loopback: one request on the wire, and the right word for how it ended.
import type { TLSSocket } from 'node:tls'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createSender } from '../../src/egress/adapters/undici.ts'
import type { OutboundRequest, Sender } from '../../src/egress/ports.ts'
import { type Fault, noFault, parseFault } from '../../src/lib/fault-points.ts'
import { Secret } from '../../src/lib/secret.ts'
import { createTestCa, type Leaf, type TestCa } from '../support/ca.ts'
import { LOOPBACK_NETWORK_IS_PUBLIC } from '../support/loopback.ts'
import { startRawUpstream, startUpstream } from '../support/upstream.ts'

const HOST = 'api.example.com'
let ca: TestCa
let leaf: Leaf
beforeAll(async () => {
  ca = await createTestCa()
  leaf = await ca.leaf(HOST)
})

const closers: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close()
})
function closing<T extends { close(): Promise<void> }>(thing: T): T {
  closers.push(() => thing.close())
  return thing
}

const openSender = (fault = noFault): Sender =>
  createSender({ fault, policy: LOOPBACK_NETWORK_IS_PUBLIC, ca: [ca.pem] })
const newSender = (fault?: Fault): Sender => closing(openSender(fault))

function requestTo(port: number, changes: Partial<OutboundRequest> = {}): OutboundRequest {
  return {
    method: 'GET',
    url: new URL(`https://${HOST}:${port}/v1/things?limit=1`),
    addresses: ['127.0.0.1'],
    headers: new Secret([
      ['accept', '*/*'],
      ['accept-encoding', 'identity'],
      ['authorization', 'Bearer sk_test_0123456789'],
    ] as const),
    body: undefined,
    partition: 'cred_1',
    timeoutMs: 60_000,
    maxResponseBytes: 4096,
    ...changes,
  }
}

const post = { method: 'POST', body: Buffer.from('{"a":1}') }

test('sends the request as given and returns the answer as received', async () => {
  const upstream = closing(await startUpstream(leaf))
  upstream.respond((_request, res) => {
    res.writeHead(201, 'Made', [
      ['content-type', 'application/json'],
      ['link', '<a>; rel=next'],
      ['link', '<b>; rel=last'],
    ] as never)
    res.end('{"id":1}')
  })
  const result = await newSender().send(requestTo(upstream.port, post))
  expect(result).toMatchObject({ ok: true, response: { status: 201, statusText: 'Made' } })
  if (!result.ok) return
  expect(result.response.body.toString()).toBe('{"id":1}')
  expect(result.response.headers.filter(({ name }) => name === 'link')).toEqual([
    { name: 'link', value: '<a>; rel=next' },
    { name: 'link', value: '<b>; rel=last' },
  ])
  expect(upstream.requests).toHaveLength(1)
  const [received] = upstream.requests
  expect(received).toMatchObject({ method: 'POST', target: '/v1/things?limit=1', servername: HOST })
  expect(received!.body.toString()).toBe('{"a":1}')
  expect(Object.fromEntries(received!.headers)).toMatchObject({
    host: `${HOST}:${upstream.port}`,
    authorization: 'Bearer sk_test_0123456789',
    'accept-encoding': 'identity',
    'content-length': '7',
  })
})

test('dials the vetted address of a name that no resolver knows', async () => {
  const pinned = 'pinned.invalid'
  const upstream = closing(await startUpstream(await ca.leaf(pinned)))
  const url = new URL(`https://${pinned}:${upstream.port}/`)
  const result = await newSender().send(requestTo(upstream.port, { url }))
  expect(result).toMatchObject({ ok: true, response: { status: 200 } })
  expect(upstream.requests[0]!.servername).toBe(pinned)
})

describe('nothing is sent, and said so', () => {
  test('when the certificate is for another name', async () => {
    const upstream = closing(await startUpstream(await ca.leaf('other.example.com')))
    const result = await newSender().send(requestTo(upstream.port, post))
    expect(result).toEqual({ ok: false, phase: 'before_send', reason: 'tls_failed', tls: 'wrong_name' })
    expect(upstream.requests).toHaveLength(0)
  })

  test('when the certificate is not from a trusted root', async () => {
    const stranger = await createTestCa()
    const upstream = closing(await startUpstream(await stranger.leaf(HOST)))
    const result = await newSender().send(requestTo(upstream.port))
    expect(result).toEqual({ ok: false, phase: 'before_send', reason: 'tls_failed', tls: 'untrusted' })
  })

  test('when nobody listens', async () => {
    const upstream = await startUpstream(leaf)
    await upstream.close()
    const result = await newSender().send(requestTo(upstream.port))
    expect(result).toEqual({ ok: false, phase: 'before_send', reason: 'connect_failed' })
  })

  test('when there is no address to dial', async () => {
    const result = await newSender().send(requestTo(443, { addresses: [] }))
    expect(result).toEqual({ ok: false, phase: 'before_send', reason: 'connect_failed' })
  })

  test('when the library refuses the request', async () => {
    const upstream = closing(await startUpstream(leaf))
    const headers = new Secret([['x-a', 'v\r\nx-b: w']] as const)
    const result = await newSender().send(requestTo(upstream.port, { headers }))
    expect(result).toEqual({ ok: false, phase: 'before_send', reason: 'request_rejected' })
    expect(upstream.requests).toHaveLength(0)
  })

  test('when the peer accepts the connection and never speaks TLS', async () => {
    const { createServer } = await import('node:net')
    const sockets: { destroy(): void }[] = []
    const server = createServer((socket) => void sockets.push(socket.on('error', () => {})))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    closers.push(async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    })
    const { port } = server.address() as { port: number }
    const result = await newSender().send(requestTo(port, { timeoutMs: 200 }))
    expect(result).toEqual({ ok: false, phase: 'before_send', reason: 'timeout' })
  })

  test('when a fault strikes before the connection', async () => {
    const upstream = closing(await startUpstream(leaf))
    const result = await newSender(parseFault('before_connect:throw')).send(requestTo(upstream.port))
    expect(result).toMatchObject({ ok: false, phase: 'before_send' })
    expect(upstream.connections).toBe(0)
  })
})

test('goes on to the next vetted address when the first cannot be reached', async () => {
  const upstream = closing(await startUpstream(leaf))
  const addresses = ['127.0.0.2', '127.0.0.1']
  expect(await newSender().send(requestTo(upstream.port, { addresses }))).toMatchObject({ ok: true })
  expect(upstream.requests).toHaveLength(1)
})

const ok = 'HTTP/1.1 200 OK\r\n'
const filler = 'a'.repeat(1000)
/** A connection is made and the request sent well within it, also where the machine has other things to do. */
const SENT_IN_TIME_MS = 3_000

/** Exactly one receipt each, whatever the answer. */
const answers: Readonly<
  Record<
    string,
    { write: (socket: TLSSocket) => void; expected: object; timeoutMs?: number; method?: 'HEAD' }
  >
> = {
  'resets the connection': {
    write: (socket) => socket.destroy(),
    expected: { ok: false, phase: 'after_send', reason: 'reset' },
  },
  'stalls without an answer': {
    write: () => {},
    timeoutMs: SENT_IN_TIME_MS,
    expected: { ok: false, phase: 'after_send', reason: 'timeout' },
  },
  'stalls within the body': {
    write: (socket) => socket.write(`${ok}content-length: 10\r\n\r\nabc`),
    timeoutMs: SENT_IN_TIME_MS,
    expected: { ok: false, phase: 'after_send', reason: 'timeout' },
  },
  'trickles for longer than the deadline': {
    write(socket) {
      socket.write(`${ok}content-length: 100000\r\n\r\n`.replace('100000', '4000'))
      const drip = setInterval(() => socket.write('a'), 20)
      socket.on('close', () => clearInterval(drip))
    },
    timeoutMs: SENT_IN_TIME_MS,
    expected: { ok: false, phase: 'after_send', reason: 'timeout' },
  },
  'sends 64 KiB of headers': {
    write: (socket) =>
      socket.end(ok + Array.from({ length: 66 }, (_, i) => `x-${i}: ${filler}\r\n`).join('') + '\r\n'),
    expected: { ok: false, phase: 'after_send', reason: 'malformed' },
  },
  'sends both Content-Length and Transfer-Encoding': {
    write: (socket) =>
      socket.end(`${ok}content-length: 3\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`),
    expected: { ok: false, phase: 'after_send', reason: 'malformed' },
  },
  'sends two lengths': {
    write: (socket) => socket.end(`${ok}content-length: 3\r\ncontent-length: 4\r\n\r\nabcd`),
    expected: { ok: false, phase: 'after_send', reason: 'malformed' },
  },
  'speaks HTTP/0.9': {
    write: (socket) => socket.end('<html>hello</html>'),
    expected: { ok: false, phase: 'after_send', reason: 'malformed' },
  },
  'ends lines with a bare LF': {
    write: (socket) => socket.end('HTTP/1.1 200 OK\ncontent-length: 2\n\nok'),
    expected: { ok: false, phase: 'after_send', reason: 'malformed' },
  },
  'folds a header over two lines': {
    write: (socket) => socket.end(`${ok}x-a: b\r\n c\r\ncontent-length: 0\r\n\r\n`),
    expected: { ok: false, phase: 'after_send', reason: 'malformed' },
  },
  'ends the body early': {
    write: (socket) => socket.end(`${ok}content-length: 10\r\n\r\nabc`),
    expected: { ok: false, phase: 'after_send', reason: 'body_incomplete' },
  },
  'ends within a chunk': {
    write: (socket) => socket.end(`${ok}transfer-encoding: chunked\r\n\r\na\r\nabc`),
    expected: { ok: false, phase: 'after_send', reason: 'body_incomplete' },
  },
  'closes its half and says nothing': {
    write: (socket) => socket.end(),
    expected: { ok: false, phase: 'after_send', reason: 'reset' },
  },
  'switches protocols': {
    write: (socket) =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n'),
    expected: { ok: false, phase: 'after_send', reason: 'malformed' },
  },
  'continues fifty times': {
    write: (socket) =>
      socket.end('HTTP/1.1 100 Continue\r\n\r\n'.repeat(50) + `${ok}content-length: 2\r\n\r\nok`),
    expected: { ok: true, response: { status: 200, body: Buffer.from('ok') } },
  },
  'continues without an end': {
    write: (socket) =>
      socket.end('HTTP/1.1 100 Continue\r\n\r\n'.repeat(500) + `${ok}content-length: 0\r\n\r\n`),
    expected: { ok: false, phase: 'after_send', reason: 'malformed' },
  },
  'hides a body in an interim answer': {
    write: (socket) =>
      socket.end(`HTTP/1.1 103 Early Hints\r\ncontent-length: 3\r\n\r\nabc${ok}content-length: 0\r\n\r\n`),
    expected: { ok: false, phase: 'after_send', reason: 'malformed' },
  },
  'has a status of 999': {
    write: (socket) => socket.end('HTTP/1.1 999 Odd\r\ncontent-length: 0\r\n\r\n'),
    expected: { ok: false, phase: 'response', status: 999, reason: 'bad_status' },
  },
  'sends a part nobody asked for': {
    write: (socket) =>
      socket.end('HTTP/1.1 206 Part\r\ncontent-range: bytes 0-1/9\r\ncontent-length: 2\r\n\r\nab'),
    expected: { ok: false, phase: 'response', status: 206, reason: 'bad_status' },
  },
  'announces a body over the cap': {
    write: (socket) => socket.write(`${ok}content-length: 4097\r\n\r\n`),
    expected: { ok: false, phase: 'response', status: 200, reason: 'too_large' },
  },
  'sends a body over the cap without announcing it': {
    write: (socket) => socket.write(`${ok}transfer-encoding: chunked\r\n\r\n2000\r\n${'a'.repeat(0x2000)}`),
    expected: { ok: false, phase: 'response', status: 200, reason: 'too_large' },
  },
  'sends a gzip bomb': {
    write(socket) {
      const bomb = gzipSync(Buffer.alloc(2 ** 20))
      socket.write(`${ok}content-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`)
      socket.end(bomb)
    },
    expected: { ok: false, phase: 'response', status: 200, reason: 'encoded' },
  },
  'compresses it below the chunks': {
    write(socket) {
      const body = gzipSync('hidden')
      socket.write(`${ok}transfer-encoding: gzip, chunked\r\n\r\n${body.length.toString(16)}\r\n`)
      socket.write(body)
      socket.end('\r\n0\r\n\r\n')
    },
    expected: { ok: false, phase: 'response', status: 200, reason: 'encoded' },
  },
  'sends early hints first': {
    write: (socket) =>
      socket.end(`HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n${ok}content-length: 2\r\n\r\nok`),
    expected: { ok: true, response: { status: 200, body: Buffer.from('ok') } },
  },
  'sends a body of exactly the cap': {
    write: (socket) => socket.end(`${ok}content-length: 4096\r\n\r\n${'a'.repeat(4096)}`),
    expected: { ok: true, response: { status: 200, body: Buffer.from('a'.repeat(4096)) } },
  },
  'ends the body with the connection': {
    write: (socket) => socket.end(`${ok}connection: close\r\n\r\nuntil the end`),
    expected: { ok: true, response: { status: 200, body: Buffer.from('until the end') } },
  },
  'redirects to this machine': {
    write: (socket) =>
      socket.end('HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1/\r\ncontent-length: 0\r\n\r\n'),
    expected: {
      ok: true,
      response: {
        status: 302,
        headers: expect.arrayContaining([{ name: 'location', value: 'http://127.0.0.1/' }]),
      },
    },
  },
  'puts headers behind the body': {
    write: (socket) =>
      socket.end(
        `${ok}transfer-encoding: chunked\r\ntrailer: x-late\r\n\r\n2\r\nok\r\n0\r\nX-Late: here\r\n\r\n`,
      ),
    expected: {
      ok: true,
      response: {
        body: Buffer.from('ok'),
        headers: expect.arrayContaining([{ name: 'x-late', value: 'here', trailer: true }]),
      },
    },
  },
  'answers HEAD with the length of a body over the cap': {
    write: (socket) => socket.end(`${ok}content-length: 999999\r\n\r\n`),
    method: 'HEAD',
    expected: { ok: true, response: { status: 200, body: Buffer.alloc(0) } },
  },
}

// Side by side, since some wait for their time: so each closes what it opened itself.
describe.concurrent.each(['GET', 'POST'] as const)('for %s, an upstream that', (method) => {
  test.each(Object.entries(answers))('%s', async (_title, { write, expected, timeoutMs, method: own }) => {
    const upstream = await startRawUpstream(leaf, (socket) => write(socket))
    const sender = openSender()
    try {
      const result = await sender.send(
        requestTo(upstream.port, {
          ...(method === 'POST' && !own ? post : {}),
          ...(own ? { method: own } : {}),
          ...(timeoutMs ? { timeoutMs } : {}),
        }),
      )
      expect(result).toMatchObject(expected)
      expect(upstream.requests).toHaveLength(1)
    } finally {
      await sender.close()
      await upstream.close()
    }
  })
})
