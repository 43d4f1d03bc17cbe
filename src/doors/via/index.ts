// The base URL of an SDK: `/via/{credential}/…` is the host of that credential, and the SDK's key is the capability. Needs no certificate
// and no proxy, and serves whatever lets its base URL be set.
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { HttpContext } from '../http/request.ts'
import { GatewayError } from '../../core/errors.ts'
import type { UpgradeRequest } from '../http/upgrade.ts'
import { asAsked, isAtOwnAddress } from '../http/own-name.ts'
import { sendProblem } from '../http/reply.ts'
import type { DoorParts } from '../parts.ts'
import { createRelayedCalls } from '../relayed-call.ts'
import { keepWithin, type Through } from './location.ts'
import { findToken } from './tokens.ts'

export const VIA_PREFIX = '/via/'
/** Said by the door of a run: its program believes to be at the upstream, and finds its way there by the upstream's own addresses. */
export const FOR_PROXY = 'x-gateway-for-proxy'

/**
 * An answer of an upstream stands at the address of the console. Programs do not read this; a browser that somebody leads here with a
 * capability in the address draws nothing and runs nothing.
 */
const NO_PAGE = {
  'content-security-policy': "default-src 'none'; sandbox",
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
} as const

/** @param upgrade where the request asks for a WebSocket: `res` is its own then */
export type ViaDoor = (
  req: IncomingMessage,
  res: ServerResponse,
  context: HttpContext,
  upgrade?: UpgradeRequest,
) => Promise<void> | void

export function createViaDoor(parts: Pick<DoorParts, 'calls' | 'addresses'>): ViaDoor {
  const { addresses } = parts
  const calls = createRelayedCalls(parts)
  const own = new URL(addresses.baseUrl)
  const throughBase = (req: IncomingMessage, asked: string, base: string): Through => ({
    origin: new URL(asked).origin,
    base: isAtOwnAddress(req, own) ? asAsked(own.origin, req) + base : undefined,
  })

  return async (req, res, context, upgrade) => {
    const { path, query } = context
    const token = findToken(req, query)
    if (isOfPage(req.headers) || (upgrade && isSocketOfPage(req))) {
      const refusal = new GatewayError(
        'origin_denied',
        'This address is for programs, and no source of pages.',
        {
          reason: 'active_content',
        },
      )
      return sendProblem(res, refusal, context, addresses)
    }
    const rest = path.slice(VIA_PREFIX.length)
    const slash = rest.indexOf('/')
    const named = slash < 0 ? rest : rest.slice(0, slash)
    const behind = slash < 0 ? '/' : rest.slice(slash)
    const base = VIA_PREFIX + named
    const isForProxy = req.headers[FOR_PROXY] !== undefined
    await calls.relay({
      req,
      res,
      context,
      target: {
        credential: decoded(named),
        path: query === '' ? behind : `${behind}?${query}`,
        base: isForProxy ? undefined : base,
      },
      token,
      answerHeaders: NO_PAGE,
      upgrade,
      passHeaders: (headers, asked) =>
        isForProxy
          ? headers
          : keepWithin(
              headers,
              behind,
              [own.host, req.headers.host ?? ''],
              asked === undefined ? undefined : throughBase(req, asked, base),
            ),
    })
  }
}

/** Browsers say from which site a request comes; libraries of programs, even those that are called fetch, do not. */
const isOfPage = ({ 'sec-fetch-site': site, 'sec-fetch-dest': dest = 'empty' }: IncomingHttpHeaders) =>
  site !== undefined || dest !== 'empty'

/**
 * Some browsers say of a WebSocket no more than its `Origin`, which libraries of programs send, too. No page can set a header of one: a
 * capability in a header is a program's.
 */
const isSocketOfPage = ({ headers }: IncomingMessage) =>
  headers.origin !== undefined &&
  findToken({ headers: { ...headers, 'sec-websocket-protocol': undefined } }, '') === undefined

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
