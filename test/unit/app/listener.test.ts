import { createServer, Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { loadConfig } from '../../../src/app/config.ts'
import { createLifetime, type Lifetime } from '../../../src/app/lifetime.ts'
import { type Listener, openListener } from '../../../src/app/listener.ts'

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

const systemError = (code: string) => Object.assign(new Error(code), { code, syscall: 'listen' })

/** Lets `::1` be what another machine has there, as often as the codes say; afterwards it is as it is. */
function failAtIpv6(...codes: string[]): void {
  const listen = Server.prototype.listen
  vi.spyOn(Server.prototype, 'listen').mockImplementation(function (this: Server, ...args: unknown[]) {
    const code = args[1] === '::1' ? codes.shift() : undefined
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
    const { addresses, port } = await open({ HOST: host })
    const shown = host.includes(':') ? `[${host}]` : host
    expect(addresses.baseUrl).toBe(`http://${shown}:${port}`)
    for (const other of LOOPBACKS)
      expect(await statusAt(other, port), other).toBe(other === shown ? 503 : 'nobody')
  })

  it.each(['127.0.0.1', '::1'])('does not start where somebody else has the port on %s', async (host) => {
    const other = createServer()
    await new Promise<void>((resolve) => other.listen(0, host, resolve))
    const { port } = other.address() as AddressInfo
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

  it('does not start at an address that the machine does not have', async () => {
    await expect(
      open({ HOST: '192.0.2.1', GATEWAY_MODE: 'production', GATEWAY_BASE_URL: 'https://gw.example' }),
    ).rejects.toMatchObject({ code: 'EADDRNOTAVAIL' })
  })
})
