// One side of a WebSocket: frames in, put together to messages, and frames out. How a frame looks is `ws`'s to know; what becomes of a message
// is decided elsewhere.
import type { Duplex, Writable } from 'node:stream'
import * as ws from 'ws'

/** Longest message; of each side one at most is in memory. */
export const MAX_MESSAGE_BYTES = 1024 * 1024
/** Parts of one message, and of one frame as they arrive: each takes memory beside its bytes. */
const MAX_PARTS = 16 * 1024

export interface Message {
  readonly kind: 'message'
  readonly bytes: Buffer
  readonly isBinary: boolean
}
export interface Signal {
  readonly kind: 'ping' | 'pong'
  readonly bytes: Buffer
}
export interface Closing {
  readonly kind: 'close'
  /** Undefined where the frame named none. */
  readonly code: number | undefined
  readonly reason: Buffer
}
export type Item = Message | Signal | Closing

export interface Side {
  /**
   * What comes, in order; nothing is read ahead of it but what came in one piece. Ends with a close frame, or where the connection does.
   * @throws {FrameError} frames that are none, or a message that is too long
   */
  items(): AsyncGenerator<Item, void>
  /** @returns resolves when the other end takes more, or is gone */
  send(item: Item): Promise<void>
  readonly isGone: boolean
  /** Ends the connection when what was sent has gone out, after a moment by force. */
  end(): void
}

/** What came is no WebSocket as RFC 6455 has it; `code` is what a close frame says of it. */
export class FrameError extends Error {
  readonly code: number
  constructor(code: number) {
    super(`the frames break the rules: ${code}`)
    this.name = 'FrameError'
    this.code = code
  }
}

/** The parts of `ws` that its types do not tell of. */
const { Receiver, Sender } = ws as unknown as {
  readonly Receiver: new (options: {
    readonly isServer: boolean
    readonly maxPayload: number
    readonly maxFragments: number
    readonly maxBufferedChunks: number
  }) => Writable
  readonly Sender: new (socket: Duplex) => {
    send(bytes: Buffer, options: { binary: boolean; fin: true; compress: false; mask: boolean }): void
    ping(bytes: Buffer, mask: boolean): void
    pong(bytes: Buffer, mask: boolean): void
    close(code: number | undefined, reason: Buffer, mask: boolean): void
  }
}

const CODES: Readonly<Record<string, number>> = {
  WS_ERR_UNSUPPORTED_MESSAGE_LENGTH: 1009,
  WS_ERR_UNSUPPORTED_DATA_PAYLOAD_LENGTH: 1009,
  WS_ERR_INVALID_UTF8: 1007,
  WS_ERR_TOO_MANY_BUFFERED_PARTS: 1008,
}
const PROTOCOL_ERROR = 1002
/** A close frame without a code is told so, and never sent. */
const NO_CODE = 1005
/** Longest wait for what was sent last to go out, and for the other end to hang up. */
const END_MS = 2_000

/** @param is which end of it the gateway is: a server's frames are not masked, a client's are */
export function createSide(socket: Duplex, is: 'server' | 'client'): Side {
  const sender = new Sender(socket)
  const receiver = new Receiver({
    isServer: is === 'server',
    maxPayload: MAX_MESSAGE_BYTES,
    maxFragments: MAX_PARTS,
    maxBufferedChunks: MAX_PARTS,
  })
  const mask = is === 'client'
  let come: Item[] = []
  receiver.on('message', (bytes: Buffer, isBinary: boolean) =>
    come.push({ kind: 'message', bytes, isBinary }),
  )
  receiver.on('ping', (bytes: Buffer) => come.push({ kind: 'ping', bytes }))
  receiver.on('pong', (bytes: Buffer) => come.push({ kind: 'pong', bytes }))
  receiver.on('conclude', (code: number, reason: Buffer) =>
    come.push({ kind: 'close', code: code === NO_CODE ? undefined : code, reason }),
  )
  // Told to whoever writes, too.
  receiver.on('error', () => {})
  // The end of the connection is what is looked at.
  socket.on('error', () => socket.destroy())

  /** Items are told while a piece is taken in, so that all of them are here when it has been. */
  const takeIn = (piece: Buffer) =>
    new Promise<number | undefined>((resolve) => {
      receiver.write(piece, (error) => {
        if (!error) return resolve(undefined)
        const { code = '' } = error as NodeJS.ErrnoException
        resolve(CODES[code] ?? PROTOCOL_ERROR)
      })
    })

  return {
    async *items() {
      for (;;) {
        const piece = await nextPiece(socket)
        if (piece === undefined) return
        const problem = await takeIn(piece)
        const items = come
        come = []
        for (const item of items) {
          yield item
          if (item.kind === 'close') return
        }
        if (problem !== undefined) throw new FrameError(problem)
      }
    },
    async send(item) {
      if (!socket.writable) return
      switch (item.kind) {
        case 'message':
          sender.send(item.bytes, { binary: item.isBinary, fin: true, compress: false, mask })
          break
        case 'close':
          sender.close(item.code, item.reason, mask)
          break
        case 'ping':
        case 'pong':
          sender[item.kind](item.bytes, mask)
      }
      if (socket.writableNeedDrain) await untilDrained(socket)
    },
    get isGone() {
      return socket.destroyed || !socket.writable
    },
    end() {
      if (socket.destroyed) return
      const timer = setTimeout(() => socket.destroy(), END_MS)
      socket.once('close', () => clearTimeout(timer))
      // What still comes is nobody's, and a connection that is not read does not end.
      socket.resume()
      socket.end()
    },
  }
}

/** @returns undefined at the end, however it came */
async function nextPiece(socket: Duplex): Promise<Buffer | undefined> {
  for (;;) {
    const piece = socket.read() as Buffer | null
    if (piece !== null) return piece
    if (socket.readableEnded || socket.destroyed || !socket.readable) return undefined
    await firstOf(socket, ['readable', 'end', 'close'])
  }
}

const untilDrained = (socket: Duplex) => firstOf(socket, ['drain', 'close'])

function firstOf(socket: Duplex, events: readonly string[]): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      for (const event of events) socket.off(event, done)
      resolve()
    }
    for (const event of events) socket.on(event, done)
  })
}
