// The one reader of every HTTP door: who asks, from where, and with which tokens. What they send is read in body.ts.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { PresentedTokens } from '../../core/authenticate.ts'
import { newId } from '../../lib/ids.ts'

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
export function clientAddress(req: IncomingMessage, trustProxy: number): string {
  const socket = req.socket.remoteAddress ?? 'unknown'
  if (trustProxy === 0) return socket
  const forwarded = req.headers['x-forwarded-for']
  if (typeof forwarded !== 'string') return socket
  const hops = forwarded.split(',').map((hop) => hop.trim())
  return hops[Math.max(0, hops.length - trustProxy)] || socket
}

/** Headers whose value is a token and nothing else: ours, and where the SDKs of others put theirs. */
export const KEY_HEADERS = [
  'x-gateway-capability',
  'x-api-key',
  'api-key',
  'x-goog-api-key',
  'private-token',
] as const

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

/** Bodies of up to as much are read and parsed at once: most are smaller, and must go on while somebody sends the rest. */
export const LARGE_BYTES = 64 * 1024

/** Bytes of the body that the head of a request announces; of one in chunks nobody knows. */
export const announcedBytes = ({ headers }: IncomingMessage): number =>
  headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : Infinity

/** Media type without parameters, in lower case; undefined when the request names none. */
export function mediaTypeOf({ headers }: IncomingMessage): string | undefined {
  const header = headers['content-type']
  // The usual header is compared first: it needs no parsing.
  if (header === undefined || header === 'application/json') return header
  const [type = ''] = header.split(';', 1)
  return type.trim().toLowerCase()
}
