// What every HTTP door shares: request identity, token finding, body reading and problem documents.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Addresses } from '../../core/config.ts'
import type { PresentedTokens } from '../../core/authenticate.ts'
import { GatewayError, type Problem, toGatewayError, toProblem } from '../../core/errors.ts'
import { newId } from '../../lib/ids.ts'
import { parseJson } from '../../lib/json.ts'
import type { QuotaState, RateState } from '../../core/rate-limit.ts'
import { decodeUtf8Document } from '../../lib/utf8.ts'

export interface HttpContext {
  readonly requestId: string
  /** Valid W3C traceparent as received, or undefined. */
  readonly traceparent: string | undefined
  /** Client address after trusted proxies. */
  readonly address: string
  /** Request target up to `?`, raw: never decoded. */
  readonly path: string
  /** Behind `?`, raw; empty when there is none. */
  readonly query: string
}

/** A door mounted on exact paths or prefixes, before any body parser. */
export type HttpHandler = (
  req: IncomingMessage,
  res: ServerResponse,
  context: HttpContext,
) => Promise<void> | void

const TRACEPARENT = /^[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}$/

export function httpContext(req: IncomingMessage, trustProxy: number): HttpContext {
  const url = req.url ?? '/'
  // RFC 9112 3.2.2: the absolute form names the same resource.
  const target = url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/?#]*/i, '') || '/'
  const mark = target.indexOf('?')
  const traceparent = req.headers['traceparent']
  return {
    requestId: newId('req'),
    traceparent: typeof traceparent === 'string' && TRACEPARENT.test(traceparent) ? traceparent : undefined,
    address: clientAddress(req, trustProxy),
    path: mark < 0 ? target : target.slice(0, mark),
    query: mark < 0 ? '' : target.slice(mark + 1),
  }
}

/** The last hop is the socket; each trusted proxy vouches for one more entry from the right of X-Forwarded-For. */
function clientAddress(req: IncomingMessage, trustProxy: number): string {
  const socket = req.socket.remoteAddress ?? 'unknown'
  if (trustProxy === 0) return socket
  const forwarded = req.headers['x-forwarded-for']
  if (typeof forwarded !== 'string') return socket
  const hops = forwarded.split(',').map((hop) => hop.trim())
  return hops[Math.max(0, hops.length - trustProxy)] || socket
}

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
 * @param maxBytes of the body as sent; encoded bodies are refused, so that is also its size in memory
 * @throws {GatewayError} body_too_large, content_type_unsupported, request_invalid
 */
export function readBody(req: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const encoding = req.headers['content-encoding']
  return encoding === undefined || encoding === 'identity'
    ? readBytes(req, maxBytes)
    : Promise.reject(new GatewayError('content_type_unsupported', 'Send the body without Content-Encoding.'))
}

/**
 * A body as it was sent, in whatever encoding.
 * @throws {GatewayError} body_too_large, request_invalid
 */
export function readBytes(req: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const declared = Number(req.headers['content-length'] ?? 0)
  return new Promise((resolve, reject) => {
    if (declared > maxBytes + MAX_DISCARDED_BYTES) return reject(tooLarge(maxBytes))
    if (req.destroyed) return reject(endedEarly())
    const chunks: Buffer[] = []
    let size = 0
    req.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size <= maxBytes && declared <= maxBytes) chunks.push(chunk)
      // Read on for a while: a sender that is cut off in the middle would never see the refusal.
      else if (size > maxBytes + MAX_DISCARDED_BYTES) reject(tooLarge(maxBytes))
    })
    req.on('end', () => {
      if (size > maxBytes) reject(tooLarge(maxBytes))
      else resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size))
    })
    req.on('error', (cause) => reject(endedEarly(cause)))
    // Every request closes in the end; only one that closes before its end is an error worth the making.
    req.on('close', () => {
      if (!req.readableEnded) reject(endedEarly())
    })
  })
}

const MAX_DISCARDED_BYTES = 1024 * 1024

const endedEarly = (cause?: unknown) =>
  new GatewayError('request_invalid', 'The request body ended early.', { cause })

const tooLarge = (maxBytes: number) =>
  new GatewayError('body_too_large', `Send at most ${maxBytes} bytes here.`, {
    extras: { max_bytes: maxBytes },
  })

