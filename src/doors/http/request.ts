// The one reader of every HTTP door: who asks, from where, with which tokens, and the body.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { PresentedTokens } from '../../core/authenticate.ts'
import { GatewayError } from '../../core/errors.ts'
import type { Registry } from '../../core/registry.ts'
import { newId } from '../../lib/ids.ts'
import { parseJson } from '../../lib/json.ts'
import { type BodyRoom, createBodyRoom } from './body-room.ts'
import { decodeUtf8Document } from '../../lib/utf8.ts'

export interface HttpContext {
  readonly requestId: string
  /** Valid W3C traceparent as received, or undefined. */
  readonly traceparent: string | undefined
  /** Client address after trusted proxies. */
  readonly address: string
  /** Request target up to `?`, raw: never decoded. */
  readonly path: string
  /** Query behind `?`, raw; empty when there is none. */
  readonly query: string
}

/** A door mounted on exact paths or prefixes, before any body parser. */
export type HttpHandler = (
  req: IncomingMessage,
  res: ServerResponse,
  context: HttpContext,
) => Promise<void> | void

/** @param trustProxy number of proxies in front whose word about the client's address counts */
export function httpContext(req: IncomingMessage, trustProxy: number): HttpContext {
  const url = req.url ?? '/'
  // RFC 9112 3.2.2: the absolute form names the same resource.
  const target = url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/?#]*/i, '') || '/'
  const mark = target.indexOf('?')
  return {
    requestId: newId('req'),
    traceparent: readTraceparent(req.headers['traceparent']),
    address: clientAddress(req, trustProxy),
    path: mark < 0 ? target : target.slice(0, mark),
    query: mark < 0 ? '' : target.slice(mark + 1),
  }
}

const TRACEPARENT = /^[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}$/

/** @returns the value when it is a traceparent as W3C Trace Context writes it, wherever in a request it stood */
export const readTraceparent = (value: unknown): string | undefined =>
  typeof value === 'string' && TRACEPARENT.test(value) ? value : undefined

/** The last hop is the socket; each trusted proxy vouches for one more entry from the right of X-Forwarded-For. */
function clientAddress(req: IncomingMessage, trustProxy: number): string {
  const socket = req.socket.remoteAddress ?? 'unknown'
  if (trustProxy === 0) return socket
  const forwarded = req.headers['x-forwarded-for']
  if (typeof forwarded !== 'string') return socket
  const hops = forwarded.split(',').map((hop) => hop.trim())
  return hops[Math.max(0, hops.length - trustProxy)] || socket
}

/** The tokens of a request, unchecked: `Authorization: Bearer` and `X-Gateway-Capability`. */
export function presentedTokens(req: IncomingMessage): PresentedTokens {
  const authorization = req.headers.authorization
  const capabilityHeader = req.headers['x-gateway-capability']
  const bearer = authorization === undefined ? undefined : /^bearer +(\S+) *$/i.exec(authorization)?.[1]
  return {
    bearer,
    capabilityHeader: typeof capabilityHeader === 'string' ? capabilityHeader.trim() : undefined,
  }
}

/**
 * The value of `Idempotency-Key`, unchecked: bare, or as the text that draft-ietf-httpapi-idempotency-key-header quotes. Two headers
 * arrive as one with a comma and a space, which no key has.
 */
export function presentedIdempotencyKey({ headers }: IncomingMessage): string | undefined {
  const value = headers['idempotency-key']
  if (typeof value !== 'string') return undefined
  return /^"([^"\\]*)"$/.exec(value)?.[1] ?? value
}

/** Contract, section 9: 256 KiB unless a tool says otherwise. */
const USUAL_LIMIT_BYTES = 256 * 1024

/** Most bytes of a message that may call any tool: as many as the tool that takes most. A route of one tool has its own limit. */
export const messageLimit = ({ tools }: Pick<Registry, 'tools'>): number =>
  Math.max(USUAL_LIMIT_BYTES, ...tools.map(({ tool }) => tool.maxBodyBytes))

// A sender that is cut off in the middle of its body would never see the refusal: this much more is read and dropped, for so long.
const MAX_DISCARDED_BYTES = 1024 * 1024
const MAX_DISCARDING_MS = 500

/** Of all doors. */
const everyBody = createBodyRoom()

/**
 * A body as it was sent, in whatever encoding.
 * @throws {GatewayError} body_too_large, request_invalid; overloaded where too many bodies arrive at once
 */
export async function readBytes(
  req: IncomingMessage,
  maxBytes: number,
  room: BodyRoom = everyBody,
): Promise<Buffer> {
  const sender = req.socket?.remoteAddress ?? ''
  let held = 0
  try {
    return await collectBytes(req, maxBytes, (bytes, size) => {
      held += bytes
      return room.take(sender, bytes, size)
    })
  } finally {
    room.give(sender, held)
  }
}

function collectBytes(
  req: IncomingMessage,
  maxBytes: number,
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

const tooLarge = (maxBytes: number) =>
  new GatewayError('body_too_large', `Send at most ${maxBytes} bytes here.`, {
    extras: { max_bytes: maxBytes },
  })

/**
 * @param maxBytes of the body as sent; encoded bodies are refused, so that is also its size in memory
 * @param maxDepth of nested arrays and objects; the usual depth of a tool's input when left out
 * @throws {GatewayError} content_type_unsupported, body_too_large, request_invalid, json_invalid, json_too_deep
 */
export async function readJson(req: IncomingMessage, maxBytes: number, maxDepth?: number): Promise<unknown> {
  const type = mediaTypeOf(req)
  if (type !== undefined && type !== 'application/json' && !/^application\/[\w.-]+\+json$/.test(type))
    throw notJson()
  const encoding = req.headers['content-encoding']
  if (encoding !== undefined && encoding !== 'identity')
    throw new GatewayError('content_type_unsupported', 'Send the body without Content-Encoding.')
  const body = await readBytes(req, maxBytes)
  if (body.length === 0) throw new GatewayError('json_invalid', 'Send a JSON body; this one is empty.')
  if (type === undefined) throw notJson()
  const text = decodeUtf8Document(body)
  if (text === undefined) throw new GatewayError('json_invalid', 'Send the body in UTF-8.')
  return parseJson(text, maxDepth)
}

/** The refusal of a body that does not say that it is JSON. */
export const notJson = () =>
  new GatewayError('content_type_unsupported', 'Send `Content-Type: application/json`.')

/** Media type without parameters, in lower case; undefined when the request names none. */
export function mediaTypeOf({ headers }: IncomingMessage): string | undefined {
  const header = headers['content-type']
  // The usual header is compared first: it needs no parsing.
  if (header === undefined || header === 'application/json') return header
  const [type = ''] = header.split(';', 1)
  return type.trim().toLowerCase()
}
