// One request and its answer on a connection that is already open. What undici reports is sorted into the phases that
// the story bills by; nothing it says goes further.
import type { Dispatcher } from 'undici'
import type { Fault } from '../../lib/fault-points.ts'
import { must } from '../../lib/must.ts'
import type { OutboundRequest, SendFailure, SendResult } from '../ports.ts'
import { type Body, createBody } from './answer-body.ts'
import { expectAnswer } from './interim.ts'
import type { Connection } from './connections.ts'
import type { Deadline } from './deadline.ts'
import { readFraming, readPairs, type ReceivedHeaders } from './framing.ts'
import { createReadPace } from './read-pace.ts'

const pace = createReadPace()

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
    // Injected faults are all that throws here.
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
  const seenHead = () => must(head, 'the head of an answer whose body has come')

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
      // There is no body: the length is that of what GET, or an unconditional one, would answer (RFC 9110, 8.6).
      if (request.method === 'HEAD' || status === 304) return
      if (request.overflow !== 'cut' && declared > request.maxResponseBytes)
        return refuse(status, 'too_large')
      body = createBody(Math.min(declared, request.maxResponseBytes))
    },
    onResponseData(given, chunk) {
      body ??= createBody(0)
      const excess = body.size + chunk.length - request.maxResponseBytes
      if (excess <= 0) {
        body.add(chunk)
        return pace.read(chunk.length, body.size, { stop: () => given.pause(), go: () => given.resume() })
      }
      if (request.overflow !== 'cut') return refuse(seenHead().status, 'too_large')
      body.add(chunk.subarray(0, chunk.length - excess))
      end({ ok: true, response: { ...seenHead(), body: body.take(), isCut: true } })
      controller?.abort(new Refusal('too_large'))
    },
    onResponseEnd(given, trailers) {
      const trailing = readPairs(given.rawTrailers ?? trailers)
      const { status, statusText, headers } = seenHead()
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
      expectAnswer(socket)
      client.dispatch(
        {
          path: request.target?.use((text) => text) ?? request.url.pathname + request.url.search,
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

function sortError(error: Error, isHeadSeen: boolean): AfterSend {
  const isMalformed =
    error.name === 'HTTPParserError' ||
    error.name === 'HeadersOverflowError' ||
    /^bad (?:response|upgrade)\b/.test(error.message) ||
    (!isHeadSeen && error.name === 'ResponseContentLengthMismatchError')
  if (isMalformed) return 'malformed'
  return isHeadSeen ? 'body_incomplete' : 'reset'
}

/** Names and values in turn, as undici takes them. */
function flatten(pairs: readonly (readonly [string, string])[]): string[] {
  const flat: string[] = []
  for (const [name, value] of pairs) flat.push(name, value)
  return flat
}
