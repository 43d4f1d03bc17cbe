// One HTTP exchange as the REST door's handlers see it, and the resource table that picks a handler by method.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { GatewayError } from '../../core/errors.ts'
import type { HttpContext } from '../http/request.ts'

export interface Exchange {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  readonly context: HttpContext
  /** Values of the path's `{names}`, decoded. */
  readonly params: Readonly<Record<string, string>>
}

export type Handler = (exchange: Exchange) => Promise<void> | void

/** Everything that lives at one path. HEAD is answered by GET. */
export interface Resource {
  /** OpenAPI style: `/v1/receipts/{receipt_id}`. */
  readonly path: string
  readonly methods: { readonly GET?: Handler; readonly POST?: Handler }
  /** Public and read-only: any web page may read it. */
  readonly isPublic: boolean
  /** Paid for by whoever calls, with no token needed: a page may call it with a payment that its visitor signed. */
  readonly isPaid?: boolean
}

/** The headers that a page may read of a paid exchange. */
const EXPOSED =
  'payment-required, payment-response, x-payment-response, x-gateway-quote, x-request-id, retry-after'
/** The headers that a page may send; clients of the protocol send the last one, though it means nothing in a request. */
export const PAID_REQUEST_HEADERS =
  'accept, content-type, payment-signature, x-payment, x-gateway-quote, idempotency-key, traceparent, access-control-expose-headers'
/** A buyer shows the payment again to read what became of it. */
const ACCEPTED_TO_READ = 'accept, payment-signature, x-payment, sign-in-with-x, traceparent'

const NOTHING: Readonly<Record<string, string>> = {}
const READABLE = { 'access-control-allow-origin': '*' }
const PAYABLE = { ...READABLE, 'access-control-expose-headers': EXPOSED }

/** The headers that let pages of other sites read an answer. */
export const openHeaders = ({ isPaid, isPublic }: Pick<Resource, 'isPaid' | 'isPublic'>) =>
  isPaid ? PAYABLE : isPublic ? READABLE : NOTHING

/** Answers a request by the resource's handler for its method. @throws {GatewayError} method_not_allowed, and what the handler throws */
export async function dispatch(resource: Resource, exchange: Exchange): Promise<void> {
  const { req, res, context } = exchange
  const method = req.method === 'HEAD' ? 'GET' : req.method
  const handler = method === 'GET' || method === 'POST' ? resource.methods[method] : undefined
  // A tool's answer carries these already: set beforehand, they would cost every answer a second round of headers.
  if (handler && resource.isPaid) return handler(exchange)
  const open = openHeaders(resource)
  for (const name in open) res.setHeader(name, open[name as keyof typeof open])
  if (handler) return handler(exchange)

  const allow = allowedMethods(resource)
  if (req.method !== 'OPTIONS')
    throw new GatewayError('method_not_allowed', `Use ${allow.join(', ')} here.`, { extras: { allow } })
  res.writeHead(204, {
    allow: allow.join(', '),
    'x-request-id': context.requestId,
    ...((resource.isPublic || resource.isPaid) && {
      'access-control-allow-methods': resource.isPaid ? allow.join(', ') : 'GET, HEAD',
      'access-control-allow-headers': resource.isPaid ? PAID_REQUEST_HEADERS : ACCEPTED_TO_READ,
      'access-control-max-age': '3600',
    }),
  })
  res.end()
}

function allowedMethods({ methods }: Resource): string[] {
  return [...(methods.GET ? ['GET', 'HEAD'] : []), ...(methods.POST ? ['POST'] : []), 'OPTIONS']
}
