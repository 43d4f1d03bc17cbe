// A TCP relay that keeps the end of the far side to itself, as a network does that was cut: the near side stays open, and what it sends
// goes nowhere. Where the near side ends, the far side is told.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface SilentRelay {
  readonly port: number
  /** Whether new connections end at once. */
  isClosed: boolean
  /** Nothing goes either way on the connections that there are, until what is returned is called: then all of it does. */
  stall(): () => void
  close(): Promise<void>
}

export async function startSilentRelay(target: { port: number; host: string }): Promise<SilentRelay> {
  const sockets = new Set<Socket>()
  const server = createServer((near) => {
    sockets.add(near)
    near.on('error', () => {}).on('close', () => sockets.delete(near))
    if (relay.isClosed) return void near.destroy()
    const far = connect(target)
    sockets.add(far)
    far.on('error', () => {}).on('close', () => sockets.delete(far))
    near.on('close', () => far.destroy())
    // Taken also where nobody is left to give it to, so that its end is seen.
    near.on('data', (chunk: Buffer) => pass(far, chunk))
    far.on('data', (chunk: Buffer) => pass(near, chunk))
  })
  function pass(to: Socket, chunk: Buffer): void {
    const kept = stalled.get(to)
    if (kept) kept.push(chunk)
    else if (!to.destroyed) to.write(chunk)
  }
  const stalled = new Map<Socket, Buffer[]>()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const relay: SilentRelay = {
    port: (server.address() as AddressInfo).port,
    isClosed: false,
    stall() {
      const those = [...sockets]
      for (const socket of those) stalled.set(socket, [])
      return () => {
        for (const socket of those) {
          const kept = stalled.get(socket) ?? []
          stalled.delete(socket)
          for (const chunk of kept) pass(socket, chunk)
        }
      }
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
  return relay
}
