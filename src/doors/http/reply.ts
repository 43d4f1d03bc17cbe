// The one writer of every HTTP door: texts, bytes, streams of events, problem documents and the headers of a refusal.
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { Addresses } from '../../core/config.ts'
import { longJson } from '../../lib/json-pieces.ts'
import { createScheduler } from '../../lib/scheduler.ts'
import { GatewayError, type Problem, toGatewayError, toProblem } from '../../core/errors.ts'
import type { CallResult } from '../../core/call.ts'
import type { QuotaState, RateState } from '../../core/rate-limit.ts'
import { announcedBytes, type HttpContext, LARGE_BYTES } from './request.ts'

export type Headers = Readonly<Record<string, string>>

const JSON_TYPE = { 'content-type': 'application/json' }

/** Writes a value as JSON, in `application/json` unless the headers say otherwise. Does nothing once an answer was begun. */
export function sendJson(res: ServerResponse, status: number, value: unknown, headers?: Headers): void {
  sendJsonText(res, status, JSON.stringify(value), headers)
}

/** Writes JSON that is serialised already. */
export function sendJsonText(res: ServerResponse, status: number, json: string, headers?: Headers): void {
  sendText(res, status, json, { ...JSON_TYPE, ...headers })
}

/** One piece between two rounds of the event loop, of whichever answer: a call of another client takes about ten rounds. */
const pieceTurns = createScheduler(1)

/** Writes a value as JSON; one with a long text in it a piece at a time, so that other clients are heard in between. */
export async function sendJsonInTurns(
  res: ServerResponse,
  status: number,
  value: unknown,
  headers: Headers,
): Promise<void> {
  const long = longJson(value)
  if (!long) return sendText(res, status, JSON.stringify(value), headers)
  const pieces: Buffer[] = []
  for (;;) {
    await pieceTurns.turn()
    const { value: piece, done } = long.next()
    if (done) break
    pieces.push(piece)
  }
  if (res.headersSent || res.destroyed) return
  res.writeHead(status, {
    ...headers,
    'content-length': pieces.reduce((sum, { length }) => sum + length, 0),
  })
  res.cork()
  for (const piece of pieces) res.write(piece)
  res.end()
  res.uncork()
}

/** A sender that is cut off in the middle of its body would not see the answer: it has so long to read it. */
const LINGER_MS = 500

/**
 * Whether a large body is still on its way that nobody looks at: of a refused request, or where there should be none. Node would read
 * it all to use the connection again, as fast as it comes.
 */
function hasUnreadBody({ req }: ServerResponse): boolean {
  // Of nearly every request all has come by now, and tests of writers have none.
  if (req?.complete !== false) return false
  return announcedBytes(req) > LARGE_BYTES
}

/** Ends an answer, and with it the connection where its request is not read. */
function endAnswer(
  res: ServerResponse,
  status: number,
  headers: OutgoingHttpHeaders,
  body: string | Buffer,
  encoding: BufferEncoding = 'utf8',
): void {
  if (!hasUnreadBody(res)) {
    res.writeHead(status, headers).end(body, encoding)
    return
  }
  res.writeHead(status, { ...headers, connection: 'close' })
  res.write(body, encoding)
  const end = setTimeout(() => res.end(), LINGER_MS)
  res.once('close', () => clearTimeout(end))
}

/** For so long the rest of a request is taken whose answer is there already. */
const REST_MS = 5_000

/**
 * Ends an answer that an upstream may have given before it had the whole request, as one does that refuses it by its head. Many programs
 * read nothing before they have sent all; nobody wants the rest of that, but left where it is it would hold their connection.
 */
export function endRelayed(res: ServerResponse): void {
  const { req } = res
  if (req?.complete !== false || announcedBytes(req) === 0) return void res.end()
  const { socket } = req
  const cut = setTimeout(() => {
    res.end()
    socket.destroySoon()
  }, REST_MS).unref()
  req.once('end', () => {
    clearTimeout(cut)
    res.end()
  })
  // Node cuts off a connection that is not kept as soon as the answer is out.
  if (res.shouldKeepAlive) res.end()
  dropRest(req)
}

/** Whoever read it until now may still wait for a piece, and gets one or the end. */
function dropRest(req: IncomingMessage): void {
  const drop = () => {
    while (req.read() !== null);
  }
  req.unpipe()
  req.on('readable', drop)
  drop()
}

/** Writes one string with its headers, which Node sends in one piece; bytes would be a second one. */
export function sendText(res: ServerResponse, status: number, text: string, headers: Headers): void {
  if (res.headersSent || res.destroyed) return
  const length = Buffer.byteLength(text)
  // A text with as many bytes as characters is ASCII, which Node copies without a look at each.
  const encoding = length === text.length ? 'latin1' : 'utf8'
  endAnswer(res, status, { ...headers, 'content-length': length }, text, encoding)
}

