// Why the gateway gave a run nothing, as its door tells the program and the summary the person who started it.
import type { IncomingMessage } from 'node:http'
import { GatewayError, toGatewayError } from '../../core/errors.ts'
import { CommandFailure } from '../exit.ts'

/** An answer of the gateway itself, where no upstream was asked or its answer was withheld. */
export interface Refused {
  readonly code: string
  readonly detail: string
}

/**
 * @returns what a command says of a gateway that gave it nothing, as a refusal of the door: 429 stays 429, what may be over soon is a 503, and what the
 * gateway refuses this run a 403
 */
export function refusalOf(thrown: unknown): GatewayError {
  if (!(thrown instanceof CommandFailure)) return toGatewayError(thrown)
  const { problem, message } = thrown
  if (problem === undefined)
    return new GatewayError('upstream_unreachable', message, { cause: thrown, reason: 'gateway_unreachable' })
  const { status, code, detail, retry_after_seconds: retry } = problem
  return new GatewayError(
    status === 429 ? 'rate_limited' : Number(status) >= 500 ? 'upstream_unreachable' : 'scope_denied',
    typeof detail === 'string' ? detail : message,
    {
      cause: thrown,
      reason: String(code),
      extras: typeof retry === 'number' ? { retry_after_seconds: retry } : {},
    },
  )
}

/** Longer than any problem document. */
const MAX_BYTES = 64 * 1024

/**
 * Reads along while an answer of `/via/` is passed on.
 * @returns once it has ended, what the gateway said; undefined for an answer of the upstream, which has an attempt
 */
export function readRefusal(answer: IncomingMessage): () => Refused | undefined {
  const { statusCode = 502, headers } = answer
  if (headers['x-gateway-attempt'] !== undefined || statusCode < 400) return () => undefined
  const pieces: Buffer[] = []
  let size = 0
  answer.on('data', (piece: Buffer) => {
    size += piece.length
    if (size <= MAX_BYTES) pieces.push(piece)
  })
  return () => {
    const { code, detail } = parse(Buffer.concat(pieces).toString('utf8'))
    return {
      code: typeof code === 'string' ? code : `status_${statusCode}`,
      // A HEAD has no words.
      detail: typeof detail === 'string' ? detail : `The gateway refused it with status ${statusCode}.`,
    }
  }
}

function parse(text: string): Readonly<Record<string, unknown>> {
  try {
    const document: unknown = JSON.parse(text)
    return typeof document === 'object' && document !== null ? { ...document } : {}
  } catch {
    return {}
  }
}
