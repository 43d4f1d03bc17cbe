// A request for a WebSocket: Node hands over its bare connection, on which it is refused or answered like any other, or taken over.
import { type IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { GatewayError } from '../../core/errors.ts'
import type { ProgramUpgrade } from '../../core/message.ts'
import { acceptOf } from '../../lib/websocket.ts'

/** What a program may send before it is answered: conforming ones wait. */
const MOST_EARLY_BYTES = 64 * 1024
/** 16 bytes in base64. */
const KEY = /^[A-Za-z0-9+/]{21}[AQgw]==$/

/** A connection before it is known whether it becomes a WebSocket. */
export interface UpgradeRequest {
  /** For whatever is no 101; the connection ends with it. */
  readonly res: ServerResponse
  readonly program: ProgramUpgrade
  /** Whether the connection was taken over: nothing can be answered on it any more. */
  readonly isTaken: () => boolean
  /** Resolves when it is taken over; never where it is not. */
  readonly taken: Promise<void>
}

/** Requests for another protocol. Those that no door takes are answered in HTTP/1.1, as RFC 9110, 7.8 has it. */
export interface Upgrades {
  takes(req: IncomingMessage): boolean
  handle(req: IncomingMessage, upgrade: UpgradeRequest): void
}

/**
 * @param head what came behind the head of the request already
 * @returns undefined where another request on the connection is not answered yet: its answer would stand among the frames, so that the
 * connection is ended
 */
export function receiveUpgrade(
  req: IncomingMessage,
  socket: Duplex,
  head: Buffer,
): UpgradeRequest | undefined {
  const res = new ServerResponse(req)
  res.shouldKeepAlive = false
  socket.on('error', () => socket.destroy())
  try {
    // The same socket, but that a server may have been given any duplex for one.
    res.assignSocket(socket as Socket)
  } catch {
    socket.destroy()
    return undefined
  }
  const drained = () => res.emit('drain')
  const early = holdEarly(socket, head)
  socket.on('drain', drained)
  let isTaken = false
  const { promise: taken, resolve: tell } = Promise.withResolvers<void>()
  const leave = () => {
    socket.off('drain', drained)
    if (res.socket) res.detachSocket(socket as Socket)
  }
  res.once('finish', () => {
    leave()
    early.drop()
    socket.end()
    const timer = setTimeout(() => socket.destroy(), LAST_MS)
    socket.once('close', () => clearTimeout(timer))
  })

  return {
    res,
    isTaken: () => isTaken,
    taken,
    program: {
      accept(headers) {
        if (socket.destroyed || res.headersSent) return undefined
        isTaken = true
        leave()
        early.giveBack()
        ;(socket as Partial<Socket>).setTimeout?.(0)
        const lines = [
          'HTTP/1.1 101 Switching Protocols',
          'connection: Upgrade',
          'upgrade: websocket',
          `sec-websocket-accept: ${acceptOf(req.headers['sec-websocket-key'] ?? '')}`,
          ...headers.map(([name, value]) => `${name}: ${value}`),
        ]
        socket.write(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
        tell()
        return socket
      },
    },
  }
}

/** Longest wait for an answer to go out. */
const LAST_MS = 5_000

/** Reads on, so that a program that goes away is noticed; what comes is kept for whoever takes the connection over. */
function holdEarly(socket: Duplex, head: Buffer): { giveBack(): void; drop(): void } {
  const pieces = head.length === 0 ? [] : [head]
  let size = head.length
  const keep = (piece: Buffer) => {
    pieces.push(piece)
    size += piece.length
    if (size > MOST_EARLY_BYTES) socket.destroy()
  }
  // Half of a WebSocket is none.
  const gone = () => socket.destroy()
  socket.on('data', keep).on('end', gone)
  return {
    giveBack() {
      socket.off('data', keep).off('end', gone).pause()
      if (size > 0) socket.unshift(Buffer.concat(pieces, size))
    },
    drop() {
      socket.off('data', keep).resume()
    },
  }
}

/**
 * RFC 6455, 4.2.1. One whose body would stand where frames are to come is none.
 * @throws {GatewayError} request_invalid
 */
export function checkUpgrade({ method, headers, httpVersion }: IncomingMessage): void {
  const problem =
    method !== 'GET' || httpVersion !== '1.1'
      ? 'Ask for a WebSocket with GET, in HTTP/1.1.'
      : headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) !== 0
        ? 'Ask for a WebSocket without a body.'
        : headers['sec-websocket-version'] !== '13'
          ? 'Ask for a WebSocket of version 13 (Sec-WebSocket-Version).'
          : KEY.test(headers['sec-websocket-key'] ?? '')
            ? undefined
            : 'Send one Sec-WebSocket-Key of 16 bytes in base64.'
  if (problem !== undefined) throw new GatewayError('request_invalid', problem, { reason: 'handshake' })
}
