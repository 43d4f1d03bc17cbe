// One request and its answer on a connection that is already open. What undici reports is sorted into the phases that
// the story bills by; nothing it says goes further.
import type { IncomingHttpHeaders } from 'undici/types/header.js'
import type { Dispatcher } from 'undici'
import type { Fault } from '../../lib/fault-points.ts'
import type { OutboundRequest, OutboundResponse, SendFailure, SendResult } from '../ports.ts'
import type { Connection } from './connections.ts'
import type { Deadline } from './deadline.ts'

type ReceivedHeaders = OutboundResponse['headers']
type AfterSend = Extract<SendFailure, { phase: 'after_send' }>['reason']

/** Never rejects. */
export async function exchange(
  connection: Connection,
  request: OutboundRequest,
  { deadline, fault }: { deadline: Deadline; fault: Fault },
): Promise<SendResult> {
  const stages = { started: Promise.withResolvers<void>(), headersSeen: Promise.withResolvers<void>() }
  const reading = readAnswer(connection, request, { deadline, stages })
  try {
    await stages.started.promise
    await fault.at('after_request')
    await stages.headersSeen.promise
    await fault.at('after_headers')
    await reading.answer
    await fault.at('after_response')
    return await reading.answer
  } catch {
    // Only injected faults throw here.
    return reading.abort()
  }
}

/** The moments between which a process may die: fault points wait there. */
interface Stages {
  /** The request is on its way, or never will be. */
  readonly started: PromiseWithResolvers<void>
  /** The final status line is in, or never will be. */
  readonly headersSeen: PromiseWithResolvers<void>
}

interface Reading {
  readonly answer: Promise<SendResult>
  /** Gives up; what is known of the request then. */
  abort(): SendResult
}

class Refusal extends Error {}

function readAnswer(
  { client, socket }: Connection,
  request: OutboundRequest,
  { deadline, stages }: { deadline: Deadline; stages: Stages },
): Reading {
  const answer = Promise.withResolvers<SendResult>()
  // Plaintext bytes: what TLS itself exchanges is not in this count, so an unchanged count proves that nothing left.
  const writtenBefore = socket.bytesWritten
  let controller: Dispatcher.DispatchController | undefined

  let body: Body | undefined
  let head: { status: number; statusText: string; headers: ReceivedHeaders } | undefined

  function end(result: SendResult): void {
    deadline.onOver = undefined
    stages.started.resolve()
    stages.headersSeen.resolve()
    answer.resolve(result)
  }
  function refuse(status: number, reason: 'too_large' | 'bad_status' | 'encoded'): void {
    end({ ok: false, phase: 'response', status, reason })
    controller?.abort(new Refusal(reason))
  }
  function failed(reason: AfterSend): SendResult {
    if (socket.bytesWritten > writtenBefore) return { ok: false, phase: 'after_send', reason }
    return { ok: false, phase: 'before_send', reason: reason === 'timeout' ? 'timeout' : 'request_rejected' }
  }
  function fail(reason: AfterSend): void {
    end(failed(reason))
    controller?.abort(new Refusal(reason))
  }
  const giveUp = () => fail('timeout')
  deadline.onOver = giveUp

  const handler: Dispatcher.DispatchHandler = {
    onRequestStart(given) {
      controller = given
      // Given up while the request waited: undici asks before it writes the first byte.
      if (deadline.isOver) return given.abort(new Refusal('timeout'))
      // The request line and headers are written in the same turn.
      setImmediate(stages.started.resolve)
    },
    onResponseStart(given, status, _headers, statusText) {
      if (status < 200) return
      const headers = readPairs(given.rawHeaders)
      head = { status, statusText: statusText ?? '', headers }
      stages.headersSeen.resolve()
      const framing = readFraming(headers)
      if (framing.isFramedTwice) return fail('malformed')
      if (status > 599 || status === 206) return refuse(status, 'bad_status')
      if (framing.isTransferEncoded || (!request.acceptsEncoded && framing.isEncoded))
        return refuse(status, 'encoded')
      const { declared } = framing
      // No body follows: the length is that of what GET, or an unconditional one, would answer (RFC 9110, 8.6).
      if (request.method === 'HEAD' || status === 304) return
      if (request.overflow !== 'cut' && declared > request.maxResponseBytes)
        return refuse(status, 'too_large')
      body = createBody(Math.min(declared, request.maxResponseBytes))
    },
    onResponseData(_given, chunk) {
      body ??= createBody(0)
      const excess = body.size + chunk.length - request.maxResponseBytes
      if (excess <= 0) return body.add(chunk)
      if (request.overflow !== 'cut') return refuse(head!.status, 'too_large')
      body.add(chunk.subarray(0, chunk.length - excess))
      end({ ok: true, response: { ...head!, body: body.take(), isCut: true } })
      controller?.abort(new Refusal('too_large'))
    },
    onResponseEnd(given, trailers) {
      const trailing = readPairs(given.rawTrailers ?? trailers)
      const { status, statusText, headers } = head!
      const all =
        trailing.length === 0
          ? headers
          : [...headers, ...trailing.map((pair) => ({ ...pair, trailer: true }))]
      const response = { status, statusText, headers: all, body: body?.take() ?? Buffer.alloc(0) }
      end({ ok: true, response })
    },
    onResponseError(_given, error) {
      end(failed(sortError(error, head !== undefined)))
    },
  }

  if (deadline.isOver) giveUp()
  else
    request.headers.use((headers) => {
      client.dispatch(
        {
          path: request.url.pathname + request.url.search,
          method: request.method as Dispatcher.HttpMethod,
          headers: flatten(headers),
          body: request.body ?? null,
        },
        handler,
      )
    })
  return {
    answer: answer.promise,
    abort() {
      giveUp()
      return failed('reset')
    },
  }
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
  // Small pieces until they fill it.
  let block: Buffer | undefined
  let used = 0
  const flush = () => {
    if (block && used > 0) chunks.push(Buffer.from(block.subarray(0, used)))
    used = 0
  }
  const body = {
    size: 0,
    add(chunk: Buffer) {
      body.size += chunk.length
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
      return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, body.size)
    },
  }
  return body
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

