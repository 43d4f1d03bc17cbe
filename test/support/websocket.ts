// Both ends of a WebSocket in tests: an upstream behind a TestUpstream, and a client that notes what it was given.
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { type ClientOptions, WebSocket, WebSocketServer } from 'ws'
import type { TestUpstream } from './upstream.ts'

/** From now on upgrades are taken by this; an empty one answers every message with itself. */
export function serveWebSockets(
  upstream: TestUpstream,
  onSocket: (socket: WebSocket, req: IncomingMessage) => void = echo,
  options: {
    readonly headers?: readonly string[]
    readonly protocol?: (asked: Set<string>) => string | false
  } = {},
): { readonly sockets: readonly WebSocket[] } {
  const sockets: WebSocket[] = []
  const server = new WebSocketServer({
    noServer: true,
    autoPong: true,
    maxPayload: 64 * 1024 * 1024,
    ...(options.protocol && { handleProtocols: options.protocol }),
  })
  if (options.headers) server.on('headers', (lines) => void lines.push(...options.headers!))
  upstream.upgrade((req, socket, head) => {
    socket.on('error', () => {})
    server.handleUpgrade(req, socket, head, (ws) => {
      ws.on('error', () => {})
      sockets.push(ws)
      onSocket(ws, req)
    })
  })
  return { sockets }
}

const echo = (ws: WebSocket) =>
  void ws.on('message', (data, isBinary) => ws.send(data as Buffer, { binary: isBinary }))

export interface Noted {
  readonly ws: WebSocket
  /** The head of the 101. */
  readonly head: IncomingMessage
  /** Everything that came in messages, pings and pongs. */
  readonly received: readonly Buffer[]
  /** The next message that was not taken yet. */
  next(): Promise<{ readonly data: Buffer; readonly isBinary: boolean }>
  /** Code and reason, once it is over. */
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>
}

/** @throws {Refused} where the handshake is answered otherwise */
export async function connectWebSocket(
  url: string,
  options: ClientOptions = {},
  protocols: string[] = [],
): Promise<Noted> {
  const ws = new WebSocket(url, protocols, options)
  const received: Buffer[] = []
  const waiting: { readonly data: Buffer; readonly isBinary: boolean }[] = []
  let wake: (() => void) | undefined
  const closed = new Promise<{ code: number; reason: string }>((resolve) =>
    ws.on('close', (code, reason) => {
      resolve({ code, reason: reason.toString() })
      wake?.()
    }),
  )
  ws.on('message', (data, isBinary) => {
    received.push(data as Buffer)
    waiting.push({ data: data as Buffer, isBinary })
    wake?.()
  })
  ws.on('ping', (data) => received.push(data)).on('pong', (data) => received.push(data))
  const head = await new Promise<IncomingMessage>((resolve, reject) => {
    let answer: IncomingMessage | undefined
    ws.on('upgrade', (res) => (answer = res))
    ws.on('open', () => resolve(answer!))
    ws.on(
      'unexpected-response',
      (_req, res) => void readAll(res).then((body) => reject(new Refused(res, body))),
    )
    ws.on('error', reject)
  })
  return {
    ws,
    head,
    received,
    closed,
    async next() {
      for (;;) {
        const item = waiting.shift()
        if (item) return item
        if (ws.readyState === WebSocket.CLOSED) throw new Error('it is over')
        await new Promise<void>((resolve) => (wake = resolve))
      }
    },
  }
}

/** A handshake that was answered, and not with 101. */
export class Refused extends Error {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly body: string
  constructor(res: IncomingMessage, body: string) {
    super(`refused with ${res.statusCode}`)
    this.status = res.statusCode ?? 0
    this.headers = res.headers
    this.body = body
  }
}

async function readAll(res: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = []
  res.on('data', (piece: Buffer) => pieces.push(piece)).on('error', () => {})
  await once(res, 'close')
  return Buffer.concat(pieces).toString()
}

export const refusalOf = async (opening: Promise<unknown>): Promise<Refused> => {
  try {
    await opening
  } catch (thrown) {
    if (thrown instanceof Refused) return thrown
    throw thrown
  }
  throw new Error('it was not refused')
}
