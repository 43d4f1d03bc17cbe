// The connections of a server on which nothing is answered: kept alive, opened ahead of a request, or with a head that never ends. Node's own
// `closeIdleConnections` leaves the last two, and anybody can open them: each would hold up a stop for as long as it may.
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

export interface QuietConnections {
  /** Ends those that are quiet now. */
  end(): void
}

/** Watches from before its first connection on. One that is taken over for another protocol is not among them any more. */
export function watchQuietConnections(server: Server): QuietConnections {
  /** Requests of each that are not answered to the end; pipelined ones are several. */
  const underWay = new Map<Socket, number>()
  const change = (socket: Socket, by: number) => {
    const count = underWay.get(socket)
    if (count !== undefined) underWay.set(socket, count + by)
  }
  server.on('connection', (socket: Socket) => {
    underWay.set(socket, 0)
    socket.once('close', () => underWay.delete(socket))
  })
  server.on('request', ({ socket }: IncomingMessage, res: ServerResponse) => {
    change(socket, 1)
    res.once('close', () => change(socket, -1))
  })
  server.on('upgrade', ({ socket }: IncomingMessage) => underWay.delete(socket))
  return {
    end() {
      for (const [socket, count] of underWay) if (count === 0) socket.destroy()
    },
  }
}
