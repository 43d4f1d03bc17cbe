// The engine knows this of a request, whichever binding it came through.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { PresentedTokens } from '../../core/authenticate.ts'
import { watchDisconnect } from '../http/disconnect.ts'
import type { SeenLimits } from '../http/reply.ts'
import { type HttpContext, presentedIdempotencyKey, presentedTokens } from '../http/request.ts'

export interface A2aCall {
  readonly tokens: PresentedTokens
  readonly address: string
  readonly requestId: string
  readonly traceparent: string | undefined
  /** The version that the client speaks. */
  readonly version: WireVersion
  /** The header `Idempotency-Key`; not judged yet. */
  readonly idempotencyKey?: string | undefined
  /** URIs of the extensions that the client activated, of ours or not. */
  readonly extensions: readonly string[]
  /** Aborts when the connection closes before the answer is complete. */
  readonly gone: AbortSignal
  /** Filled with what the call told of limits. */
  readonly seen?: SeenLimits
  /** Of the message, where it is large. */
  bytes?: number | undefined
  /** Why the engine refused, kept for bindings whose codec would lose the details. */
  refused?: unknown
}

/** The call of one HTTP request: tokens, address, request id and the signal of its disconnect. */
export function callFrom(
  req: IncomingMessage,
  res: ServerResponse,
  context: HttpContext,
  version: WireVersion,
): A2aCall {
  return {
    seen: {},
    tokens: presentedTokens(req),
    address: context.address,
    requestId: context.requestId,
    traceparent: context.traceparent,
    version,
    idempotencyKey: presentedIdempotencyKey(req),
    extensions: askedExtensions(req),
    gone: watchDisconnect(res).signal(),
  }
}

export type WireVersion = '1.0' | '0.3'

/**
 * 3.6: `A2A-Version` as header or query parameter; only Major.Minor counts.
 * @returns undefined when the client did not say, false when it asked for something we do not speak
 */
export function requestedVersion(req: IncomingMessage, query: string): WireVersion | undefined | false {
  const header = req.headers['a2a-version']
  const text = (typeof header === 'string' && header.trim()) || queryVersion(query)
  if (!text) return undefined
  const match = /^(\d+\.\d+)(?:\.\d+)?$/.exec(text)
  return match?.[1] === '1.0' || match?.[1] === '0.3' ? match[1] : false
}

function queryVersion(query: string): string | undefined {
  if (query === '') return undefined
  for (const [name, value] of new URLSearchParams(query))
    if (name.toLowerCase() === 'a2a-version') return value.trim()
  return undefined
}

/**
 * Extensions the client asked for that we have, echoed so that it knows they are in force. 0.3 and x402 use the header
 * with X-, so it comes back to whoever sent it, whatever the version.
 */
export function extensionHeaders(
  req: IncomingMessage,
  supported: readonly string[],
  version: WireVersion,
): Record<string, string> {
  const prefixed = req.headers['x-a2a-extensions']
  const asked = askedExtensions(req)
  const active = supported.filter((uri) => asked.includes(uri)).join(', ')
  if (active === '') return {}
  return {
    ...(version === '1.0' ? { 'a2a-extensions': active } : {}),
    ...(version === '0.3' || prefixed !== undefined ? { 'x-a2a-extensions': active } : {}),
  }
}

function askedExtensions({ headers }: IncomingMessage): string[] {
  return [headers['a2a-extensions'], headers['x-a2a-extensions']]
    .flat()
    .flatMap((value) => value?.split(',') ?? [])
    .map((uri) => uri.trim())
}
