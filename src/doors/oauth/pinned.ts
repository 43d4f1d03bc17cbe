// A request as the authorization server sees it: the gateway's own address, whatever Host and forwarding headers say, and no header that
// it has no use for.
import { IncomingMessage } from 'node:http'

/** Everything else (Host, Forwarded, X-Forwarded-*) is the gateway's own, or nobody's. */
const KEPT = [
  'accept',
  'accept-language',
  'authorization',
  'content-type',
  'cookie',
  'origin',
  'user-agent',
  'access-control-request-method',
  'access-control-request-headers',
]

/**
 * @param target path and query
 * @param baseUrl address of the gateway
 */
export function pinnedRequest(
  req: IncomingMessage,
  target: string,
  baseUrl: string,
  body: Buffer | undefined,
): IncomingMessage {
  const base = new URL(baseUrl)
  const pinned = new IncomingMessage(req.socket)
  pinned.method = req.method ?? 'GET'
  pinned.url = target
  pinned.httpVersion = '1.1'
  const headers: Record<string, string> = { host: base.host, 'x-forwarded-proto': base.protocol.slice(0, -1) }
  for (const name of KEPT) {
    const value = req.headers[name]
    if (typeof value === 'string') headers[name] = value
  }
  if (body) headers['content-length'] = String(body.length)
  pinned.headers = headers
  pinned.rawHeaders = Object.entries(headers).flat()
  // A base address with a path is one that a proxy cuts off: addresses have it all the same.
  Object.assign(pinned, { originalUrl: base.pathname.replace(/\/$/, '') + target })
  pinned.complete = true
  if (body && body.length > 0) pinned.push(body)
  pinned.push(null)
  return pinned
}
