// A port that several sockets listen on. From each of them libuv takes one connection in a turn of the event loop, however many wait there: with
// one socket, those who come while calls are many (a turn takes some 10 ms then) wait for half a second, and a crowd that comes again after
// a restart for ten. The system deals connections out among sockets that listen together.
import { type AddressInfo, createServer, type ListenOptions, type Server } from 'node:net'
import type { Config } from '../core/config.ts'

/**
 * Sockets of a port, and so connections that a turn of the event loop can take. Measured: with 16 a gateway that is offered five times what it can do
 * takes on so many callers whom it has to refuse that it answers half as many; with four, four fifths. A sandbox has one: on somebody's own
 * machine the agents are programs of the same user, who could listen at a shared port as well.
 */
const SOCKETS = { production: 4, sandbox: 1 } as const
/** Connections that wait to be accepted, at each: beyond it they begin again a second later. */
const BACKLOG = 4096
/** What Node's HTTP server sets for the connections that it takes itself. */
const AS_HTTP = { allowHalfOpen: true, noDelay: true }

export interface Listening {
  /** Accepts nothing more; resolves when the last connection is gone. */
  close(): Promise<void>
}

export interface Bound extends Listening {
  readonly port: number
}

/**
 * Listens for an HTTP server, which serves what arrives at any of the sockets. Where the system cannot share a port (macOS, Windows) it is one.
 * @param port 0: one that is free
 * @throws what `listen` of Node does, `EADDRINUSE` also where whoever has the port would share it
 */
export async function listenAt(
  server: Server,
  { port, host, mode }: { readonly port: number; readonly host: string; readonly mode: Config['mode'] },
): Promise<Bound> {
  const wanted = SOCKETS[mode]
  const isShared = wanted > 1 && (await listenShared(server, port, host))
  if (!isShared) await listen(server, { port, host })
  const most = isShared ? wanted : 1
  const at = (server.address() as AddressInfo).port
  const sockets = [server]
  while (sockets.length < most) {
    const more = createServer(AS_HTTP, (connection) => server.emit('connection', connection))
    try {
      await listen(more, { port: at, host, reusePort: true })
    } catch {
      // One less: the port is ours already.
      break
    }
    sockets.push(more)
  }
  return {
    port: at,
    async close() {
      await Promise.all(sockets.map(closed))
    },
  }
}

/** Listens on a Unix socket, which is one. @throws what `listen` of Node does */
export async function listenAtPath(server: Server, path: string): Promise<Listening> {
  await listen(server, { path })
  return { close: () => closed(server) }
}

/** A port that is shared would be shared with a second gateway, too, started by mistake: whoever is there already has to refuse this one. */
async function claim(port: number, host: string): Promise<void> {
  const first = createServer((connection) => connection.destroy())
  await listen(first, { port, host })
  await closed(first)
}

/** @returns whether the system can share a port; it listens then */
async function listenShared(server: Server, port: number, host: string): Promise<boolean> {
  if (port !== 0) await claim(port, host)
  try {
    await listen(server, { port, host, reusePort: true })
    return true
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOTSUP') return false
    throw thrown
  }
}

function listen(server: Server, where: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ ...where, backlog: BACKLOG }, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

const closed = (server: Server) => new Promise<void>((resolve) => server.close(() => resolve()))
