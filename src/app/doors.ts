// The doors on one listener: which one answers a path, and what happens when a door itself fails.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { A2aExtension } from '../doors/a2a/extension.ts'
import { toGatewayError } from '../core/errors.ts'
import { createA2aDoor } from '../doors/a2a/index.ts'
import { createEdgeDoor, EDGE_PREFIX } from '../doors/edge/index.ts'
import { type HttpContext, type HttpHandler, httpContext } from '../doors/http/request.ts'
import { sendOptions } from '../doors/http/cors.ts'
import { createGuard, type GuardedDoor } from '../doors/http/guard.ts'
import { answerProbe, type Readiness } from '../doors/http/probes.ts'
import { logRefusal } from '../doors/http/refusal-line.ts'
import { sendProblem } from '../doors/http/reply.ts'
import type { UpgradeRequest, Upgrades } from '../doors/http/upgrade.ts'
import { asksForWebSocket } from '../lib/websocket.ts'
import type { McpExtension } from '../doors/mcp/extension.ts'
import { createMarketDoor, isSellerDocument, MARKET_PREFIX } from '../doors/market/index.ts'
import { createMcpDoor, type McpDoor } from '../doors/mcp/index.ts'
import { pathOf as mcpPathOf } from '../doors/mcp/sign-in.ts'
import { createConsole } from '../doors/console/index.ts'
import { createOauthDoor } from '../doors/oauth/index.ts'
import type { DoorParts } from '../doors/parts.ts'
import { createRestDoor } from '../doors/rest/index.ts'
import { createSite } from '../doors/site/index.ts'
import { createViaDoor, VIA_PREFIX } from '../doors/via/index.ts'
import { isOfProgram } from '../doors/via/tokens.ts'

export interface Doors {
  readonly mcp: McpDoor
  handle(req: IncomingMessage, res: ServerResponse): void
  readonly upgrades: Upgrades
  /** Paths of every door as OpenAPI writes them; one that ends in `*` is everything below it. */
  readonly routes: readonly string[]
  /** Ends streams and sessions; calls that run are the call path's to wait for. */
  close(): Promise<void>
}

const ALL_METHODS = ['GET', 'HEAD', 'POST', 'OPTIONS']
/** What other doors answer; whatever follows a prefix is a caller's. */
const DOOR_PATHS = [
  '/mcp',
  '/mcp/connect',
  '/a2a',
  '/a2a/*',
  '/.well-known/agent-card.json',
  '/.well-known/agent.json',
  '/.well-known/*',
  '/oauth/*',
  `${EDGE_PREFIX}*`,
  `${MARKET_PREFIX}*`,
  `${VIA_PREFIX}*`,
]
const isMcp = (path: string) => mcpPathOf(path) !== undefined

/** Additions of a test to the MCP and A2A doors. */
export interface DoorExtensions {
  readonly mcp?: McpExtension
  readonly a2a?: A2aExtension
}

/**
 * Opens all doors and sends each path to its own.
 * @param extend fixtures of conformance suites
 */
export async function openDoors(
  parts: DoorParts & { readonly readiness: Readiness },
  extend: DoorExtensions = {},
): Promise<Doors> {
  const { config, addresses, calls, log, readiness } = parts
  const guard = createGuard(parts)
  const mcp = createMcpDoor(parts, extend.mcp)
  const a2a = await createA2aDoor(parts, extend.a2a)
  const site = createSite(parts)
  const console = createConsole(parts, site.refuse)
  const rest = createRestDoor(parts, site, console.resources)
  const oauth = createOauthDoor({ ...parts, site })
  const edge = createEdgeDoor(parts)
  const market = createMarketDoor({ ...parts, site })
  const via = createViaDoor(parts)

  function doorFor(path: string): HttpHandler {
    if (isMcp(path)) return mcp.http
    if (oauth.isAt(path)) return oauth.http
    if (path === '/a2a' || path.startsWith('/a2a/')) return a2a.http
    if (path === '/.well-known/agent-card.json' || path === '/.well-known/agent.json') return a2a.card
    if (edge && path.startsWith(EDGE_PREFIX)) return edge
    if (market && path.startsWith(MARKET_PREFIX) && !isSellerDocument(path)) return market
    if (path.startsWith(VIA_PREFIX)) return via
    return rest.http
  }

  async function answer(
    req: IncomingMessage,
    res: ServerResponse,
    context: HttpContext,
    upgrade?: UpgradeRequest,
  ): Promise<void> {
    try {
      // MCP refuses in JSON-RPC, by a guard like this one.
      const refusal = isMcp(context.path) ? undefined : refusalOfHead(req, context.path)
      if (refusal !== undefined) {
        // Nobody's tokens were looked at yet, so it is counted on the address that it came from.
        await calls.admit('refused heads', {}, context.address)
        throw refusal
      }
      // RFC 9110, section 9.3.7: the question about the server as a whole.
      if (req.method === 'OPTIONS' && req.url === '*') return sendOptions(res, context.requestId, ALL_METHODS)
      if (upgrade) await via(req, res, context, upgrade)
      else await doorFor(context.path)(req, res, context)
    } catch (thrown) {
      logRefusal(log, toGatewayError(thrown), context)
      if (upgrade?.isTaken() !== true) sendProblem(res, thrown, context, addresses)
    }
  }

  function refusalOfHead(req: IncomingMessage, path: string): unknown {
    try {
      guard.check(req, guardedDoor(req, path))
      return undefined
    } catch (thrown) {
      return thrown
    }
  }

  function guardedDoor(req: IncomingMessage, path: string): GuardedDoor {
    if (path.startsWith(EDGE_PREFIX)) return 'edge'
    return path.startsWith(VIA_PREFIX) && isOfProgram(req) ? 'program' : 'other'
  }

  return {
    mcp,
    routes: [...rest.paths, ...DOOR_PATHS],
    handle(req, res) {
      if (!answerProbe(req, res, readiness)) void answer(req, res, httpContext(req, config.trustProxy))
    },
    upgrades: {
      takes: (req) =>
        asksForWebSocket(req) && httpContext(req, config.trustProxy).path.startsWith(VIA_PREFIX),
      handle(req, upgrade) {
        void answer(req, upgrade.res, httpContext(req, config.trustProxy), upgrade)
      },
    },
    async close() {
      console.close()
      await Promise.all([mcp.close(), a2a.close()])
    },
  }
}
