// One request and its answer on a connection that is already open. What undici reports is sorted into the phases that
// the story bills by; nothing it says goes further.
import type { IncomingHttpHeaders } from 'undici/types/header.js'
import type { Dispatcher } from 'undici'
import type { Fault } from '../../fault.ts'
import type { OutboundRequest, OutboundResponse, SendFailure, SendResult } from '../ports.ts'
import type { Connection } from './connections.ts'

type ReceivedHeaders = OutboundResponse['headers']
type AfterSend = Extract<SendFailure, { phase: 'after_send' }>['reason']

/** Never rejects. */
export async function exchange(
  { client, socket }: Connection,
  request: OutboundRequest,
  { signal, fault }: { signal: AbortSignal; fault: Fault },
): Promise<SendResult> {
  // Plaintext bytes: what TLS itself exchanges is not in this count, so an unchanged count proves that nothing left.
  const writtenBefore = socket.bytesWritten
  const failed = (reason: AfterSend): SendResult => {
    if (socket.bytesWritten > writtenBefore) return { ok: false, phase: 'after_send', reason }
    return { ok: false, phase: 'before_send', reason: reason === 'timeout' ? 'timeout' : 'request_rejected' }
  }
  const reading = readAnswer(client, request, signal)
  try {
    await reading.started
    await fault.at('after_request')
    await reading.headersSeen
    await fault.at('after_headers')
    const answer = await reading.answer
    await fault.at('after_response')
    if (answer.kind === 'failed') return failed(answer.reason)
    if (answer.kind === 'refused')
      return { ok: false, phase: 'response', status: answer.status, reason: answer.reason }
    return { ok: true, response: answer.response }
  } catch {
    // Only injected faults throw here.
    reading.abort()
    return failed('reset')
  }
}

type Answer =
  | { readonly kind: 'complete'; readonly response: OutboundResponse }
  | {
      readonly kind: 'refused'
      readonly status: number
      readonly reason: 'too_large' | 'bad_status' | 'encoded'
    }
  | { readonly kind: 'failed'; readonly reason: AfterSend }

interface Reading {
  /** The request is on its way, or never will be. */
  readonly started: Promise<void>
  /** The final status line is in, or never will be. */
  readonly headersSeen: Promise<void>
  readonly answer: Promise<Answer>
  abort(): void
}

class Refusal extends Error {}

function readAnswer(client: Connection['client'], request: OutboundRequest, signal: AbortSignal): Reading {
  const started = Promise.withResolvers<void>()
  const headersSeen = Promise.withResolvers<void>()
  const answer = Promise.withResolvers<Answer>()
  let controller: Dispatcher.DispatchController | undefined

  let body = createBody(0)
  let head: { status: number; statusText: string; headers: ReceivedHeaders } | undefined

  function end(result: Answer): void {
    signal.removeEventListener('abort', giveUp)
    started.resolve()
    headersSeen.resolve()
    answer.resolve(result)
  }
  function refuse(status: number, reason: 'too_large' | 'bad_status' | 'encoded'): void {
    end({ kind: 'refused', status, reason })
    controller?.abort(new Refusal(reason))
  }
  function fail(reason: AfterSend): void {
    end({ kind: 'failed', reason })
    controller?.abort(new Refusal(reason))
  }
  const giveUp = () => fail('timeout')
  signal.addEventListener('abort', giveUp)

  const handler: Dispatcher.DispatchHandler = {
    onRequestStart(given) {
      controller = given
      // Given up while the request waited: undici asks before it writes the first byte.
      if (signal.aborted) return given.abort(new Refusal('timeout'))
      // The request line and headers are written in the same turn.
      setImmediate(started.resolve)
    },
    onResponseStart(given, status, _headers, statusText) {
      if (status < 200) return
      const headers = readPairs(given.rawHeaders)
      head = { status, statusText: statusText ?? '', headers }
      headersSeen.resolve()
      if (isFramedTwice(headers)) return fail('malformed')
      if (status > 599 || status === 206) return refuse(status, 'bad_status')
      if (isTransferEncoded(headers) || (!request.acceptsEncoded && isEncoded(headers)))
        return refuse(status, 'encoded')
      const declared = Number(headers.find(({ name }) => name === 'content-length')?.value ?? 0)
      if (request.method === 'HEAD') return
      if (request.overflow !== 'cut' && declared > request.maxResponseBytes)
        return refuse(status, 'too_large')
      body = createBody(Math.min(declared, request.maxResponseBytes))
    },
    onResponseData(_given, chunk) {
      const excess = body.size + chunk.length - request.maxResponseBytes
      if (excess <= 0) return body.add(chunk)
      if (request.overflow !== 'cut') return refuse(head!.status, 'too_large')
      body.add(chunk.subarray(0, chunk.length - excess))
      end({ kind: 'complete', response: { ...head!, body: body.take(), isCut: true } })
      controller?.abort(new Refusal('too_large'))
    },
    onResponseEnd(given, trailers) {
      const trailing = readPairs(given.rawTrailers ?? trailers).map((pair) => ({ ...pair, trailer: true }))
      const { status, statusText, headers } = head!
      end({
        kind: 'complete',
        response: { status, statusText, headers: [...headers, ...trailing], body: body.take() },
      })
    },
    onResponseError(_given, error) {
      end({ kind: 'failed', reason: sortError(error, head !== undefined) })
    },
  }

  if (signal.aborted) giveUp()
  else
    request.headers.use((headers) => {
      client.dispatch(
        {
          path: request.url.pathname + request.url.search,
          method: request.method as Dispatcher.HttpMethod,
          headers: headers.flat(),
          body: request.body ?? null,
        },
        handler,
      )
    })
  return { started: started.promise, headersSeen: headersSeen.promise, answer: answer.promise, abort: giveUp }
}

