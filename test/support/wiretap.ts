// A relay between a client and the gateway that keeps every byte the gateway sends: what a client library leaves out
// of its result is still on the wire.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface Wiretap {
  readonly baseUrl: string
  /** Everything the gateway sent so far, over all connections. */
  readonly received: () => Buffer
  close(): Promise<void>
}

export async function startWiretap(port: number): Promise<Wiretap> {
  const chunks: Buffer[] = []
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const gateway = connect(port, '127.0.0.1')
    for (const socket of [client, gateway]) {
      sockets.add(socket)
      socket
        .on('error', () => {})
        .on('close', () => {
          sockets.delete(socket)
          client.destroy()
          gateway.destroy()
        })
    }
    gateway.on('data', (chunk) => chunks.push(chunk))
    client.pipe(gateway)
    gateway.pipe(client)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received: () => Buffer.concat(chunks),
    async close() {
      const closed = once(server, 'close')
      server.close()
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}
