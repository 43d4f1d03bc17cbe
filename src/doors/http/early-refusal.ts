// Whoever was told a moment ago to come back later, and comes back at once, hears it again before anything else is done for him. To find out who
// calls, and to refuse it then, costs a quarter of a call: many that do not wait would leave no time for those who have a place.
import { hash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { GatewayError, toProblem } from '../../core/errors.ts'
import { newId } from '../../lib/ids.ts'
import type { Logger } from '../../lib/log.ts'
import { clientAddress, KEY_HEADERS } from './request.ts'

type Handle = (req: IncomingMessage, res: ServerResponse) => void

/** Milliseconds; a refusal is remembered once to twice as long, which is what `Retry-After: 1` asked for. */
const PERIOD_MS = 500
/** Callers that are remembered of a period; more of them are refused the long way. */
const MOST = 10_000

export interface EarlyRefusalParts {
  /** Whether hardly a place is left for calls. Where there are places, everybody is heard. */
  readonly isCrowded: () => boolean
  readonly baseUrl: string
  /** Proxies in front whose word about an address counts. */
  readonly trustProxy: number
  readonly log: Pick<Logger, 'warn'>
  /** Milliseconds that pass, from a clock that nobody sets. */
  readonly elapsedMs: () => number
}

/** Where callers say who they are. */
const NAMES = ['authorization', ...KEY_HEADERS]

/**
 * Callers are told apart by the tokens that they send, those without one by their address: nobody is refused here for what another one did.
 * @param handle what answers requests otherwise. Of its answers those with status 503 are remembered
 */
export function withEarlyRefusal(handle: Handle, parts: EarlyRefusalParts): Handle {
  const { isCrowded, baseUrl, trustProxy, log, elapsedMs } = parts
  let lately = new Set<string>()
  let before = new Set<string>()
  let begun = elapsedMs()
  let refused = 0

  function age(): void {
    const passed = elapsedMs() - begun
    if (passed < PERIOD_MS) return
    if (refused > 0)
      log.warn({ refused }, 'calls were refused early: their callers did not wait as they were told')
    before = passed < 2 * PERIOD_MS ? lately : new Set()
    lately = new Set()
    begun += passed
    refused = 0
  }

  return (req, res) => {
    // Pages are for people who want to see what is going on, and cost little.
    if (!isCrowded() || req.method === 'GET' || req.method === 'HEAD') {
      handle(req, res)
      return
    }
    age()
    const caller = digestOf(req, trustProxy)
    if (lately.has(caller) || before.has(caller)) {
      refused++
      refuse(res, baseUrl)
      return
    }
    res.once('finish', () => {
      if (res.statusCode === 503 && lately.size < MOST) lately.add(caller)
    })
    handle(req, res)
  }
}

/** A token is not kept for longer than the call that it came with, and this is not one. */
function digestOf(req: IncomingMessage, trustProxy: number): string {
  const named = NAMES.flatMap((name) => req.headers[name] ?? [])
  return hash(
    'sha256',
    JSON.stringify(named.length > 0 ? named : clientAddress(req, trustProxy)),
    'base64url',
  )
}

const REFUSAL = new GatewayError(
  'overloaded',
  'You were told to come back later, and too many calls are being handled still. Wait as long as Retry-After says.',
  { extras: { retry_after_seconds: 1 } },
)

function refuse(res: ServerResponse, baseUrl: string): void {
  const requestId = newId('req')
  const body = JSON.stringify(toProblem(REFUSAL, { requestId, baseUrl }))
  res
    .writeHead(503, {
      'content-type': 'application/problem+json',
      'cache-control': 'no-store',
      'x-request-id': requestId,
      'retry-after': '1',
      'content-length': Buffer.byteLength(body),
    })
    .end(body)
}
