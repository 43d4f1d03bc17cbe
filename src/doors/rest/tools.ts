// A tool's routes: HTTP in, the call path behind, HTTP out.
import { GatewayError, toGatewayError } from '../../errors.ts'
import type { RegisteredTool, RestRoute } from '../../registry.ts'
import { presentedTokens, rateHeaders, sendJson, sendProblem } from '../http.ts'
import type { DoorParts } from '../parts.ts'
import type { Exchange, Handler, Resource } from './exchange.ts'
import { collectInput } from './input.ts'

type ToolParts = Pick<DoorParts, 'registry' | 'calls' | 'addresses'>

/** One resource per path; two tools may share a path with different methods. */
export function toolResources(parts: ToolParts): Resource[] {
  const byPath = new Map<string, { GET?: Handler; POST?: Handler; isPublic: boolean }>()
  for (const entry of parts.registry.tools) {
    if (!entry.tool.doors.includes('rest')) continue
    for (const route of entry.tool.rest) {
      const known = byPath.get(route.path) ?? { isPublic: true }
      // Only what needs no token and changes nothing is open to other sites' scripts.
      const isPublic = known.isPublic && route.method === 'GET' && entry.tool.caller === 'anyone'
      byPath.set(route.path, { ...known, isPublic, [route.method]: toolHandler(parts, entry, route) })
    }
  }
  return [...byPath].map(([path, { isPublic, ...methods }]) => ({ path, isPublic, methods }))
}

function toolHandler(parts: ToolParts, entry: RegisteredTool, route: RestRoute): Handler {
  const { calls, addresses } = parts
  return async (exchange) => {
    const { req, res, context } = exchange
    const abort = new AbortController()
    res.once('close', () => {
      if (!res.writableFinished) abort.abort()
    })
    const result = await calls.call({
      tool: entry.tool,
      ...(await readInput(entry, exchange)),
      door: 'rest',
      tokens: presentedTokens(req),
      address: context.address,
      requestId: context.requestId,
      traceparent: context.traceparent,
      signal: abort.signal,
    })
    if (!result.ok) return sendProblem(res, result.error, context, addresses, result.rate)
    sendJson(res, route.status ?? 200, result.output, {
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-request-id': context.requestId,
      ...rateHeaders(result.rate),
    })
  }
}

/** An unreadable body is refused by the call path, after the caller is known: 401 comes before 400. */
async function readInput(
  entry: RegisteredTool,
  exchange: Exchange,
): Promise<{ input: unknown; inputError?: GatewayError }> {
  try {
    return { input: await collectInput(entry, exchange) }
  } catch (thrown) {
    return { input: undefined, inputError: toGatewayError(thrown) }
  }
}
