// What is sold at addresses of its own: `/p/{seller}/{service_id}/` and the routes below it. The path is matched as it was written and
// never decoded; the answer is the service's own, with the receipt in its head.
import type { IncomingMessage } from 'node:http'
import { type GatewayError, GatewayError as Refusal, toGatewayError } from '../../core/errors.ts'
import { createSpeller, routeName } from '../../core/tool-words.ts'
import type { PresentedPayment } from '../../core/charging.ts'
import type { HttpMessage } from '../../core/message.ts'
import { MAX_BODY_BYTES } from '../../market/calls/input.ts'
import { bytesOf } from '../../market/calls/shown-answer.ts'
import type { MarketCallResult } from '../../../schemas/market-call.ts'
import type { SignedReceipt } from '../../../schemas/receipt.ts'
import type { SettleResponse } from '../../../schemas/x402.ts'
import { watchDisconnect } from '../http/disconnect.ts'
import {
  type HttpContext,
  type HttpHandler,
  presentedIdempotencyKey,
  presentedTokens,
} from '../http/request.ts'
import { readBytes } from '../http/body.ts'
import { rateHeaders, sendBytes, sendEmpty } from '../http/reply.ts'
import { OPEN, preflightHeaders } from '../http/cors.ts'
import { allowSilence } from '../http/silence.ts'
import type { SitePages } from '../http/site-pages.ts'
import type { DoorParts } from '../parts.ts'
import {
  paidHeaders,
  presentedPayment,
  presentedQuote,
  presentedSignIn,
  sendRefusal,
} from '../rest/payment-headers.ts'

export const MARKET_PREFIX = '/p/'
const TOOL = 'gateway.marketplace.call'
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
const ALLOW = [...METHODS, 'OPTIONS'].join(', ')
const NO_BODY = Buffer.alloc(0)

interface Address {
  readonly seller: string
  readonly serviceId: string
  readonly testnet: boolean
  /** Raw, with its leading slash. */
  readonly path: string
}

/** `/p/gateway/feed-digest/x`, without and with `testnet/`; whatever else stands below `/p/` is no service. */
const ADDRESS = /^\/p\/(testnet\/)?([a-z0-9-]{1,40})\/([a-z0-9-]{1,64})(\/.*)?$/

export function readAddress(path: string): Address | undefined {
  const [, testnet, seller, serviceId, below] = ADDRESS.exec(path) ?? []
  if (seller === undefined || serviceId === undefined || seller === 'testnet') return undefined
  return { seller, serviceId, testnet: testnet !== undefined, path: below ?? '/' }
}

/** A document of a seller (`/p/{seller}/openapi.json`), which is no service: those have no dot. */
export const isSellerDocument = (path: string): boolean => /^\/p\/[a-z0-9-]{1,40}\/[a-z]+\.[a-z]+$/.test(path)

