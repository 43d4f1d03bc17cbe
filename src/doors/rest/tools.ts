// A tool's routes: HTTP in, the call path behind, HTTP out.
import type { IncomingMessage } from 'node:http'
import { isPaid } from '../../core/price.ts'
import { type GatewayError, toGatewayError } from '../../core/errors.ts'
import type { PresentedPayment } from '../../core/charging.ts'
import type { RegisteredTool, RestRoute } from '../../core/registry.ts'
import { createSpeller, routeName, type Speller } from '../../core/tool-words.ts'
import { isObject } from '../../lib/json.ts'
import { chooseCoding } from '../http/coding.ts'
import { OPEN } from '../http/cors.ts'
import { isFromEverybody, sendPublicText } from '../http/document.ts'
import { allowSilence } from '../http/silence.ts'
import { watchDisconnect } from '../http/disconnect.ts'
import { presentedIdempotencyKey, presentedTokens } from '../http/request.ts'
import { rateHeaders, sendJsonInTurns, sendText } from '../http/reply.ts'
import type { DoorParts } from '../parts.ts'
import type { Handler, Resource } from '../http/resource.ts'
import type { SitePages } from '../http/site-pages.ts'
import { inputCollector } from './input.ts'
import {
  extensionHeaders,
  paidHeaders,
  presentedPayment,
  presentedQuote,
  presentedSignIn,
  sendRefusal,
} from './payment-headers.ts'

type ToolParts = Pick<DoorParts, 'registry' | 'calls' | 'addresses'> & {
  readonly spell: Speller
  /** Shows prices to people. */
  readonly site: Pick<SitePages, 'price'>
}

/** One resource per path; two tools may share a path with different methods. */
export function toolResources(given: Omit<ToolParts, 'spell'>): Resource[] {
  const parts = { ...given, spell: createSpeller(given.registry, routeName) }
  const byPath = new Map<string, Resource>()
  for (const entry of parts.registry.tools) {
    if (!entry.tool.doors.includes('rest') || entry.tool.passes) continue
    for (const route of entry.tool.rest) {
      if (route.isRaw) continue
      const { path, method } = route
      const known = byPath.get(path)
      const open = openingOf(entry)
      byPath.set(path, {
        path,
        open: known === undefined || known.open === open ? open : undefined,
        methods: { ...known?.methods, [method]: toolHandler(parts, entry, route) },
      })
    }
  }
  return [...byPath.values()]
}

/** Web pages of other origins may use what needs no token and changes nothing without one, and what is sold to anyone. */
function openingOf({ tool }: RegisteredTool): Resource['open'] {
  if (tool.caller !== 'anyone') return undefined
  if (isPaid(tool)) return 'paid'
  return tool.effects.readOnly || tool.isOpenToPages === true ? 'public' : undefined
}

function toolHandler(parts: ToolParts, entry: RegisteredTool, route: RestRoute): Handler {
  const { calls, addresses } = parts
  const { tool } = entry
  const url = `${addresses.baseUrl}${route.path}`
  const hasParameters = route.path.includes('{')
  const open = openingOf(entry) === 'paid' ? OPEN.paid : {}
  const status = route.status ?? 200
  const isRead = route.method === 'GET' && openingOf(entry) === 'public'
  const collect = inputCollector(entry, route, calls)
  return async (exchange) => {
    const { req, res, context } = exchange
    const { address, requestId, traceparent } = context
    const disconnect = watchDisconnect(res)
    // The call path refuses what cannot be read, after the caller is known: 401 comes before 400.
    let input: unknown
    let inputError: GatewayError | undefined
    let payment: PresentedPayment | undefined
    try {
      input = await collect(exchange)
      payment = presentedPayment(req)
    } catch (thrown) {
      inputError = toGatewayError(thrown)
    }
    if (tool.maxDurationMs !== undefined) allowSilence(req, res, tool.maxDurationMs)
    const result = await calls.call({
      tool,
      input,
      inputError,
      payment,
      signIn: presentedSignIn(req),
      door: 'rest',
      tokens: presentedTokens(req),
      address,
      requestId,
      traceparent,
      signal: disconnect.signal,
      resource: { url: hasParameters ? `${addresses.baseUrl}${context.path}` : url, method: route.method },
      quote: presentedQuote(req),
      idempotencyKey: presentedIdempotencyKey(req),
    })
    if (!result.ok)
      return sendRefusal(parts, exchange, result.error, {
        ...open,
        ...rateHeaders(result.rate, result.quota),
      })
    const headers = {
      'content-type': 'application/json',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-request-id': requestId,
      ...open,
      ...rateHeaders(result.rate, result.quota),
    }
    if (result.paid)
      sendText(res, status, result.paid.json, {
        ...headers,
        ...paidHeaders(req, result.paid.settlement),
        ...(result.paid.replayed && REPLAYED),
      })
    else if (isRead && (route.isValidated === true || mayCompress(req)))
      await sendPublicText(req, res, {
        text: JSON.stringify(result.output),
        headers: route.isValidated ? { ...headers, 'cache-control': 'no-cache' } : headers,
        isTagged: route.isValidated === true,
        isForEverybody: isFromEverybody(req),
      })
    else
      await sendJsonInTurns(res, status, result.output, {
        ...headers,
        ...extensionHeaders(result.output),
        ...replayHeaders(result.output),
      })
  }
}

/** What everybody may read is compressed for whoever takes it so. */
const mayCompress = (req: IncomingMessage) => chooseCoding(req) !== 'identity' && isFromEverybody(req)

const REPLAYED = { 'idempotent-replayed': 'true' }
const NOTHING = {}
/** The word of Stripe and others for an answer that was given before. */
const replayHeaders = (output: unknown): Readonly<Record<string, string>> =>
  isObject(output) && output['replayed'] === true ? REPLAYED : NOTHING
