// The other side of an outbound request: an HTTPS server that logs what it received and answers as told, and a bare
// TLS server for answers that no HTTP library would send.
import { type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { type TLSSocket, createServer as createTlsServer } from 'node:tls'
import type { Leaf } from './ca.ts'

export interface ReceivedRequest {
  readonly method: string
  /** Request target as it was on the wire. */
  readonly target: string
  /** Names in lower case, in wire order, repetitions kept. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: Buffer
  /** Server name the client asked for in its TLS hello. */
  readonly servername: string | undefined
  /** Counts connections from 1: two requests with the same number shared a socket. */
  readonly connection: number
}

/** Takes over the connection of a request to upgrade. */
export type TakeUpgrade = (req: IncomingMessage, socket: Duplex, head: Buffer) => void

export type Respond = (request: ReceivedRequest, res: ServerResponse) => void

export interface TestUpstream {
  readonly port: number
  /** Everything received, in order; a request is listed as soon as its body is complete. */
  readonly requests: readonly ReceivedRequest[]
  readonly connections: number
  /** What to answer from now on; the default is 200 with a small JSON body. */
  respond(fn: Respond): void
  /** From now on; until then, and where it is undefined, an upgrade is answered like any other request. */
  upgrade(fn: TakeUpgrade | undefined): void
  /** Ends every open connection, as an upstream does that restarts. */
  dropConnections(): void
  close(): Promise<void>
}

const answerOk: Respond = (_request, res) => {
  res.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}')
}

export async function startUpstream(leaf: Leaf, respond: Respond = answerOk): Promise<TestUpstream> {
  const requests: ReceivedRequest[] = []
  const sockets = new Map<Socket, number>()
  let connections = 0
  let answer = respond
  let takeUpgrade: TakeUpgrade | undefined

  const server = createHttpsServer({
    key: leaf.key,
    cert: leaf.cert,
    ALPNProtocols: ['http/1.1'],
    // A connection is ended by the other side, or by the test.
    keepAliveTimeout: 60_000,
    shouldUpgradeCallback: () => takeUpgrade !== undefined,
  })
  server.on('secureConnection', (socket: TLSSocket) => {
    sockets.set(socket, ++connections)
    socket.on('close', () => sockets.delete(socket)).on('error', () => {})
  })
  server.on('tlsClientError', () => {})
  function receive(req: IncomingMessage, body: Buffer): ReceivedRequest {
    const socket = req.socket as TLSSocket
    const headers: [string, string][] = []
    for (let i = 0; i < req.rawHeaders.length; i += 2)
      headers.push([req.rawHeaders[i]!.toLowerCase(), req.rawHeaders[i + 1]!])
    const received = {
      method: req.method!,
      target: req.url!,
      headers,
      body,
      servername: typeof socket.servername === 'string' ? socket.servername : undefined,
      connection: sockets.get(socket) ?? 0,
    }
    requests.push(received)
    return received
  }
  server.on('upgrade', (req: IncomingMessage, socket: Duplex, head: Buffer) => {
    receive(req, Buffer.alloc(0))
    takeUpgrade?.(req, socket, head)
  })
  server.on('request', (req: IncomingMessage, res: ServerResponse) => {
    const chunks: Buffer[] = []
    req.on('error', () => {})
    req.on('data', (chunk: Buffer) => chunks.push(chunk))
    req.on('end', () => {
      const received = receive(req, Buffer.concat(chunks))
      answer(received, res)
    })
  })
  const port = await listen(server)
  return {
    port,
    requests,
    get connections() {
      return connections
    },
    respond: (fn) => void (answer = fn),
    upgrade: (fn) => void (takeUpgrade = fn),
    dropConnections() {
      for (const socket of sockets.keys()) socket.destroy()
    },
    close: () => closeAll(server, sockets.keys()),
  }
}

/** One request as bytes, found by counting header blocks and Content-Length. */
export interface RawUpstream {
  readonly port: number
  /** Every complete request received on any connection, as text. */
  readonly requests: readonly string[]
  readonly connections: number
  close(): Promise<void>
}

/**
 * @param onRequest gets the socket once a whole request has arrived; writes whatever bytes it likes
 */
export async function startRawUpstream(
  leaf: Leaf,
  onRequest: (socket: TLSSocket, requestText: string, count: number) => void,
): Promise<RawUpstream> {
  const requests: string[] = []
  const sockets = new Set<Socket>()
  let connections = 0
  const server = createTlsServer({ key: leaf.key, cert: leaf.cert }, (socket) => {
    connections++
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => {})
    let pending = ''
    socket.on('data', (chunk) => {
      pending += chunk.toString('latin1')
      for (let end = requestEnd(pending); end !== undefined; end = requestEnd(pending)) {
        requests.push(pending.slice(0, end))
        pending = pending.slice(end)
        onRequest(socket, requests.at(-1)!, requests.length)
      }
    })
  })
  server.on('tlsClientError', () => {})
  const port = await listen(server)
  return {
    port,
    requests,
    get connections() {
      return connections
    },
    close: () => closeAll(server, sockets),
  }
}

function requestEnd(text: string): number | undefined {
  const blank = text.indexOf('\r\n\r\n')
  if (blank < 0) return undefined
  const length = Number(/\r\ncontent-length: *(\d+)/i.exec(text.slice(0, blank))?.[1] ?? 0)
  const end = blank + 4 + length
  return text.length >= end ? end : undefined
}

interface Listener {
  listen(port: number, host: string, done: () => void): unknown
  address(): AddressInfo | string | null
  close(done: () => void): unknown
}

async function listen(server: Listener): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

async function closeAll(server: Listener, sockets: Iterable<Socket>): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(resolve))
  for (const socket of sockets) socket.destroy()
  await closed
}
