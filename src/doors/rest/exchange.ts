// One HTTP exchange as the REST door's handlers see it, and the resource table that picks a handler by method.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { GatewayError } from '../../errors.ts'
import type { HttpContext } from '../http.ts'

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
}

/** @throws {GatewayError} method_not_allowed */
export async function dispatch(resource: Resource, exchange: Exchange): Promise<void> {
  const { req, res, context } = exchange
  if (resource.isPublic) res.setHeader('access-control-allow-origin', '*')
  const method = req.method === 'HEAD' ? 'GET' : req.method
  const handler = method === 'GET' || method === 'POST' ? resource.methods[method] : undefined
  if (handler) return handler(exchange)

  const allow = allowedMethods(resource)
  if (req.method !== 'OPTIONS')
    throw new GatewayError('method_not_allowed', `Use ${allow.join(', ')} here.`, { extras: { allow } })
  res.writeHead(204, {
    allow: allow.join(', '),
    'x-request-id': context.requestId,
    ...(resource.isPublic && {
      'access-control-allow-methods': 'GET, HEAD',
      'access-control-allow-headers': 'accept, traceparent',
      'access-control-max-age': '3600',
    }),
  })
  res.end()
}

function allowedMethods({ methods }: Resource): string[] {
  return [...(methods.GET ? ['GET', 'HEAD'] : []), ...(methods.POST ? ['POST'] : []), 'OPTIONS']
}
