// What a sender does with a long or encoded answer when the request says that it may take one.
import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { createSender } from '../../src/egress/adapters/undici.ts'
import type { OutboundRequest, Sender } from '../../src/egress/ports.ts'
import { noFault } from '../../src/lib/fault-points.ts'
import { Secret } from '../../src/lib/secret.ts'
import { createTestCa, type TestCa } from '../support/ca.ts'
import { LOOPBACK_NETWORK_IS_PUBLIC } from '../support/loopback.ts'
import { startUpstream, type TestUpstream } from '../support/upstream.ts'

const HOST = 'api.example.com'
let ca: TestCa
let upstream: TestUpstream
let sender: Sender
beforeAll(async () => {
  ca = await createTestCa()
  upstream = await startUpstream(await ca.leaf(HOST))
})
afterAll(() => upstream.close())
beforeEach(() => {
  sender = createSender({
    fault: noFault,
    policy: LOOPBACK_NETWORK_IS_PUBLIC,
    ca: [ca.pem],
    // A connection is not given up for the time that a test takes.
    keepAliveMs: 60_000,
  })
})
afterEach(() => sender.close())

const send = (options: Partial<OutboundRequest>) =>
  sender.send({
    method: 'GET',
    url: new URL(`https://${HOST}:${upstream.port}/`),
    addresses: ['127.0.0.1'],
    headers: new Secret<readonly (readonly [string, string])[]>([]),
    body: undefined,
    partition: 'test',
    timeoutMs: 60_000,
    maxResponseBytes: 1000,
    ...options,
  })

test.each([
  ['of declared length', { 'content-length': '5000' }],
  ['in chunks', {}],
])('an answer %s is cut where the request allows it, and refused where not', async (_, headers) => {
  upstream.respond((_request, res) => void res.writeHead(200, headers).end('x'.repeat(5000)))
  const cut = await send({ overflow: 'cut' })
  expect(cut).toMatchObject({ ok: true, response: { status: 200, isCut: true } })
  expect(cut.ok && cut.response.body.toString()).toBe('x'.repeat(1000))
  expect(await send({})).toEqual({ ok: false, phase: 'response', status: 200, reason: 'too_large' })
})

test.each([
  ['of declared length', true],
  ['in chunks', false],
])('a long answer %s arrives byte for byte, and up to the limit where it is cut', async (_, isDeclared) => {
  const long = Buffer.from(Array.from({ length: 300_000 }, (__, i) => (i * 7919) % 251))
  upstream.respond((_request, res) => {
    res.writeHead(200, isDeclared ? { 'content-length': long.length } : {})
    // In two writes: pieces of any size may come.
    res.write(long.subarray(0, 100_001), () => res.end(long.subarray(100_001)))
  })
  const whole = await send({ maxResponseBytes: 1_000_000 })
  expect(whole.ok && whole.response.body.equals(long)).toBe(true)
  const cut = await send({ maxResponseBytes: 200_000, overflow: 'cut' })
  expect(cut.ok && cut.response.isCut).toBe(true)
  expect(cut.ok && cut.response.body.equals(long.subarray(0, 200_000))).toBe(true)
  const head = await send({ method: 'HEAD', maxResponseBytes: 1_000_000 })
  expect(head.ok && head.response.body.length).toBe(0)
})

test('a long answer that ends before it is complete is no answer', async () => {
  upstream.respond((_request, res) => {
    res.writeHead(200, { 'content-length': 300_000 })
    res.write('x'.repeat(100_000), () => res.destroy())
  })
  expect(await send({ maxResponseBytes: 1_000_000 })).toMatchObject({ ok: false, reason: 'body_incomplete' })
})

test('an answer of exactly the limit is whole', async () => {
  upstream.respond((_request, res) => void res.end('x'.repeat(1000)))
  const whole = await send({ overflow: 'cut' })
  expect(whole.ok && [whole.response.body.length, whole.response.isCut]).toEqual([1000, undefined])
})

test('an endless answer is left at the limit, and its connection with it', async () => {
  upstream.respond((_request, res) => {
    const more = () => {
      while (res.write('x'.repeat(1000)));
    }
    res.on('drain', more)
    more()
  })
  const before = upstream.connections
  expect(await send({ overflow: 'cut' })).toMatchObject({ ok: true, response: { isCut: true } })
  upstream.respond((_request, res) => void res.end('next'))
  const next = await send({ overflow: 'cut' })
  expect(next.ok && next.response.body.toString()).toBe('next')
  expect(upstream.connections).toBe(before + 2)
})

test('a whole answer keeps its connection', async () => {
  upstream.respond((_request, res) => void res.end('short'))
  const before = upstream.connections
  await send({ overflow: 'cut' })
  await send({ overflow: 'cut' })
  expect(upstream.connections).toBe(before + 1)
})

test('an encoded answer is handed over as it came where the request takes it', async () => {
  const body = gzipSync('hello')
  upstream.respond((_request, res) => void res.writeHead(200, { 'content-encoding': 'gzip' }).end(body))
  const encoded = await send({ acceptsEncoded: true })
  expect(encoded.ok && encoded.response.body.equals(body)).toBe(true)
  expect(await send({})).toEqual({ ok: false, phase: 'response', status: 200, reason: 'encoded' })
})

test('an answer that is encoded below its chunks is handed over to nobody', async () => {
  upstream.respond((_request, res) => {
    res.socket!.end('HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n')
  })
  expect(await send({ acceptsEncoded: true })).toEqual({
    ok: false,
    phase: 'response',
    status: 200,
    reason: 'encoded',
  })
})