/** What an answer says of how it is put together. */
interface Framing {
  /** Bytes that follow; 0 where it does not say. */
  readonly declared: number
  /** Two lengths, or a length and chunks: somebody on the way may have read another message than we would. */
  readonly isFramedTwice: boolean
  /**
   * Below the chunks, which the parser takes off, something else would be left: nobody asked for it, nor says that it is
   * there.
   */
  readonly isTransferEncoded: boolean
  readonly isEncoded: boolean
}

function readFraming(headers: ReceivedHeaders): Framing {
  let lengths = 0
  let declared = 0
  let transfers = 0
  let isTransferEncoded = false
  let isEncoded = false
  for (const { name, value } of headers)
    if (name === 'content-length') {
      if (lengths++ === 0) declared = Number(value)
    } else if (name === 'transfer-encoding') {
      transfers++
      isTransferEncoded ||= value.trim().toLowerCase() !== 'chunked'
    } else if (name === 'content-encoding') isEncoded ||= value.trim().toLowerCase() !== 'identity'
  return { declared, isFramedTwice: lengths + transfers > 1, isTransferEncoded, isEncoded }
}

/** Name-value pairs as received, repeated names kept apart. */
function readPairs(raw: Buffer[] | string[] | IncomingHttpHeaders | null | undefined): ReceivedHeaders {
  if (!raw) return []
  if (!Array.isArray(raw))
    return Object.entries(raw).flatMap(([name, value]) =>
      (Array.isArray(value) ? value : [value ?? '']).map((one) => ({ name: name.toLowerCase(), value: one })),
    )
  const pairs: { name: string; value: string }[] = []
  for (let i = 0; i + 1 < raw.length; i += 2)
    pairs.push({ name: textOf(raw[i]!).toLowerCase(), value: textOf(raw[i + 1]!) })
  return pairs
}

const textOf = (item: Buffer | string) => (typeof item === 'string' ? item : item.toString('latin1'))

/** Names and values in turn, as undici takes them. */
function flatten(pairs: readonly (readonly [string, string])[]): string[] {
  const flat: string[] = []
  for (const [name, value] of pairs) flat.push(name, value)
  return flat
}
