// The edge: a merchant's address behind ours. Nothing is parsed here, neither path nor headers nor body: the message goes to
// the call path as it came, and the merchant's answer goes back as it came.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { neverGone } from '../../core/priced-run.ts'
import { GatewayError, toGatewayError } from '../../core/errors.ts'
import type { HttpMessage } from '../../core/message.ts'
import type { EdgeReply } from '../../edge/ports.ts'
import { readBytes } from '../http/body.ts'
import { isFramedOddly } from '../http/framing.ts'
import type { HttpContext, HttpHandler } from '../http/request.ts'
import { sendProblem } from '../http/reply.ts'
import type { DoorParts } from '../parts.ts'

export const EDGE_PREFIX = '/edge/'
const TOOL = 'gateway.edge.forward'
/** The merchant's record says which of them; POST where it says nothing. */
const METHODS = ['POST', 'GET', 'PUT', 'PATCH', 'DELETE'] as const
/** Kinds of subresources that a page runs or is drawn by. No page of ours has one from a merchant. */
const ACTIVE = /^(?:script|style|manifest|xslt|(?:audio|paint)worklet|(?:shared|service)?worker)$/
const NO_BODY = Buffer.alloc(0)

/** @returns undefined where the tool is not served */
export function createEdgeDoor(
  parts: Pick<DoorParts, 'registry' | 'calls' | 'addresses'>,
): HttpHandler | undefined {
  const tool = parts.registry.find(TOOL)?.tool
  if (!tool) return undefined

  return async (req, res, context) => {
    try {
      const method = METHODS.find((one) => one === req.method)
      if (!method)
        throw new GatewayError(
          'method_not_allowed',
          'POST is forwarded, and GET, PUT, PATCH and DELETE where the record of the merchant lists them.',
          { extras: { allow: ['POST'] } },
        )
      if (ACTIVE.test(headerOf(req, 'sec-fetch-dest')))
        throw new GatewayError(
          'origin_denied',
          'A merchant is no source of scripts and styles for web pages.',
          {
            reason: 'active_content',
          },
        )
      if (isFramedOddly(req)) {
        res.setHeader('connection', 'close')
        throw new GatewayError(
          'request_invalid',
          'Send the body with Content-Length, or chunked in HTTP/1.1.',
        )
      }
      const { body, inputError } = await read(req, tool.maxBodyBytes)
      // RFC 9110, section 9.3.1: it means nothing there, and a server that leaves it on the wire reads it as the next request.
      if (method === 'GET' && body.length > 0)
        throw new GatewayError('request_invalid', 'Leave out the body: a GET has none.')
      const message = toTransaction(req, context, method, body)
      const result = await parts.calls.call({
        tool,
        input: { 'merchant-host': message.host, path: message.path },
        inputError,
        door: 'rest',
        // The merchant judges what authorizes the buyer.
        tokens: {},
        address: context.address,
        requestId: context.requestId,
        traceparent: context.traceparent,
        // A transaction that was sent to a merchant ends there, whether or not the buyer still listens.
        signal: neverGone,
        message,
      })
      if (!result.ok) sendProblem(res, result.error, context, parts.addresses, result.rate)
      else sendReply(res, result.output as EdgeReply)
    } catch (thrown) {
      sendProblem(res, thrown, context, parts.addresses)
    }
  }
}

/** Refused by the call path, which counts and logs it. */
async function read(
  req: IncomingMessage,
  maxBytes: number,
): Promise<{ body: Buffer; inputError?: GatewayError }> {
  try {
    return { body: await readBytes(req, maxBytes) }
  } catch (thrown) {
    return { body: NO_BODY, inputError: toGatewayError(thrown) }
  }
}

const headerOf = ({ headers }: IncomingMessage, name: string): string => {
  const value = headers[name]
  return typeof value === 'string' ? value : ''
}

function toTransaction(
  req: IncomingMessage,
  context: HttpContext,
  method: string,
  body: Buffer,
): HttpMessage {
  const rest = context.path.slice(EDGE_PREFIX.length)
  const slash = rest.indexOf('/')
  const headers: (readonly [string, string])[] = []
  for (const [at, value] of req.rawHeaders.entries()) {
    const name = req.rawHeaders[at - 1]
    if (at % 2 === 1 && name !== undefined) headers.push([name, value])
  }
  return {
    host: slash < 0 ? rest : rest.slice(0, slash),
    path: slash < 0 ? '' : rest.slice(slash),
    // An empty query is one too.
    query: req.url?.includes('?') ? context.query : undefined,
    method,
    headers,
    body,
    address: context.address,
    requestId: context.requestId,
  }
}

/** RFC 9110, section 8.6: these have no body, and 304 would say the length of another. */
const BODYLESS = new Set([204, 304])

function sendReply(res: ServerResponse, { status, headers, body }: EdgeReply): void {
  if (res.headersSent || res.destroyed) return
  if (BODYLESS.has(status)) {
    res.writeHead(status, listRaw(headers)).end()
    return
  }
  const raw = listRaw(headers)
  raw.push('content-length', String(body.length))
  res.writeHead(status, raw)
  // Node writes a text together with the headers, and bytes as a second piece. Latin-1 is every byte as it is.
  if (body.length <= ONE_PIECE_BYTES) res.end(body.toString('latin1'), 'latin1')
  else res.end(body)
}

const ONE_PIECE_BYTES = 16 * 1024

/** Name, value, name, value: in order and repetition. */
function listRaw(headers: EdgeReply['headers']): string[] {
  const raw: string[] = []
  for (const [name, value] of headers) raw.push(name, value)
  return raw
}
