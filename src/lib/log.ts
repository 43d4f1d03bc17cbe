// One canonical JSON line per call. Field names are constants, so that what operators grep for cannot drift.
import pino, { type DestinationStream, type Logger } from 'pino'
import { currentTrace } from './current-trace.ts'
import { openLogDestination } from './log-destination.ts'

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
