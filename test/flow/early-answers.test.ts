// Answers that an upstream gives before it has the whole request, to programs that send all of it before they read a byte.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { createServer, type Server, type TLSSocket } from 'node:tls'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { freePort } from '../support/free-port.ts'
import { createWorld, startTestGateway, type TestGateway, UPSTREAM_HOST } from '../support/gateway.ts'
import { basic, exchange, sendConnect, startTls } from '../support/proxy-client.ts'

const OTHER = 'other.example.com'
/** More than all buffers on the way take. */
const BODY = Buffer.alloc(24 * 1024 * 1024, 'a')
/** Well below the minutes after which connections are taken for dead. */
const LONGEST_MS = 30_000

let gw: TestGateway
let server: Server
let port: number
let capability: string
let ca: string
/** Told of each piece that comes; the first begins with a head. */
let receive: (socket: TLSSocket, text: string) => void
beforeAll(async () => {
  port = await freePort()
  const world = await createWorld({
    env: { GATEWAY_PROXY_PORT: '0', GATEWAY_PROXY_UNKNOWN: 'inspect', GATEWAY_SERVICE_KEY_CREDITS: '1000' },
    ports: [port],
    names: [OTHER],
  })
  gw = await startTestGateway({ world })
  ca = await (await fetch(`${gw.gateway.proxyUrl}/ca.pem`)).text()
  const { key, cert } = await world.ca.leaf(UPSTREAM_HOST, OTHER)
  server = createServer({ key, cert }, (socket) => {
    socket.on('error', () => {}).on('data', (piece) => receive(socket, piece.toString('latin1')))
  })
  await once(server.listen(port, '127.0.0.1'), 'listening')
  const credential = { label: 'early', hosts: [`${UPSTREAM_HOST}:${port}`] }
  ;({ capability } = await gw.grant({ secret: 'real-secret-0123456789abcdef', credential }))
  return async () => {
    await gw.close()
    await world.close()
  }
})
afterAll(() => void server.close())

/** Refuses what has a body by its head, and closes a moment later, as nginx does. */
beforeEach(() => {
  receive = (socket, text) => {
    if (text.startsWith('GET ')) return void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
    if (!text.startsWith('POST ')) return
    socket.write('HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\nConnection: close\r\n\r\nbig')
    setTimeout(() => socket.destroy(), 100)
  }
})

async function throughProxy(host: string) {
  const { socket } = await sendConnect(gw.gateway.proxyUrl!, `${host}:${port}`, [basic(capability)])
  return { socket: await startTls(socket, { ca, servername: host }), path: '/x', host: `${host}:${port}` }
}
const WAYS: Record<string, () => Promise<{ socket: Socket; path: string; host: string }>> = {
  'a base URL': async () => {
    const { host, hostname, port } = new URL(gw.baseUrl)
    return { socket: connect(Number(port), hostname), path: '/via/early/x', host }
  },
  'the proxy': () => throughProxy(UPSTREAM_HOST),
  'the proxy, to a host without a credential': () => throughProxy(OTHER),
}

describe.each(Object.keys(WAYS))('an early answer through %s', (way) => {
  async function open() {
    const { socket, path, host } = await WAYS[way]!()
    socket.on('error', () => {})
    onTestFinished(() => void socket.destroy())
    // No token goes to a host that there is no credential for.
    const token = host.startsWith(OTHER) ? 'own-token' : capability
    const head = (method: string, more: readonly string[] = []) =>
      [`${method} ${path} HTTP/1.1`, `Host: ${host}`, `Authorization: Bearer ${token}`, ...more, '', ''].join(
        '\r\n',
      )
    return { socket, head }
  }
  const LENGTH = `Content-Length: ${BODY.length}`
  /** Resolves when all of it is written, or the connection is gone. Nothing is read meanwhile. */
  async function sendAll(socket: Socket, ...texts: readonly (string | Buffer)[]): Promise<void> {
    socket.pause()
    for (const text of texts) await new Promise<void>((resolve) => socket.write(text, () => resolve()))
    // Whoever waits for this listens before anything is read.
    setImmediate(() => socket.resume())
  }

  it(
    'reaches a program that sends all before it reads, and the next request goes on',
    async () => {
      const { socket, head } = await open()
      await sendAll(socket, head('POST', [LENGTH]), BODY)
      expect(await exchange(socket, '')).toMatchObject({ status: 413, body: 'big' })
      expect(await exchange(socket, head('GET'))).toMatchObject({ status: 200, body: 'ok' })
    },
    LONGEST_MS,
  )

  it(
    'reaches one whose connection ends with it',
    async () => {
      const { socket, head } = await open()
      await sendAll(socket, head('POST', [LENGTH, 'Connection: close']), BODY)
      const ended = once(socket, 'end')
      expect(await exchange(socket, '')).toMatchObject({ status: 413, body: 'big' })
      await ended
    },
    LONGEST_MS,
  )

  it(
    'is followed by the end of the connection where the rest never comes',
    async () => {
      const { socket, head } = await open()
      const closed = once(socket, 'close')
      await sendAll(socket, head('POST', [LENGTH]), BODY.subarray(0, 512 * 1024))
      expect(await exchange(socket, '')).toMatchObject({ status: 413, body: 'big' })
      await closed
    },
    LONGEST_MS,
  )

  it(
    'that goes on while the request does is the end of neither',
    async () => {
      const { socket, head } = await open()
      let received = 0
      receive = (upstream, text) => {
        if (received === 0)
          upstream.write('HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n')
        received += text.length
        if (text.endsWith('one')) upstream.write('data: one\n\n')
        if (text.endsWith('two')) upstream.end('data: two\n\n')
      }
      const size = 400 * 1024
      let answer = ''
      socket.on('data', (piece) => (answer += piece.toString('latin1')))
      socket.write(head('POST', [`Content-Length: ${2 * size}`]))
      socket.write(`${'a'.repeat(size - 3)}one`)
      await expect.poll(() => answer).toContain('data: one')
      await sleep(200)
      expect(answer).not.toContain('two')
      socket.write(`${'a'.repeat(size - 3)}two`)
      await expect.poll(() => answer).toMatch(/data: two[^]*\r\n0\r\n/)
      expect(received).toBeGreaterThan(2 * size)
    },
    LONGEST_MS,
  )
})