const SMALL_BYTES = 1024
/** Few pieces are cheaper as they are: a block is larger than most bodies. */
const FEW_PIECES = 32
const BLOCK_BYTES = 64 * 1024

interface Body {
  readonly size: number
  add(chunk: Buffer): void
  take(): Buffer
}

/** @param declared bytes that are said to follow; 0 where that is not known */
const createBody = (declared: number): Body =>
  declared >= BLOCK_BYTES ? createWholeBody(declared) : createPieces()

/**
 * A long one has its place from the start: to put two mebibytes together at the end takes one long turn. Memory that nothing
 * was written to yet costs nothing.
 */
function createWholeBody(declared: number): Body {
  const whole = Buffer.allocUnsafeSlow(declared)
  let size = 0
  return {
    get size() {
      return size
    },
    add(chunk) {
      size += chunk.copy(whole, size)
    },
    take: () => whole.subarray(0, size),
  }
}

/** As it comes. One in pieces of a byte each, a Buffer for every one, would be a hundred times its size. */
function createPieces(): Body {
  const chunks: Buffer[] = []
  let size = 0
  // Small pieces until they fill it.
  let block: Buffer | undefined
  let used = 0
  const flush = () => {
    if (block && used > 0) chunks.push(Buffer.from(block.subarray(0, used)))
    used = 0
  }
  return {
    get size() {
      return size
    },
    add(chunk) {
      size += chunk.length
      if (chunk.length < SMALL_BYTES && chunks.length >= FEW_PIECES) {
        block ??= Buffer.allocUnsafeSlow(BLOCK_BYTES)
        if (used + chunk.length > BLOCK_BYTES) flush()
        used += chunk.copy(block, used)
        return
      }
      flush()
      chunks.push(chunk)
    },
    take() {
      flush()
      return Buffer.concat(chunks, size)
    },
  }
}

function sortError(error: Error, isHeadSeen: boolean): AfterSend {
  const isMalformed =
    error.name === 'HTTPParserError' ||
    error.name === 'HeadersOverflowError' ||
    /^bad (?:response|upgrade)$/.test(error.message) ||
    (!isHeadSeen && error.name === 'ResponseContentLengthMismatchError')
  if (isMalformed) return 'malformed'
  return isHeadSeen ? 'body_incomplete' : 'reset'
}

/** Two lengths, or a length and chunks: somebody on the way may have read another message than we would. */
const isFramedTwice = (headers: ReceivedHeaders) =>
  headers.filter(({ name }) => name === 'content-length' || name === 'transfer-encoding').length > 1

const isEncoded = (headers: ReceivedHeaders) =>
  headers.some(({ name, value }) => name === 'content-encoding' && value.trim().toLowerCase() !== 'identity')

/** Below the chunks, which the parser takes off, something else would be left: nobody asked for it, nor says that it is there. */
const isTransferEncoded = (headers: ReceivedHeaders) =>
  headers.some(({ name, value }) => name === 'transfer-encoding' && value.trim().toLowerCase() !== 'chunked')

/** Name-value pairs as received, repeated names kept apart. */
function readPairs(raw: Buffer[] | string[] | IncomingHttpHeaders | null | undefined): ReceivedHeaders {
  if (!raw) return []
  if (!Array.isArray(raw))
    return Object.entries(raw).flatMap(([name, value]) =>
      (Array.isArray(value) ? value : [value ?? '']).map((one) => ({ name: name.toLowerCase(), value: one })),
    )
  const text = raw.map((item) => (typeof item === 'string' ? item : item.toString('latin1')))
  return Array.from({ length: text.length / 2 }, (_, i) => ({
    name: text[i * 2]!.toLowerCase(),
    value: text[i * 2 + 1]!,
  }))
}