/** @throws {GatewayError} also json_invalid and json_too_deep */
export async function readJson(req: IncomingMessage, maxBytes: number): Promise<unknown> {
  const type = mediaTypeOf(req.headers['content-type'])
  if (type !== undefined && type !== 'application/json' && !/^application\/[\w.-]+\+json$/.test(type))
    throw new GatewayError('content_type_unsupported', 'Send `Content-Type: application/json`.')
  const body = await readBody(req, maxBytes)
  if (body.length === 0) throw new GatewayError('json_invalid', 'Send a JSON body; this one is empty.')
  if (type === undefined)
    throw new GatewayError('content_type_unsupported', 'Send `Content-Type: application/json`.')
  return parseJson(decode(body))
}

/** Most say no more than what they are. */
const mediaTypeOf = (header: string | undefined) =>
  header === 'application/json' ? header : header?.split(';')[0]!.trim().toLowerCase()

function decode(body: Buffer): string {
  const text = decodeUtf8Document(body)
  if (text === undefined) throw new GatewayError('json_invalid', 'Send the body in UTF-8.')
  return text
}

export function sendJson(
  res: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  sendText(res, status, JSON.stringify(body), { 'content-type': 'application/json', ...headers })
}

/** As one string with its headers, which Node writes at once; bytes would be a second piece. */
export function sendText(
  res: ServerResponse,
  status: number,
  text: string,
  headers: Readonly<Record<string, string>>,
): void {
  if (res.headersSent || res.destroyed) return
  const length = Buffer.byteLength(text)
  res.writeHead(status, { ...headers, 'content-length': length })
  // Of ASCII every byte is a character, and Node copies it without a look at each.
  res.end(text, length === text.length ? 'latin1' : 'utf8')
}

export function sendBytes(
  res: ServerResponse,
  status: number,
  body: Buffer,
  headers: Readonly<Record<string, string>>,
): void {
  if (res.headersSent || res.destroyed) return
  res.writeHead(status, { 'content-length': body.length, ...headers })
  res.end(body)
}

/** RFC 9457. The request id is in the header too, so that even a HEAD or a broken parser can quote it. */
export function sendProblem(
  res: ServerResponse,
  thrown: unknown,
  context: HttpContext,
  addresses: Addresses,
  rate?: RateState,
): void {
  const error = toGatewayError(thrown)
  sendJson(res, error.status, problemOf(error, context, addresses), {
    ...problemHeaders(error, context.requestId),
    ...rateHeaders(rate),
  })
}

export const problemOf = (error: GatewayError, context: HttpContext, { baseUrl }: Addresses): Problem =>
  toProblem(error, { requestId: context.requestId, baseUrl, instance: context.path })

export function problemHeaders(error: GatewayError, requestId: string): Record<string, string> {
  const headers: Record<string, string> = {
    'content-type': 'application/problem+json',
    'cache-control': 'no-store',
    'x-request-id': requestId,
  }
  const retry = error.extras.retry_after_seconds
  if (retry !== undefined) headers['retry-after'] = String(retry)
  if (error.extras.allow) headers['allow'] = error.extras.allow.join(', ')
  if (error.status === 401) headers['www-authenticate'] = 'Bearer realm="agent-gateway"'
  // What is left of a refused body would be read as the next request.
  if (error.code === 'body_too_large') headers['connection'] = 'close'
  return headers
}

/** draft-ietf-httpapi-ratelimit-headers-10 */
export function rateHeaders(rate: RateState | undefined, quota?: QuotaState): Record<string, string> {
  const minute = rate && { policy: `"default";q=${rate.limit};w=60`, left: leftOf('default', rate) }
  if (!quota) return minute ? { 'ratelimit-policy': minute.policy, ratelimit: minute.left } : {}
  const policy = `"${quota.name}";q=${quota.limit};w=${quota.windowSeconds}`
  const left = leftOf(quota.name, quota)
  return minute
    ? { 'ratelimit-policy': `${minute.policy}, ${policy}`, ratelimit: `${minute.left}, ${left}` }
    : { 'ratelimit-policy': policy, ratelimit: left }
}

const leftOf = (name: string, { remaining, resetSeconds }: RateState) =>
  `"${name}";r=${remaining};t=${resetSeconds}`
