// One request and its answer on a connection that is already open, handed over while it arrives (exchange.ts collects it instead).
// Whoever reads slowly slows the upstream down: what has arrived and was not read yet is bounded.
import type { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import type { Fault } from '../../lib/fault-points.ts'
import { type StreamBreak, StreamBroken, type StreamRequest, type StreamResult } from '../ports.ts'
import type { Connection } from './connections.ts'
import { readFraming, readPairs } from './framing.ts'
import { expectAnswer } from './interim.ts'

/** An upstream is stopped when as much waits to be read: two records of TLS. */
const MOST_WAITING_BYTES = 32 * 1024

export interface StreamParts {
  readonly fault: Fault
  /** Told once, when nothing moves on the connection any more. */
  readonly done: (isReusable: boolean) => void
}

/** Resolves when the head is here, or when it is sure that none comes. Never rejects. */
export async function streamExchange(
  { client, socket }: Connection,
  request: StreamRequest,
  { fault, done }: StreamParts,
): Promise<StreamResult> {
  const head = Promise.withResolvers<StreamResult>()
  // Plaintext bytes: what TLS itself exchanges is not in this count, so an unchanged count proves that nothing left.
  const writtenBefore = socket.bytesWritten
  let controller: Dispatcher.DispatchController | undefined
  let isHeadSeen = false
  const body = createQueue({
    stop: () => controller?.pause(),
    go: () => controller?.resume(),
    begun: () => wait.refresh(),
  })

  const total = setTimeout(() => stop('total'), request.clocks.totalMs)
  /** Until the head has come, for that; then for the next piece. */
  let wait = setTimeout(() => stop('idle'), request.clocks.firstByteMs)
  const abort = () => stop('aborted')
  request.signal.addEventListener('abort', abort)

  let isOver = false
  /** Its clocks and its listener go; the connection is somebody else's. */
  function release(): boolean {
    if (isOver) return false
    isOver = true
    clearTimeout(total)
    clearTimeout(wait)
    request.signal.removeEventListener('abort', abort)
    return true
  }
  function finish(isReusable: boolean): void {
    if (release()) done(isReusable)
  }
  function stop(reason: StreamBreak): void {
    if (isOver) return
    body.fail(reason)
    head.resolve(failed(reason))
    finish(false)
    controller?.abort(new StreamBroken(reason))
  }
  function failed(reason: StreamBreak): StreamResult {
    const isSent = socket.bytesWritten > writtenBefore
    if (reason === 'aborted') return { ok: false, phase: 'aborted', isSent }
    const isLate = reason === 'idle' || reason === 'total'
    if (!isSent) return { ok: false, phase: 'before_send', reason: isLate ? 'timeout' : 'request_rejected' }
    return { ok: false, phase: 'after_send', reason: isLate ? 'timeout' : reason }
  }
  function refuse(status: number, reason: 'bad_status' | 'encoded'): void {
    head.resolve({ ok: false, phase: 'response', status, reason })
    finish(false)
    controller?.abort(new StreamBroken('malformed'))
  }

  const handler: Dispatcher.DispatchHandler = {
    onRequestStart(given) {
      controller = given
      if (request.signal.aborted) stop('aborted')
    },
    onRequestUpgrade(given, status, _headers, upgraded) {
      const headers = readPairs(given.rawHeaders)
      // What stands behind the head is frames, and nothing that a length could be said of.
      if (status !== 101 || headers.some(({ name }) => FRAMES_A_BODY.has(name))) {
        upgraded.destroy()
        return stop('malformed')
      }
      isHeadSeen = true
      release()
      head.resolve({ ok: true, upgraded: { headers, socket: upgraded } })
    },
    onResponseStart(given, status, _headers, statusText) {
      if (status < 200) return
      const headers = readPairs(given.rawHeaders)
      const framing = readFraming(headers)
      if (framing.isFramedTwice) return stop('malformed')
      if (status > 599 || (status === 206 && request.takesPart !== true)) return refuse(status, 'bad_status')
      if (framing.isTransferEncoded) return refuse(status, 'encoded')
      isHeadSeen = true
      clearTimeout(wait)
      // While nobody waits for the upstream it is not the one who is slow: whoever reads has a clock for that.
      wait = setTimeout(() => (body.isAwaited() ? stop('idle') : wait.refresh()), request.clocks.idleMs)
      const hasNoBody = request.method === 'HEAD' || status === 204 || status === 304
      const isDeclared = headers.some(({ name }) => name === 'content-length')
      head.resolve({
        ok: true,
        answer: {
          status,
          statusText: statusText ?? '',
          headers,
          declaredBytes: hasNoBody ? 0 : isDeclared ? framing.declared : undefined,
          isWhole: body.isWhole,
          next: body.next,
          cancel: () => stop('aborted'),
        },
      })
    },
    onResponseData(_given, chunk) {
      wait.refresh()
      body.add(chunk)
    },
    onResponseEnd() {
      body.end()
      // A request whose body is still on its way has its connection closed by undici.
      finish(isSentWhole(request.body))
    },
    onResponseError(_given, error) {
      const isMalformed = error.name === 'HTTPParserError' || error.name === 'HeadersOverflowError'
      stop(isMalformed || /^bad (?:response|upgrade)\b/.test(error.message) ? 'malformed' : 'reset')
    },
  }

  if (request.signal.aborted) abort()
  else
    request.headers.use((headers) => {
      expectAnswer(socket)
      client.dispatch(
        {
          path: request.target?.use((text) => text) ?? request.url.pathname + request.url.search,
          method: request.method as Dispatcher.HttpMethod,
          headers: headers.flat(),
          body: request.body ?? null,
          upgrade: request.upgrade ?? null,
        },
        handler,
      )
    })
  const result = await head.promise
  if (!isHeadSeen) return result
  try {
    await fault.at('after_headers')
  } catch {
    if (!result.ok || !result.upgraded) stop('reset')
    else {
      result.upgraded.socket.destroy()
      return { ok: false, phase: 'after_send', reason: 'reset' }
    }
  }
  return result
}

const FRAMES_A_BODY: ReadonlySet<string> = new Set(['content-length', 'transfer-encoding'])

const isSentWhole = (body: Buffer | Readable | undefined) =>
  body === undefined || Buffer.isBuffer(body) || body.readableEnded

interface Queue {
  add(chunk: Buffer): void
  end(): void
  fail(reason: StreamBreak): void
  readonly isWhole: () => boolean
  /** Whether somebody waits for the next piece. */
  readonly isAwaited: () => boolean
  readonly next: () => Promise<Buffer | undefined>
}

/** What has arrived and was not read yet. What was read in before a break is given out before the break is told. */
function createQueue({
  stop,
  go,
  begun,
}: {
  readonly stop: () => void
  readonly go: () => void
  /** Told when a wait for the next piece begins. */
  readonly begun: () => void
}): Queue {
  const chunks: Buffer[] = []
  let bytes = 0
  let isStopped = false
  let isEnded = false
  let broken: StreamBreak | undefined
  let wake: (() => void) | undefined
  const tell = () => {
    wake?.()
    wake = undefined
  }

  return {
    add(chunk) {
      chunks.push(chunk)
      bytes += chunk.length
      if (!isStopped && bytes > MOST_WAITING_BYTES) {
        isStopped = true
        stop()
      }
      tell()
    },
    end() {
      isEnded = true
      tell()
    },
    fail(reason) {
      if (!isEnded) broken ??= reason
      tell()
    },
    isWhole: () => isEnded,
    isAwaited: () => wake !== undefined,
    async next() {
      for (;;) {
        if (chunks.length > 0) {
          // Whoever could not keep up takes all of it at once: a search of many small pieces costs more than that of one.
          const taken = chunks.splice(0)
          bytes = 0
          if (isStopped) {
            isStopped = false
            go()
          }
          return taken.length === 1 ? taken[0] : Buffer.concat(taken)
        }
        if (broken) throw new StreamBroken(broken)
        if (isEnded) return undefined
        begun()
        await new Promise<void>((resolve) => (wake = resolve))
      }
    },
  }
}
