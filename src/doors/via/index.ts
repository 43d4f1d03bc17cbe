// The base URL of an SDK: `/via/{credential}/…` is the host of that credential, and the SDK's key is the capability. Needs no certificate
// and no proxy, and serves whatever lets its base URL be set.
import type { IncomingHttpHeaders } from 'node:http'
import type { HttpHandler } from '../http/request.ts'
import { GatewayError } from '../../core/errors.ts'
import { LogField } from '../../lib/log.ts'
import { sendProblem } from '../http/reply.ts'
import type { DoorParts } from '../parts.ts'
import { createRelayedCalls } from '../relayed-call.ts'
import { findToken } from './tokens.ts'

export const VIA_PREFIX = '/via/'

/**
 * An answer of an upstream stands at the address of the console. Programs do not read this; a browser that somebody leads here with a
 * capability in the address draws nothing and runs nothing.
 */
const NO_PAGE = {
  'content-security-policy': "default-src 'none'; sandbox",
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
} as const

export function createViaDoor(parts: Pick<DoorParts, 'calls' | 'addresses' | 'log'>): HttpHandler {
  const { addresses, log } = parts
  const calls = createRelayedCalls(parts)

  return async (req, res, context) => {
    if (isOfPage(req.headers)) {
      const refusal = new GatewayError(
        'origin_denied',
        'This address is for programs, and no source of pages.',
        {
          reason: 'active_content',
        },
      )
      return sendProblem(res, refusal, context, addresses)
    }
    if (req.headers.upgrade !== undefined && /(?:^|,)\s*websocket\b/i.test(req.headers.upgrade)) {
      // Programs that try a WebSocket first take any answer for the last word, and go on in HTTP where the connection is closed.
      log.info({ [LogField.requestId]: context.requestId, reason: 'websocket' }, 'via: an upgrade was closed')
      res.destroy()
      return
    }
    const { path, query } = context
    const rest = path.slice(VIA_PREFIX.length)
    const slash = rest.indexOf('/')
    const named = slash < 0 ? rest : rest.slice(0, slash)
    const behind = slash < 0 ? '/' : rest.slice(slash)
    await calls.relay({
      req,
      res,
      context,
      target: { credential: decoded(named), path: query === '' ? behind : `${behind}?${query}` },
      token: findToken(req, query),
      answerHeaders: NO_PAGE,
    })
  }
}

/** Browsers say from which site a request comes; libraries of programs, even those that are called fetch, do not. */
const isOfPage = ({ 'sec-fetch-site': site, 'sec-fetch-dest': dest = 'empty' }: IncomingHttpHeaders) =>
  site !== undefined || dest !== 'empty'

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
