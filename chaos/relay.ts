// A TCP relay that an operator's network stands for: where it leads can change, and it can be slow, silent or closed.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface Relay {
  readonly port: number
  /** Port of 127.0.0.1 that new connections are led to. */
  target: number
  /** Each way. */
  delayMs: number
  /** `silent`: what comes is taken and goes nowhere. `closed`: new connections end at once. */
  mode: 'open' | 'silent' | 'closed'
  /** Ends every connection, without a word of farewell. */
  reset(): void
  close(): Promise<void>
}

export async function startRelay(target: number): Promise<Relay> {
  const sockets = new Set<Socket>()
  const server = createServer((near) => {
    if (relay.mode === 'closed') return void near.resetAndDestroy()
    const far = connect(relay.target, '127.0.0.1')
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      from.setNoDelay(true)
      from.on('data', (chunk: Buffer) => pass(to, chunk))
      from.on('error', () => {})
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
    }
  })
  function pass(to: Socket, chunk: Buffer): void {
    if (relay.mode === 'silent') return
    const write = () => void (to.destroyed || to.write(chunk))
    // Timers of the same length fire in the order in which they were set.
    if (relay.delayMs > 0) setTimeout(write, relay.delayMs)
    else write()
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const relay: Relay = {
    port: (server.address() as AddressInfo).port,
    target,
    delayMs: 0,
    mode: 'open',
    reset() {
      for (const socket of sockets) socket.resetAndDestroy()
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
  return relay
}
