// One canonical JSON line per call. Field names are constants, so that what operators grep for cannot drift.
import { writeSync } from 'node:fs'
import pino, { type DestinationStream, type Logger } from 'pino'
import { currentTrace } from './current-trace.ts'

export type { Logger }

export const LogField = {
  requestId: 'request_id',
  door: 'door',
  tool: 'tool',
  caller: 'caller',
  account: 'account',
  code: 'code',
  reason: 'reason',
  price: 'price',
  ms: 'ms',
  trace: 'traceparent',
  attempt: 'attempt_id',
  claim: 'claim_id',
} as const

export type LogLevel = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent'

/**
 * Writes to stderr by default: stdout belongs to the MCP stdio door and to command output.
 * @param options.isTraced each line names the span that it was written in (`trace_id`, `span_id`)
 */
export function createLogger(
  level: LogLevel,
  destination?: DestinationStream,
  { isTraced = false }: { readonly isTraced?: boolean } = {},
): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      // An Error is logged by name and stack only: messages of drivers and upstreams can quote what they were given.
      serializers: { err: describeError },
      ...(isTraced && { mixin: () => ({ ...currentTrace()?.fields }) }),
    },
    destination ?? openLogDestination(),
  )
}

function describeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { type: typeof error }
  const frames = framesOf(error).filter((line) => /^\s+at /.test(line))
  return {
    type: error.name,
    code: 'code' in error && typeof error.code === 'string' ? error.code : undefined,
    at: frames.slice(0, 6).map((line) => line.trim()),
  }
}

/** Lines that follow the message in the stack count: a message of several lines may look like frames itself. */
function framesOf({ stack = '', message }: Error): string[] {
  const start = stack.indexOf(message)
  return start < 0 ? [] : stack.slice(start + message.length).split('\n')
}

// A log never decides about a call, a stop or the process: what is not taken, because a disk is full or because nobody reads the pipe, waits in
// memory, then is lost, and how much was lost is told as soon as lines are taken again. Pino's own destination waits without an end in both cases.

interface LogDestination {
  write(line: string): void
  /** Writes what waits, as far as it is taken in half a second. Never throws. */
  flushSync(): void
}

/** Bytes that wait. */
const MOST_WAITING = 4 * 1024 * 1024
/** As much as a pipe takes. */
const AT_ONCE = 64 * 1024
/** After a part was taken there is room soon; after nothing was, perhaps never. */
const RETRY_MS = { some: 5, none: 100 } as const
/** So long a process that ends waits for whoever reads. */
const LAST_LINES_MS = 500
const LOOK_MS = 10

/** @param fd an open file, or a pipe that does not block whoever writes; by default stderr, which is made one */
export function openLogDestination(fd?: number): LogDestination {
  // Once Node has opened it, a pipe that is full says so. Sentences for people go there too, and what fails of them is as little worth an end.
  if (fd === undefined) process.stderr.on('error', () => {})
  const to = fd ?? 2
  const waiting: Buffer[] = []
  let waitingBytes = 0
  let lost = 0
  let isGone = false
  let retry: NodeJS.Timeout | undefined

  /** @returns how many bytes were taken: none where whoever takes them has no room */
  function offer(bytes: Buffer): number {
    try {
      return writeSync(to, bytes)
    } catch (thrown) {
      // Nobody is there to read any more, for good.
      if (thrown instanceof Error && 'code' in thrown && thrown.code === 'EPIPE') isGone = true
      return 0
    }
  }

  function keep(bytes: Buffer): void {
    if (isGone) return
    if (waitingBytes + bytes.length > MOST_WAITING) lost++
    else {
      waiting.push(bytes)
      waitingBytes += bytes.length
    }
    retry ??= setTimeout(drain, RETRY_MS.none).unref()
  }

  function drain(): void {
    clearTimeout(retry)
    retry = undefined
    const before = waitingBytes
    while (waitingBytes > 0) {
      const next = takeFirst()
      const rest = next.subarray(offer(next))
      waitingBytes -= next.length - rest.length
      if (rest.length === 0) continue
      waiting.unshift(rest)
      break
    }
    if (isGone) waitingBytes = waiting.length = 0
    else if (waitingBytes > 0)
      retry = setTimeout(drain, waitingBytes < before ? RETRY_MS.some : RETRY_MS.none).unref()
    else if (lost > 0) tellLost()
  }
  /** Lines for one write: at least one. */
  function takeFirst(): Buffer {
    let count = 0
    for (let bytes = 0; count < waiting.length && bytes < AT_ONCE; count++) bytes += waiting[count]!.length
    return Buffer.concat(waiting.splice(0, count))
  }
  function tellLost(): void {
    const words = {
      level: 40,
      time: new Date().toISOString(),
      lost,
      msg: 'log lines were lost: nobody took them',
    }
    lost = 0
    write(`${JSON.stringify(words)}\n`)
  }

  function write(line: string): void {
    const bytes = Buffer.from(line)
    const taken = waitingBytes > 0 ? 0 : offer(bytes)
    if (taken < bytes.length) keep(bytes.subarray(taken))
  }

  function flushSync(): void {
    const until = performance.now() + LAST_LINES_MS
    while (waitingBytes > 0 && performance.now() < until) {
      drain()
      if (waitingBytes > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOOK_MS)
    }
  }
  process.once('exit', flushSync)
  return { write, flushSync }
}
