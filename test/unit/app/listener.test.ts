import { once } from 'node:events'
import { createServer, Server } from 'node:http'
import { connect, type ListenOptions, Server as NetServer, type Socket } from 'node:net'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { loadConfig } from '../../../src/app/config.ts'
import { createLifetime, type Lifetime } from '../../../src/app/lifetime.ts'
import { type Listener, openListener } from '../../../src/app/listener.ts'
import { freePort } from '../../support/free-port.ts'
import { countTurns } from '../../support/turns.ts'

const LOOPBACKS = ['127.0.0.1', '[::1]']
const opened: Lifetime[] = []

async function open(env: Record<string, string> = {}): Promise<Listener> {
  const lifetime = createLifetime()
  opened.push(lifetime)
  return openListener(loadConfig({ PORT: '0', ...env }), lifetime)
}

/** What answers there: 503 of a listener that serves nothing yet, or nobody. */
const statusAt = (host: string, port: number) =>
  fetch(`http://${host}:${port}/`).then(
    ({ status }) => status,
    () => 'nobody',
  )

const CROWD = 128
const PRODUCTION = { GATEWAY_MODE: 'production', GATEWAY_BASE_URL: 'https://gateway.example' }

/** A caller with a connection of its own. */
function arrive(port: number): { readonly socket: Socket; readonly answered: Promise<string> } {
  const socket = connect(port, '127.0.0.1')
  socket.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n')
  const answered = new Promise<string>((resolve, reject) => {
    socket.once('data', (head) => resolve(head.toString('latin1', 9, 12)))
    socket.once('error', reject)
  })
  return { socket, answered }
}

const systemError = (code: string) => Object.assign(new Error(code), { code, syscall: 'listen' })

/** Lets `::1` be what another machine has there, as often as the codes say; afterwards it is as it is. */
function failAtIpv6(...codes: string[]): void {
  const listen = Server.prototype.listen
  vi.spyOn(Server.prototype, 'listen').mockImplementation(function (this: Server, ...args: unknown[]) {
    const code = (args[0] as ListenOptions).host === '::1' ? codes.shift() : undefined
    if (code === undefined) return Reflect.apply(listen, this, args)
    queueMicrotask(() => this.emit('error', systemError(code)))
    return this
  })
}

