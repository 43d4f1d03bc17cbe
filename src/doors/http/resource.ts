// One HTTP exchange as the REST door's handlers see it, and the resource table that picks a handler by method.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { GatewayError } from '../../core/errors.ts'
import { OPEN, sendOptions } from './cors.ts'
import type { HttpContext } from './request.ts'

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
  /**
   * Open to web pages of every origin: `public` needs no token and changes nothing, `paid` is paid for by whoever calls, with a payment
   * that a page's visitor may have signed.
   */
  readonly open?: 'public' | 'paid' | undefined
}

/** Answers a request by the resource's handler for its method. @throws {GatewayError} method_not_allowed, and what the handler throws */
export async function dispatch(resource: Resource, exchange: Exchange): Promise<void> {
  const { req, res, context } = exchange
  const method = req.method === 'HEAD' ? 'GET' : req.method
  const handler = method === 'GET' || method === 'POST' ? resource.methods[method] : undefined
  // A paid tool's answer carries these already: set beforehand, they would cost every answer a second round of headers.
  if (handler && resource.open === 'paid') return handler(exchange)
  const open = resource.open && OPEN[resource.open]
  if (open) for (const name in open) res.setHeader(name, open[name] ?? '')
  if (handler) return handler(exchange)

  const allow = allowedMethods(resource)
  if (req.method === 'OPTIONS') return sendOptions(res, context.requestId, allow, resource.open)
  throw new GatewayError('method_not_allowed', `Use ${allow.join(', ')} here.`, { extras: { allow } })
}

function allowedMethods({ methods }: Resource): string[] {
  return [...(methods.GET ? ['GET', 'HEAD'] : []), ...(methods.POST ? ['POST'] : []), 'OPTIONS']
}
