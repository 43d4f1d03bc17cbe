// The one reader of bodies. A large one is read and parsed in turns, so that a storm of them leaves the event loop to everybody else.
import type { IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { GatewayError } from '../../core/errors.ts'
import { holderOf } from '../../core/rate-limit.ts'
import { parseJson } from '../../lib/json.ts'
import { decodeUtf8Document } from '../../lib/utf8.ts'
import { type BodyRoom, createBodyRoom } from './body-room.ts'
import { createParseTurns, createPieceTurns } from './body-turns.ts'
import { LARGE_BYTES, mediaTypeOf } from './request.ts'

/**
 * Members, objects and lists of one body together. 30,000 take 11 ms to parse where every name is another, as nobody's are; the
 * largest transaction that can be inspected has about 20,000.
 */
export const MAX_JSON_ITEMS = 30_000

// A sender that is cut off in the middle of its body would never see the refusal: this much more is read and dropped, for so long.
const MAX_DISCARDED_BYTES = 1024 * 1024
const MAX_DISCARDING_MS = 500

/** Of all doors. */
const everyBody = createBodyRoom()
/** A piece is what the socket gives at once, 64 KiB: four of them are read between two rounds of the loop, whoever sent them. */
const pieceTurns = createPieceTurns(4)
const parseTurns = createParseTurns()

/**
 * A body as it was sent, in whatever encoding.
 * @throws {GatewayError} body_too_large, request_invalid; overloaded where too many bodies arrive at once
 */
export async function readBytes(
  req: IncomingMessage,
  maxBytes: number,
  { room = everyBody, sender = senderOf(req) }: { readonly room?: BodyRoom; readonly sender?: string } = {},
): Promise<Buffer> {
  let held = 0
  try {
    return await collectBytes(req, maxBytes, sender, (bytes, size) => {
      held += bytes
      return room.take(sender, bytes, size)
    })
  } finally {
    room.give(sender, held)
  }
}

/** Whoever has one address of IPv6 has many. */
const senderOf = (req: IncomingMessage) => holderOf(req.socket?.remoteAddress ?? '')

function collectBytes(
  req: IncomingMessage,
  maxBytes: number,
  sender: string,
  isRoomFor: (bytes: number, size: number) => boolean,
): Promise<Buffer> {
  const declared = Number(req.headers['content-length'] ?? 0)
  return new Promise((resolve, reject) => {
    if (declared > maxBytes + MAX_DISCARDED_BYTES) return reject(tooLarge(maxBytes))
    if (req.destroyed) return reject(endedEarly())
    const chunks: Buffer[] = []
    let size = 0
    let isRefused = false
    let discarding: NodeJS.Timeout | undefined
    req.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > LARGE_BYTES) {
        req.pause()
        void pieceTurns.turn(sender).then(() => req.resume())
      }
      if (isRefused) return
      if (size <= maxBytes && declared <= maxBytes) {
        chunks.push(chunk)
        if (isRoomFor(chunk.length, size)) return
        isRefused = true
        reject(tooManyBodies())
      } else if (size > maxBytes + MAX_DISCARDED_BYTES) reject(tooLarge(maxBytes))
      else discarding ??= setTimeout(() => reject(tooLarge(maxBytes)), MAX_DISCARDING_MS)
    })
    req.on('end', () => {
      if (size > maxBytes) reject(tooLarge(maxBytes))
      else resolve(Buffer.concat(chunks, size))
    })
    req.on('error', (cause) => reject(endedEarly(cause)))
    // Every request closes in the end; only one that closes before its end is an error.
    req.on('close', () => {
      clearTimeout(discarding)
      if (!req.readableEnded) reject(endedEarly())
    })
  })
}

const endedEarly = (cause?: unknown) =>
  new GatewayError('request_invalid', 'The request body ended early.', { cause })

const tooManyBodies = () =>
  new GatewayError(
    'overloaded',
    'Too many large requests are arriving. Send this one again shortly, or a smaller one.',
    { reason: 'bodies', extras: { retry_after_seconds: 1 } },
  )

/** The refusal of a body of more bytes than this. */
export const tooLarge = (maxBytes: number) =>
  new GatewayError('body_too_large', `Send at most ${maxBytes} bytes here.`, {
    extras: { max_bytes: maxBytes },
  })

export interface JsonReading {
  /** Of the body as sent; encoded bodies are refused, so that is also its size in memory. */
  readonly maxBytes: number
  /** Of nested arrays and objects; the usual depth of a tool's input when left out. */
  readonly maxDepth?: number | undefined
  /** Address of the client, where proxies vouch for another one than that of the connection. */
  readonly address?: string | undefined
  /** Told how large the body is, before anything is made of it; what it throws refuses the body. */
  readonly arrived?: ((bytes: number) => Promise<void> | void) | undefined
}

/**
 * The value of a body in JSON.
 * @throws {GatewayError} content_type_unsupported, body_too_large, request_invalid, json_invalid, json_too_deep, what `arrived` throws
 */
export async function readJson(
  req: IncomingMessage,
  { maxBytes, maxDepth, address, arrived }: JsonReading,
): Promise<unknown> {
  const type = mediaTypeOf(req)
  if (type !== undefined && type !== 'application/json' && !/^application\/[\w.-]+\+json$/.test(type))
    throw notJson()
  const encoding = req.headers['content-encoding']
  if (encoding !== undefined && encoding !== 'identity')
    throw new GatewayError('content_type_unsupported', 'Send the body without Content-Encoding.')
  const sender = address === undefined ? senderOf(req) : holderOf(address)
  const body = await readBytes(req, maxBytes, { sender })
  if (body.length === 0) throw new GatewayError('json_invalid', 'Send a JSON body; this one is empty.')
  if (type === undefined) throw notJson()
  const admitted = arrived?.(body.length)
  if (admitted) await admitted
  const isLarge = body.length > LARGE_BYTES
  if (isLarge) await parseTurns.turn(sender)
  const text = decodeUtf8Document(body)
  if (text === undefined) throw new GatewayError('json_invalid', 'Send the body in UTF-8.')
  const value = parseJson(text, maxDepth, MAX_JSON_ITEMS)
  // What is made of it may take as long again: the loop comes round in between.
  if (isLarge) await sleep()
  return value
}

/** The refusal of a body that does not say that it is JSON. */
export const notJson = () =>
  new GatewayError('content_type_unsupported', 'Send `Content-Type: application/json`.')