describe('the listener', () => {
  afterEach(async () => {
    vi.restoreAllMocks()
    await Promise.all(opened.splice(0).map((lifetime) => lifetime.close()))
  })

  it('answers on both loopbacks at one free port, and is named localhost', async () => {
    const { addresses, port } = await open()
    expect(addresses.baseUrl).toBe(`http://localhost:${port}`)
    expect(addresses.mcpUrl).toBe(`http://localhost:${port}/mcp`)
    expect(await Promise.all(LOOPBACKS.map((host) => statusAt(host, port)))).toEqual([503, 503])
  })

  it('is alive and not ready before anything is behind it', async () => {
    const { port } = await open()
    expect((await fetch(`http://127.0.0.1:${port}/livez`)).status).toBe(200)
    const ready = await fetch(`http://127.0.0.1:${port}/readyz`)
    expect([ready.status, await ready.json()]).toMatchObject([503, { failing: [{ part: 'starting' }] }])
  })

  it('accepts nothing on either loopback once it is drained', async () => {
    const listener = await open()
    await listener.drain(0)
    expect(await Promise.all(LOOPBACKS.map((host) => statusAt(host, listener.port)))).toEqual([
      'nobody',
      'nobody',
    ])
  })

  it.each(['127.0.0.1', '::1'])('listens on %s alone where HOST says so', async (host) => {
    // Of those that the system gives to everybody, another program may have the same on the other loopback.
    const { addresses, port } = await open({ HOST: host, PORT: String(await freePort()) })
    const shown = host.includes(':') ? `[${host}]` : host
    expect(addresses.baseUrl).toBe(`http://${shown}:${port}`)
    for (const other of LOOPBACKS)
      expect(await statusAt(other, port), other).toBe(other === shown ? 503 : 'nobody')
  })

  it.each(['127.0.0.1', '::1'])('does not start where somebody else has the port on %s', async (host) => {
    const other = createServer()
    const port = await freePort()
    await new Promise<void>((resolve) => other.listen(port, host, resolve))
    await expect(open({ PORT: String(port) })).rejects.toMatchObject({ code: 'EADDRINUSE', address: host })
    await new Promise((resolve) => other.close(resolve))
    expect(await Promise.all(LOOPBACKS.map((at) => statusAt(at, port)))).toEqual(['nobody', 'nobody'])
  })

  it('takes another free port where somebody has the first one on the other loopback', async () => {
    failAtIpv6('EADDRINUSE', 'EADDRINUSE')
    const { port } = await open()
    expect(await Promise.all(LOOPBACKS.map((host) => statusAt(host, port)))).toEqual([503, 503])
  })

  it.each(['EADDRNOTAVAIL', 'EAFNOSUPPORT'])(
    'goes on with IPv4 where the machine has no ::1 (%s)',
    async (code) => {
      failAtIpv6(code)
      const { addresses, port } = await open()
      expect(addresses.baseUrl).toBe(`http://localhost:${port}`)
      expect(await Promise.all(LOOPBACKS.map((host) => statusAt(host, port)))).toEqual([503, 'nobody'])
    },
  )

  it('takes on many connections in a turn of the event loop', async () => {
    const { port } = await open(PRODUCTION)
    const turns = countTurns()
    const arrivals = Array.from({ length: CROWD }, () => arrive(port))
    // Those in which nobody was answered count for nothing: there are thousands while the machine has something else to do.
    const busy = new Set<number>()
    await Promise.all(arrivals.map(({ answered }) => answered.then(() => busy.add(turns.now()))))
    turns.end()
    // Of one socket it would be one a turn.
    expect(busy.size).toBeLessThan(CROWD / 2)
    for (const { socket } of arrivals) socket.destroy()
  })

  it('waits, when it is drained, for calls on connections of each of its sockets', async () => {
    const listener = await open(PRODUCTION)
    let finish: () => void = () => {}
    const finished = new Promise<void>((resolve) => (finish = resolve))
    const arrivals = Array.from({ length: CROWD }, () => arrive(listener.port))
    let calls = 0
    await new Promise<void>((resolve) => {
      listener.serve((_, res) => {
        if (++calls === CROWD) resolve()
        void finished.then(() => res.end('done'))
      })
    })
    const drained = listener.drain(60_000)
    finish()
    expect(await Promise.all(arrivals.map(({ answered }) => answered))).toEqual(Array(CROWD).fill('200'))
    await drained
    expect(await Promise.all(Array.from({ length: 50 }, () => statusAt('127.0.0.1', listener.port)))).toEqual(
      Array(50).fill('nobody'),
    )
  })

  it.each([
    ['nothing', ''],
    ['a part of a head', 'GET / HTTP/1.1\r\nhost: loc'],
  ])('waits, when it is drained, for nobody who has sent %s', async (_, sent) => {
    const listener = await open(PRODUCTION)
    let answer: () => void = () => {}
    const called = new Promise<void>((resolve) =>
      listener.serve((_req, res) => {
        answer = () => res.end('done')
        resolve()
      }),
    )
    const silent = connect(listener.port, '127.0.0.1')
    silent.on('error', () => {})
    await once(silent, 'connect')
    if (sent !== '') silent.write(sent)
    const { answered } = arrive(listener.port)
    await called
    const drained = listener.drain(60_000)
    await once(silent, 'close')
    answer()
    expect(await answered).toBe('200')
    await drained
  })

  it.each([
    ['in production', PRODUCTION],
    ['in a sandbox', {}],
  ])('does not share its port with a second gateway %s', async (_, env) => {
    const { port } = await open(env)
    await expect(open({ ...env, PORT: String(port) })).rejects.toMatchObject({ code: 'EADDRINUSE' })
    expect(await statusAt('127.0.0.1', port)).toBe(503)
  })

  it('shares its port with no program of the same user in a sandbox', async () => {
    const { port } = await open()
    const other = createServer()
    const refused = once(other, 'error')
    other.listen({ port, host: '127.0.0.1', reusePort: true })
    expect(await refused).toMatchObject([{ code: 'EADDRINUSE' }])
  })

  it('listens with one socket where the system shares no ports', async () => {
    const listen = NetServer.prototype.listen
    vi.spyOn(NetServer.prototype, 'listen').mockImplementation(function (
      this: NetServer,
      ...args: unknown[]
    ) {
      if (!(args[0] as ListenOptions).reusePort) return Reflect.apply(listen, this, args)
      queueMicrotask(() => this.emit('error', systemError('ENOTSUP')))
      return this
    })
    const { port } = await open(PRODUCTION)
    expect(await Promise.all(LOOPBACKS.map((host) => statusAt(host, port)))).toEqual([503, 503])
  })

  it('does not start at an address that the machine does not have', async () => {
    await expect(
      open({ HOST: '192.0.2.1', GATEWAY_MODE: 'production', GATEWAY_BASE_URL: 'https://gw.example' }),
    ).rejects.toMatchObject({ code: 'EADDRNOTAVAIL' })
  })
})