/** Answers with a body as it is; nothing where an answer began or the client is gone. */
export function sendBytes(res: ServerResponse, status: number, body: Buffer, headers: Headers): void {
  if (res.headersSent || res.destroyed) return
  endAnswer(res, status, { 'content-length': body.length, ...headers }, body)
}

/** Answers without a body; nothing where an answer began or the client is gone. */
export function sendEmpty(res: ServerResponse, status: number, headers: Headers): void {
  if (res.headersSent || res.destroyed) return
  res.writeHead(status, { 'content-length': 0, ...headers })
  res.end()
}

const KEEP_ALIVE_MS = 15_000
const EVENT_STREAM = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  // Proxies that buffer would hold events back until there are none left to send.
  'x-accel-buffering': 'no',
}

/** Begins a stream of server-sent events. Comments keep proxies from cutting it off while it is quiet. */
export function openEventStream(res: ServerResponse, headers: Headers, keepAliveMs = KEEP_ALIVE_MS): void {
  res.writeHead(200, { ...headers, ...EVENT_STREAM })
  const keepAlive = setInterval(() => {
    if (!res.writableEnded) res.write(': keep-alive\n\n')
  }, keepAliveMs)
  keepAlive.unref()
  res.once('close', () => clearInterval(keepAlive))
}

/** Resolves when the client takes more, or is gone. However slow it reads, no listener stays behind. */
export function writeChunk(res: ServerResponse, chunk: string | Uint8Array): Promise<void> | undefined {
  if (res.destroyed || res.write(chunk)) return undefined
  return new Promise((resolve) => {
    const done = () => {
      res.off('drain', done).off('close', done)
      resolve()
    }
    res.on('drain', done).on('close', done)
  })
}

/** Writes a refusal as a problem document (RFC 9457). */
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

/** The problem document of a request, with its path as `instance`. */
export const problemOf = (
  error: GatewayError,
  context: Pick<HttpContext, 'requestId' | 'path'>,
  { baseUrl }: Pick<Addresses, 'baseUrl'>,
): Problem => toProblem(error, { requestId: context.requestId, baseUrl, instance: context.path })

/** The request id is in the header too, so that even a HEAD or a broken parser can quote it. */
export const problemHeaders = (error: GatewayError, requestId: string): Record<string, string> => ({
  'content-type': 'application/problem+json',
  'cache-control': 'no-store',
  'x-request-id': requestId,
  ...refusalHeaders(error),
})

/** A refusal says in its headers, at every door, how to authenticate, when to come back and what is allowed. */
export function refusalHeaders(error: GatewayError): Record<string, string> {
  const headers: Record<string, string> = {}
  const { retry_after_seconds: retry, allow } = error.extras
  if (retry !== undefined) headers['retry-after'] = String(retry)
  if (allow) headers['allow'] = allow.join(', ')
  if (error.status === 401) headers['www-authenticate'] = 'Bearer realm="agent-gateway"'
  // The rest of a refused body would be read as the next request.
  if (error.code === 'body_too_large' || error.reason === 'body_slow') headers['connection'] = 'close'
  return headers
}

/** draft-ietf-httpapi-ratelimit-headers-10 */
export function rateHeaders(rate: RateState | undefined, quota?: QuotaState): Record<string, string> {
  const policies: string[] = []
  const left: string[] = []
  if (rate) {
    policies.push(`"default";q=${rate.limit};w=60`)
    left.push(describeLeft('default', rate))
  }
  if (quota) {
    policies.push(`"${quota.name}";q=${quota.limit};w=${quota.windowSeconds}`)
    left.push(describeLeft(quota.name, quota))
  }
  return left.length === 0 ? {} : { 'ratelimit-policy': policies.join(', '), ratelimit: left.join(', ') }
}

/** What a call told of its limits, where the door answers in an envelope that has no place for it. */
export interface SeenLimits {
  rate?: RateState | undefined
  quota?: QuotaState | undefined
  retryAfterSeconds?: number | undefined
}

/** The headers of an answer whose refusals are within it: the same as those of a refusal in HTTP. */
export function limitHeaders(seen: SeenLimits | undefined): Record<string, string> {
  if (!seen) return {}
  const headers = rateHeaders(seen.rate, seen.quota)
  if (seen.retryAfterSeconds !== undefined) headers['retry-after'] = String(seen.retryAfterSeconds)
  return headers
}

/** Notes what a call told of its limits. */
export function noteLimits(
  seen: SeenLimits | undefined,
  result: Pick<CallResult, 'rate' | 'quota'> & { readonly error?: GatewayError },
): void {
  if (!seen) return
  seen.rate = result.rate
  seen.quota = result.quota
  seen.retryAfterSeconds = result.error?.extras.retry_after_seconds
}

const describeLeft = (name: string, { remaining, resetSeconds }: RateState) =>
  `"${name}";r=${remaining};t=${resetSeconds}`
