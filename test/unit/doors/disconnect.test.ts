import { once } from 'node:events'
import { createServer, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { type Disconnect, watchDisconnect } from '../../../src/doors/http/disconnect.ts'

const closers: (() => void)[] = []
afterEach(() => closers.splice(0).forEach((close) => close()))

/** A request that reached its server, and how to leave it. */
async function arrive(): Promise<{ res: ServerResponse; disconnect: Disconnect; leave: () => void }> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = request({ host: '127.0.0.1', port: (server.address() as AddressInfo).port })
  client.on('error', () => {}).end()
  closers.push(
    () => void server.close(),
    () => client.destroy(),
  )
  const [, res] = (await once(server, 'request')) as [unknown, ServerResponse]
  return { res, disconnect: watchDisconnect(res), leave: () => client.destroy() }
}

describe('the disconnect of a client', () => {
  it('aborts the signal that was asked for before', async () => {
    const { disconnect, leave } = await arrive()
    const signal = disconnect.signal()
    expect(signal.aborted).toBe(false)
    leave()
    await once(signal, 'abort')
  })

  it('has aborted the signal that is asked for after', async () => {
    const { res, disconnect, leave } = await arrive()
    leave()
    await once(res, 'close')
    expect(disconnect.signal().aborted).toBe(true)
  })

  it('is none when the answer was sent whole', async () => {
    const { res, disconnect } = await arrive()
    const signal = disconnect.signal()
    res.end('done')
    await once(res, 'close')
    expect(signal.aborted).toBe(false)
    expect(disconnect.signal()).toBe(signal)
  })

  it('costs no listener as long as nobody asks', async () => {
    const { res, disconnect } = await arrive()
    const before = res.listenerCount('close')
    watchDisconnect(res)
    expect(res.listenerCount('close')).toBe(before)
    disconnect.signal()
    expect(res.listenerCount('close')).toBe(before + 1)
  })

  it('can be brought about, before and after anybody asks', async () => {
    const { disconnect } = await arrive()
    disconnect.cancel()
    expect(disconnect.signal().aborted).toBe(true)
    const other = await arrive()
    const signal = other.disconnect.signal()
    other.disconnect.cancel()
    expect(signal.aborted).toBe(true)
  })
})