/** @returns undefined where the tool is not served */
export function createMarketDoor(
  given: Pick<DoorParts, 'registry' | 'calls' | 'addresses'> & { readonly site: Pick<SitePages, 'price'> },
): HttpHandler | undefined {
  const parts = { ...given, spell: createSpeller(given.registry, routeName) }
  const tool = parts.registry.find(TOOL)?.tool
  if (!tool) return undefined
  const { addresses, calls } = parts
  const open = { ...OPEN.paid, 'access-control-expose-headers': EXPOSED }

  return async (req, res, context) => {
    const exchange = { req, res, context, params: {} }
    const refuse = (error: GatewayError, others = {}) =>
      sendRefusal(parts, exchange, error, { ...open, ...others })
    const method = METHODS.find((one) => one === req.method)
    if (req.method === 'OPTIONS')
      return sendEmpty(res, 204, { ...preflight, 'x-request-id': context.requestId })
    if (!method)
      return refuse(
        new Refusal('method_not_allowed', `Use one of ${ALLOW}.`, { extras: { allow: [...METHODS] } }),
      )
    const address = readAddress(context.path)
    if (!address) return refuse(noService(addresses.baseUrl))

    const disconnect = watchDisconnect(res)
    let payment: PresentedPayment | undefined
    let body: Buffer = NO_BODY
    let inputError: GatewayError | undefined
    try {
      payment = presentedPayment(req, { takesHead: true })
      body = await readBytes(req, MAX_BODY_BYTES)
    } catch (thrown) {
      inputError = toGatewayError(thrown)
    }
    if (tool.maxDurationMs !== undefined) allowSilence(req, res, tool.maxDurationMs)
    const { seller, serviceId, testnet, path } = address
    const result = await calls.call({
      tool,
      input: { seller, service_id: serviceId, testnet, method, path: path.slice(0, MAX_PATH_CHARS) },
      // Whoever pays nothing is told the price, whatever else is wrong.
      inputError: payment === undefined && inputError?.code === 'body_too_large' ? undefined : inputError,
      payment,
      signIn: presentedSignIn(req),
      door: 'rest',
      // Nobody needs an account here, and what stands in `Authorization` may be meant for the seller.
      tokens: payment === undefined ? {} : capabilityOf(req),
      address: context.address,
      requestId: context.requestId,
      traceparent: context.traceparent,
      signal: disconnect.signal,
      resource: { url: canonical(addresses.baseUrl, address), method: method === 'HEAD' ? 'GET' : method },
      message: toMessage(req, context, address, body),
      quote: presentedQuote(req),
      idempotencyKey: presentedIdempotencyKey(req),
    })
    const rate = rateHeaders(result.rate, result.quota)
    if (!result.ok) return refuse(result.error, rate)
    if (!result.paid) throw new Error('a service of the market was called without a payment')
    const { upstream, receipt } = result.output as MarketCallResult & { readonly receipt: SignedReceipt }
    const headers = {
      ...GUARDS,
      ...upstream.headers,
      ...open,
      ...rate,
      ...moneyHeaders(req, receipt, result.paid.settlement),
      'x-request-id': context.requestId,
      'agent-gateway-claim': result.paid.claimId,
      ...(result.paid.replayed && { 'idempotent-replayed': 'true' }),
    }
    if (BODYLESS.has(upstream.status) || method === 'HEAD') res.writeHead(upstream.status, headers).end()
    else sendBytes(res, upstream.status, bytesOf(upstream), headers)
  }
}

const MAX_PATH_CHARS = 513
const BODYLESS = new Set([204, 205])

/** A seller's bytes come from the gateway's own origin: no browser may take them for a page or a script of it. */
const GUARDS = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "sandbox; default-src 'none'",
  'cross-origin-resource-policy': 'cross-origin',
}

const EXPOSED =
  'payment-required, payment-response, x-payment-response, agent-gateway-receipt, agent-gateway-claim, x-request-id, retry-after, link'

const preflight = { allow: ALLOW, ...preflightHeaders('paid', [...METHODS, 'OPTIONS']) }

/** Room in a head of 4 KiB for what the payment became and for the receipt: a longer receipt is named instead. */
const MAX_MONEY_CHARS = 3000

function moneyHeaders(req: IncomingMessage, { jws, url }: SignedReceipt, settlement: SettleResponse) {
  const paid = paidHeaders(req, settlement)
  const length = Object.values(paid).reduce((sum, value) => sum + value.length, 0)
  return {
    ...paid,
    ...(length + jws.length <= MAX_MONEY_CHARS && { 'agent-gateway-receipt': jws }),
    link: `<${url}>; rel="receipt"`,
  }
}

/** What a payment counts on where an agent pays: its capability; a key of nobody who is asked here is left alone. */
function capabilityOf(req: IncomingMessage) {
  const { bearer, capabilityHeader } = presentedTokens(req)
  return bearer?.startsWith('agw_') ? { bearer, capabilityHeader } : { capabilityHeader }
}

const canonical = (baseUrl: string, { seller, serviceId, testnet, path }: Address) =>
  `${baseUrl}${MARKET_PREFIX}${testnet ? 'testnet/' : ''}${seller}/${serviceId}/${path.slice(1)}`

function toMessage(
  req: IncomingMessage,
  context: HttpContext,
  { seller, path }: Address,
  body: Buffer,
): HttpMessage {
  const headers: (readonly [string, string])[] = []
  for (const [at, value] of req.rawHeaders.entries()) {
    const name = req.rawHeaders[at - 1]
    if (at % 2 === 1 && name !== undefined) headers.push([name, value])
  }
  return {
    host: seller,
    path,
    query: context.query === '' ? undefined : context.query,
    method: req.method ?? 'GET',
    headers,
    body,
    address: context.address,
    requestId: context.requestId,
  }
}

const noService = (baseUrl: string) =>
  new Refusal(
    'service_not_found',
    `Services are at ${baseUrl}/p/{seller}/{service_id}/, both in lower case; ${baseUrl}/v1/marketplace/services lists them.`,
  )
