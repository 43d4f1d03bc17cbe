// Kept connections: shared by nobody, used again only for the same partition, host and vetted peer, and never the
// reason for a second send.
import type { TLSSocket } from 'node:tls'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createSender } from '../../src/egress/adapters/undici.ts'
import type { OutboundRequest, Sender } from '../../src/egress/ports.ts'
import { EGRESS_POINTS, noFault, parseFault } from '../../src/lib/fault-points.ts'
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
// A connection is not given up for the time that a test takes.
const newSender = (fault = noFault): Sender =>
  closing(createSender({ fault, policy: LOOPBACK_NETWORK_IS_PUBLIC, ca: [ca.pem], keepAliveMs: 60_000 }))

const requestTo = (port: number, changes: Partial<OutboundRequest> = {}): OutboundRequest => ({
  method: 'GET',
  url: new URL(`https://${HOST}:${port}/`),
  addresses: ['127.0.0.1'],
  headers: new Secret([['accept', '*/*']] as const),
  body: undefined,
  partition: 'cred_1',
  timeoutMs: 60_000,
  maxResponseBytes: 4096,
  ...changes,
})

describe('a kept connection', () => {
  test('is used again by the same partition', async () => {
    const upstream = closing(await startUpstream(leaf))
    const sender = newSender()
    for (let i = 0; i < 5; i++)
      expect(await sender.send(requestTo(upstream.port))).toMatchObject({ ok: true })
    expect(upstream.connections).toBe(1)
    expect(upstream.requests).toHaveLength(5)
  })

  test('is not used by another partition', async () => {
    const upstream = closing(await startUpstream(leaf))
    const sender = newSender()
    await sender.send(requestTo(upstream.port))
    await sender.send(requestTo(upstream.port, { partition: 'cred_2' }))
    expect(upstream.connections).toBe(2)
  })

  test('is not used once its peer is no longer among the vetted addresses', async () => {
    const upstream = closing(await startUpstream(leaf))
    const sender = newSender()
    expect(await sender.send(requestTo(upstream.port))).toMatchObject({ ok: true })
    const elsewhere = await sender.send(requestTo(upstream.port, { addresses: ['127.0.0.9'] }))
    expect(elsewhere).toEqual({ ok: false, phase: 'before_send', reason: 'connect_failed' })
    expect(upstream.requests).toHaveLength(1)
  })

  test('is used again when the name now has further addresses', async () => {
    const upstream = closing(await startUpstream(leaf))
    const sender = newSender()
    await sender.send(requestTo(upstream.port))
    await sender.send(requestTo(upstream.port, { addresses: ['127.0.0.9', '127.0.0.1'] }))
    expect(upstream.connections).toBe(1)
  })

  test('is never shared by requests that run at the same time', async () => {
    const upstream = closing(await startUpstream(leaf))
    const waiting: (() => void)[] = []
    const allArrived = new Promise<void>((resolve) => {
      upstream.respond((_request, res) => {
        waiting.push(() => res.end('ok'))
        if (waiting.length === 4) resolve()
      })
    })
    const sender = newSender()
    const sending = Array.from({ length: 4 }, () => sender.send(requestTo(upstream.port)))
    await allArrived
    for (const answer of waiting) answer()
    for (const result of await Promise.all(sending)) expect(result).toMatchObject({ ok: true })
    expect(upstream.connections).toBe(4)
  })

  test('is given up after an answer that was not acceptable', async () => {
    const upstream = closing(await startUpstream(leaf))
    upstream.respond((_request, res) => res.end('a'.repeat(5000)))
    const sender = newSender()
    expect(await sender.send(requestTo(upstream.port))).toMatchObject({ reason: 'too_large' })
    upstream.respond((_request, res) => res.end('ok'))
    expect(await sender.send(requestTo(upstream.port))).toMatchObject({ ok: true })
    expect(upstream.connections).toBe(2)
  })

  test('that the upstream closed while it was idle is replaced', async () => {
    const upstream = closing(await startUpstream(leaf))
    let closed: Promise<unknown> | undefined
    const sender = newSender()
    upstream.respond((_request, res) => {
      closed ??= new Promise((resolve) => res.socket!.once('close', resolve))
      res.end('ok')
    })
    await sender.send(requestTo(upstream.port))
    upstream.dropConnections()
    await closed
    // The news reaches this side with the next turn of the event loop at the latest.
    await new Promise((resolve) => setImmediate(resolve))
    const result = await sender.send(requestTo(upstream.port, { method: 'POST', body: Buffer.from('x') }))
    expect(upstream.requests.length).toBe(result.ok ? 2 : 1)
  })
})

describe.each(['GET', 'POST'] as const)('%s is received exactly once', (method) => {
  const body = method === 'POST' ? Buffer.from('x') : undefined

  test.each([
    ['closed', (socket: TLSSocket) => socket.end()],
    ['reset', (socket: TLSSocket) => socket.destroy()],
  ] as const)('when the kept connection is %s on its arrival', async (_how, end) => {
    const upstream = closing(
      await startRawUpstream(leaf, (socket, _text, count) => {
        if (count === 1) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok')
        else end(socket)
      }),
    )
    const sender = newSender()
    expect(await sender.send(requestTo(upstream.port))).toMatchObject({ ok: true })
    expect(await sender.send(requestTo(upstream.port, { method, body }))).toEqual({
      ok: false,
      phase: 'after_send',
      reason: 'reset',
    })
    expect(upstream.requests).toHaveLength(2)
    expect(upstream.connections).toBe(1)
  })

  test('and an answer that nobody asked for is not taken for the next one', async () => {
    const answer = (text: string) => `HTTP/1.1 200 OK\r\ncontent-length: ${text.length}\r\n\r\n${text}`
    const upstream = closing(
      await startRawUpstream(leaf, (socket, _text, count) => {
        socket.write(answer(`answer ${count}`) + (count === 1 ? answer('POISON') : ''))
      }),
    )
    const sender = newSender()
    await sender.send(requestTo(upstream.port))
    const second = await sender.send(requestTo(upstream.port, { method, body }))
    if (second.ok) expect(second.response.body.toString()).toMatch(/^answer/)
    expect(upstream.requests.length).toBeLessThanOrEqual(2)
  })

  test.each(EGRESS_POINTS.filter((point) => /^after_(?:request|headers|response)$/.test(point)))(
    'and called sent when a fault strikes at %s',
    async (point) => {
      const upstream = closing(await startUpstream(leaf))
      const result = await newSender(parseFault(`${point}:throw`)).send(
        requestTo(upstream.port, { method, body }),
      )
      expect(result).toMatchObject({ ok: false, phase: 'after_send' })
      expect(upstream.requests.length).toBeLessThanOrEqual(1)
    },
  )
})

test('a closed sender holds no connection open', async () => {
  const upstream = closing(await startUpstream(leaf))
  const sender = createSender({ fault: noFault, policy: LOOPBACK_NETWORK_IS_PUBLIC, ca: [ca.pem] })
  let closed: Promise<unknown> | undefined
  upstream.respond((_request, res) => {
    closed = new Promise((resolve) => res.socket!.once('close', resolve))
    res.end('ok')
  })
  await sender.send(requestTo(upstream.port))
  await sender.close()
  await closed
})
