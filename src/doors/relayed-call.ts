// What the doors of unmodified programs share: a decrypted request goes to the call path, its answer to the program as it arrives, and a
// refusal becomes a problem document that tells the program's own SDK whether to send again.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { GatewayError } from '../core/errors.ts'
import type { ExchangeTarget } from '../core/message.ts'
import { createAnswerSink, type PassHeaders } from './http/answer-sink.ts'
import { checkUpgrade, type UpgradeRequest } from './http/upgrade.ts'
import { isFramedOddly } from './http/framing.ts'
import { watchDisconnect } from './http/disconnect.ts'
import { problemHeaders, problemOf, rateHeaders, sendJson, sendProblem } from './http/reply.ts'
import type { HttpContext } from './http/request.ts'
import type { DoorParts } from './parts.ts'
import { egressRelay } from './relay-tool.ts'

/** One request of an unmodified program, as its door understood it. */
export interface RelayedRequest {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  readonly context: HttpContext
  readonly target: ExchangeTarget
  /** The capability (`agw_cap_…`) or access token (`agw_at_…`) that the program presented; judged by the call path. */
  readonly token: string | undefined
  /** Lower-case headers that the door adds to every answer, over the upstream's own. */
  readonly answerHeaders?: Readonly<Record<string, string>>
  /** Where it asks for a WebSocket; `res` is its own then. */
  readonly upgrade?: UpgradeRequest | undefined
  /** What becomes of the upstream's own headers at this door; they pass as they are where it is left out. */
  readonly passHeaders?: PassHeaders
}

export interface RelayedCalls {
  /** Answers the request, whatever happens. Never rejects. */
  relay(request: RelayedRequest): Promise<void>
}

/** Longer than the longest wait for an answer to begin, or to go on. */
const SILENCE_MS = 11 * 60_000

export function createRelayedCalls({
  calls,
  addresses,
}: Pick<DoorParts, 'calls' | 'addresses'>): RelayedCalls {
  return {
    async relay({ req, res, context, target, token, answerHeaders = {}, passHeaders, upgrade }) {
      if (isFramedOddly(req)) {
        const refusal = 'Send the body with Content-Length, or chunked in HTTP/1.1.'
        return sendProblem(res, new GatewayError('request_invalid', refusal), context, addresses)
      }
      if (upgrade) {
        try {
          checkUpgrade(req)
        } catch (thrown) {
          res.setHeader('sec-websocket-version', '13')
          return sendProblem(res, thrown, context, addresses)
        }
      }
      // The listener takes a connection on which nothing moves for two minutes for dead; an answer may be silent for longer.
      req.socket.setTimeout(SILENCE_MS)
      const { signal } = watchDisconnect(res)
      const result = await calls.call({
        tool: egressRelay,
        input: 'url' in target ? { url: target.url } : { credential: target.credential },
        door: 'rest',
        tokens: { bearer: token },
        address: context.address,
        requestId: context.requestId,
        traceparent: context.traceparent,
        signal,
        exchange: {
          target,
          method: req.method ?? 'GET',
          headers: pairsOf(req),
          body: hasBody(req) ? req : undefined,
          bodyBytes: announced(req),
          answer: createAnswerSink(res, answerHeaders, passHeaders),
          signal: signal(),
          upgrade: upgrade?.program,
        },
      })
      if (result.ok || res.headersSent || upgrade?.isTaken() === true) return
      const { error } = result
      sendJson(
        res,
        error.status,
        { ...problemOf(error, context, addresses), ...forLibraries(error) },
        {
          ...problemHeaders(error, context.requestId),
          ...(error.status === 401 && 'credential' in target && CHALLENGE),
          ...rateHeaders(result.rate),
          ...retryHeaders(error),
          ...answerHeaders,
        },
      )
    },
  }
}

/** At a base URL: git and others that take user and password from it send them after they were asked for them alone. */
const CHALLENGE = { 'www-authenticate': 'Bearer realm="agent-gateway", Basic realm="agent-gateway"' }

/**
 * The member that the libraries of services look for: without it, Stripe's takes a refusal for the object that was asked for, and others
 * show no words.
 */
const forLibraries = ({ code, message }: GatewayError) => ({
  error: { type: 'gateway_error', code, message },
})

/** Codes after which sending the same again is safe and may help: nothing was charged, and it was not refused for good. */
const WORTH_A_RETRY: ReadonlySet<string> = new Set([
  'rate_limited',
  'calls_spent',
  'overloaded',
  'draining',
  'upstream_unreachable',
  'credential_unavailable',
  'store_unavailable',
  'egress_paused',
  'idempotency_key_in_use',
])

/**
 * SDKs send again by themselves on 408, 409, 429 and 5xx. Of what was charged, is ambiguous or final each of them is told in its own header
 * not to: OpenAI and Anthropic read the first, Stripe the second.
 */
export function retryHeaders({ code }: Pick<GatewayError, 'code'>): Readonly<Record<string, string>> {
  if (WORTH_A_RETRY.has(code)) return {}
  return { 'x-should-retry': 'false', 'stripe-should-retry': 'false' }
}

function pairsOf({ rawHeaders }: IncomingMessage): (readonly [string, string])[] {
  const pairs: (readonly [string, string])[] = []
  for (let at = 0; at + 1 < rawHeaders.length; at += 2)
    pairs.push([rawHeaders[at] ?? '', rawHeaders[at + 1] ?? ''])
  return pairs
}

const hasBody = ({ headers }: IncomingMessage) =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

function announced({ headers }: IncomingMessage): number | undefined {
  if (headers['transfer-encoding'] !== undefined) return undefined
  return Number(headers['content-length'] ?? 0)
}
