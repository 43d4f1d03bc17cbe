// The door of sign-in: `/oauth/*`, and the documents that say where it is.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { GatewayError, toGatewayError } from '../../core/errors.ts'
import { DEVICE_GRANT, readClient, redirectFault } from '../../identity/oauth/clients.ts'
import { isObject } from '../../lib/json.ts'
import { hashToken } from '../../lib/tokens.ts'
import { readBytes } from '../http/body.ts'
import { OPEN, sendOptions } from '../http/cors.ts'
import { sendJson, sendProblem } from '../http/reply.ts'
import { type HttpContext, type HttpHandler, mediaTypeOf } from '../http/request.ts'
import type { SitePages } from '../http/site-pages.ts'
import type { DoorParts } from '../parts.ts'
import { readAsked } from './asked.ts'
import { createOauthLimits } from './limits.ts'
import { metadataAt, protectedResource } from './metadata.ts'
import { pinnedRequest } from './pinned.ts'

const PREFIX = '/oauth/'
/** oidc-provider takes no more either. */
const MAX_BODY_BYTES = 56 * 1024
const FORM = 'application/x-www-form-urlencoded'

/** The addresses of the server and their methods. A waiting request comes back at `/oauth/authorize/{uid}`. */
const ENDPOINTS: Readonly<Record<string, 'GET' | 'POST'>> = {
  '/oauth/authorize': 'GET',
  '/oauth/token': 'POST',
  '/oauth/register': 'POST',
  '/oauth/revoke': 'POST',
  '/oauth/introspect': 'POST',
  '/oauth/device': 'POST',
  '/oauth/jwks': 'GET',
}
const RESUME = /^\/oauth\/authorize\/[\w-]+$/

export interface OauthDoor {
  isAt(path: string): boolean
  readonly http: HttpHandler
}

export function createOauthDoor({
  identity,
  addresses,
  config,
  now,
  site,
}: Pick<DoorParts, 'identity' | 'addresses' | 'config' | 'now'> & {
  readonly site: Pick<SitePages, 'refuse'>
}): OauthDoor {
  const limits = createOauthLimits(config.rateLimit)

  async function http(req: IncomingMessage, res: ServerResponse, context: HttpContext): Promise<void> {
    const { path, requestId } = context
    const document = metadataAt(path)
    const allowed = document ? 'GET' : RESUME.test(path) ? 'GET' : ENDPOINTS[path]
    const method = req.method === 'HEAD' ? 'GET' : req.method
    if (allowed === undefined)
      return refuse(new GatewayError('not_found', `See ${addresses.baseUrl}/openapi.json for every address.`))
    const isForPeople = path.startsWith('/oauth/authorize')
    const allow = allowed === 'GET' ? ['GET', 'HEAD', 'OPTIONS'] : ['POST', 'OPTIONS']
    if (req.method === 'OPTIONS')
      return sendOptions(res, requestId, allow, isForPeople ? undefined : 'protocol')
    if (method !== allowed)
      return refuse(
        new GatewayError('method_not_allowed', `Use ${allow.join(', ')} here.`, { extras: { allow } }),
      )
    res.setHeader('x-request-id', requestId)
    if (!isForPeople) for (const [name, value] of Object.entries(OPEN.protocol)) res.setHeader(name, value)

    if (document?.name === 'oauth-protected-resource')
      return sendJson(res, 200, protectedResource(req, document.resource, addresses), {
        'cache-control': 'public, max-age=300',
        vary: 'host',
      })
    if (document) return handOver(`/.well-known/${document.name}`)
    await limits.count(context.address)
    if (allowed === 'POST') return takeForm()
    return handOver(withQuery(path, context.query))

    /** What clients wrote is read as it is meant before the server sees it. */
    async function takeForm(): Promise<void> {
      const body = await readBytes(req, MAX_BODY_BYTES)
      if (path === '/oauth/register') return register(body)
      if (mediaTypeOf(req) !== FORM) return handOver(path, body)
      const form = new URLSearchParams(body.toString('utf8'))
      const code = form.get('device_code')
      if (path === '/oauth/token' && form.get('grant_type') === DEVICE_GRANT && code !== null)
        if (limits.isPolledTooFast(hashToken(code).toString('base64'), now()))
          return fail(400, 'slow_down', 'ask every 5 seconds at most')
      if (path === '/oauth/token') readAsked(form, 'token', addresses)
      if (path === '/oauth/device') readAsked(form, 'device', addresses)
      return handOver(path, Buffer.from(form.toString()))
    }

    async function register(body: Buffer): Promise<void> {
      const wait = await limits.registration(context.address)
      if (wait !== undefined) {
        res.setHeader('retry-after', String(wait))
        return fail(429, 'temporarily_unavailable', 'too many registrations from this network')
      }
      const said = parsed(body)
      if (!isObject(said)) return handOver(path, body)
      const fault = redirectFault(said)
      if (fault !== undefined) return fail(400, 'invalid_redirect_uri', fault)
      return handOver(path, Buffer.from(JSON.stringify(readClient(said))))
    }

    async function handOver(target: string, body?: Buffer): Promise<void> {
      const pinned = pinnedRequest(req, target, addresses.baseUrl, body)
      await identity.oauth.handle(pinned, res, {
        language: languageOf(req, context.query),
        mayFetch: () => limits.mayFetch(context.address),
        async refuse(status, error, description) {
          const detail = description ?? error
          const shown = new GatewayError(
            'request_invalid',
            `The program that sent you here asked for what cannot be given: ${detail}. Go back to it and begin again.`,
          )
          if (await site.refuse(shown, { req, res, context, params: {} })) return
          sendJson(res, status, { error, error_description: detail }, { 'cache-control': 'no-store' })
        },
      })
    }

    function fail(status: number, error: string, description: string): void {
      sendJson(res, status, { error, error_description: description }, { 'cache-control': 'no-store' })
    }
    function refuse(error: GatewayError): void {
      sendProblem(res, error, context, addresses)
    }
    function withQuery(at: string, query: string): string {
      if (at !== '/oauth/authorize') return at
      const params = new URLSearchParams(query)
      readAsked(params, 'authorization', addresses)
      return `${at}?${params.toString()}`
    }
  }

  return {
    isAt: (path) => path.startsWith(PREFIX) || metadataAt(path) !== undefined,
    async http(req, res, context) {
      try {
        await http(req, res, context)
      } catch (thrown) {
        // What a stranger does too often, or sends too much of, is no failure of the door.
        const error = toGatewayError(thrown)
        if (error.code === 'internal') throw thrown
        if (!(await site.refuse(error, { req, res, context, params: {} })))
          sendProblem(res, error, context, addresses)
      }
    },
  }
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return undefined
  }
}

/** The client may know what its user reads; else their browser does. */
function languageOf({ headers }: IncomingMessage, query: string): 'en' | 'ar' {
  const asked = new URLSearchParams(query).get('ui_locales') ?? headers['accept-language'] ?? ''
  const [first = ''] = asked.split(/[\s,;]/)
  return /^ar\b/i.test(first.trim()) ? 'ar' : 'en'
}
