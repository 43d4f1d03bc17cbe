// The MCP door: Streamable HTTP at /mcp and /mcp/connect, stateless, revisions 2026-07-28 and 2025-11-25 and older on one address.
// It guards, reads and classifies; fast-path.ts answers tools/call and tools/list, sdk.ts the rest.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Readable, Writable } from 'node:stream'
import { GatewayError, toGatewayError, toProblem } from '../../core/errors.ts'
import { spellProblem } from '../../core/tool-words.ts'
import { isObject, MAX_JSON_DEPTH } from '../../lib/json.ts'
import { type Headers, limitHeaders, refusalHeaders, sendEmpty, sendJsonText } from '../http/reply.ts'
import {
  type HttpContext,
  type HttpHandler,
  mediaTypeOf,
  presentedIdempotencyKey,
  presentedTokens,
} from '../http/request.ts'
import { openToPages, sendOptions } from '../http/cors.ts'
import { notJson, readJson } from '../http/body.ts'
import { createMessageReading } from '../http/body-limit.ts'
import { createGuard } from '../http/guard.ts'
import { logRefusal } from '../http/refusal-line.ts'
import type { Era } from './catalogue.ts'
import { isAboutSignIn } from '../http/bearer-challenge.ts'
import { challengeHeaders } from './challenge.ts'
import { createSignIn, pathOf } from './sign-in.ts'
import { createCore } from './core.ts'
import { createExchange, type Exchange } from './exchange.ts'
import type { McpExtension } from './extension.ts'
import { answerFast, classifyEra, clientNameOf } from './fast-path.ts'
import { isNamesQuery, type Spelling } from './names.ts'
import type { SdkFallback } from './sdk.ts'
import type { Link } from './link.ts'
import {
  errorText,
  isRpcId,
  type JsonObject,
  LEGACY_VERSIONS,
  MODERN_VERSION,
  RPC,
  type RpcId,
} from './wire.ts'
import type { DoorParts } from '../parts.ts'

export interface McpDoor {
  /** `/mcp`, and `/mcp/connect` for those who sign in first: reads its own body. */
  readonly http: HttpHandler
  /**
   * Serves one stdio client in this process, with the portable names unless the operator wants dots; resolves when the client closed its end.
   * @param token bearer token its calls are made with
   */
  stdio(streams: { stdin: Readable; stdout: Writable }, token: string | undefined): Promise<void>
  close(): Promise<void>
}

/** The tool's own input starts two levels down: message, params, arguments. */
const MAX_DEPTH = MAX_JSON_DEPTH + 2
/** Revision 2025-03-26 is the only one that knows batches. A list is a thousand times as long as the question, so few go at once. */
const MAX_BATCH = 20

const ALLOW = ['POST', 'OPTIONS']

/** Opens `/mcp` for both eras of the protocol, and the same door over stdio. */
export function createMcpDoor(parts: DoorParts, extension?: McpExtension): McpDoor {
  const core = createCore(parts, extension)
  const guard = createGuard(parts)
  const signIn = createSignIn(parts)
  /** Calls of 2025-era sessions that a `notifications/cancelled` may end: best effort, it reaches one process only. */
  const cancellable = new Map<string, Exchange>()
  const readingOf = createMessageReading(parts, 'mcp', MAX_DEPTH)
  let sdk: Promise<SdkFallback> | undefined
  const loadSdk = () => (sdk ??= import('./sdk.ts').then((module) => module.createSdkFallback(core)))

  async function http(req: IncomingMessage, res: ServerResponse, context: HttpContext): Promise<void> {
    let headers: Headers = { 'x-request-id': context.requestId }
    let id: RpcId | null = null
    let link: Link | undefined
    try {
      guard.check(req, 'mcp')
      headers = { ...headers, ...openToPages(req) }
      if (req.method === 'OPTIONS') return sendOptions(res, context.requestId, ALLOW, 'protocol')
      if (pathOf(context.path) === '/mcp/connect') await signIn.demand(req, context.address)
      checkRequest(req)
      link = linkOf(req, context)
      const reading = await readingOf(req, link)
      const message = await readJson(req, reading)
      if (reading.size !== undefined) link = { ...link, bytes: reading.size }
      if (isObject(message) && isRpcId(message['id'])) id = message['id']
      if (!isCall(message)) await signIn.refuseExpired(link)
      const incoming = { req, res, link: nameClient(link, message), headers }
      if (parts.observeMessage && id !== null)
        await parts.observeMessage(namesOf(message), () => dispatch(message, incoming))
      else await dispatch(message, incoming)
    } catch (thrown) {
      const spelling = link ? core.spellingOf(link) : 'portable'
      refuse(
        res,
        thrown,
        { id, spelling },
        { ...context, req, headers: { ...headers, ...limitHeaders(link?.seen) } },
      )
    }
  }

  interface Incoming {
    readonly req: IncomingMessage
    readonly res: ServerResponse
    readonly link: Link
    readonly headers: Headers
  }

  async function dispatch(message: unknown, incoming: Incoming): Promise<void> {
    if (Array.isArray(message)) {
      if (message.length > MAX_BATCH) throw tooManyAtOnce()
      if (message.length > 1 && incoming.link.idempotencyKey !== undefined) throw oneKeyForMany()
      return toSdk(message, 'mixed', incoming)
    }
    if (!isObject(message) || message['jsonrpc'] !== '2.0') throw malformed()
    const { method, id } = message
    if (typeof method !== 'string') {
      if (!('result' in message || 'error' in message)) throw malformed()
      extension?.receive(message)
      return sendEmpty(incoming.res, 202, incoming.headers)
    }
    const params = message['params'] ?? {}
    if (!isObject(params) || ('id' in message && !isRpcId(id))) throw malformed()

    const era = classifyEra({ method, params }, incoming.req.headers)
    if (era === 'unusual') return toSdk(message, 'mixed', incoming)
    if (era === 'legacy') checkLegacyHeaders(incoming.req, method)
    if (!isRpcId(id)) {
      if (era === 'legacy' && method === 'notifications/cancelled') cancel(incoming.req, params)
      return sendEmpty(incoming.res, 202, incoming.headers)
    }
    let key: string | undefined
    let exchange: Exchange | undefined
    const openExchange = () => {
      exchange = createExchange(incoming.req, incoming.res, incoming.headers)
      key = era === 'legacy' ? callKey(incoming.req, id) : undefined
      if (key !== undefined) cancellable.set(key, exchange)
      return exchange
    }
    try {
      const fast = { request: { id, method, params }, era, openExchange, ...incoming }
      if (await answerFast(core, fast)) return
    } finally {
      // A client that uses an id twice has its later call there.
      if (key !== undefined && cancellable.get(key) === exchange) cancellable.delete(key)
    }
    await toSdk(message, era, incoming)
  }

  async function toSdk(message: unknown, era: Era | 'mixed', incoming: Incoming): Promise<void> {
    const { req, res, link, headers } = incoming
    const fallback = await loadSdk()
    await fallback.serve({ message, era, link, headers: req.headers }, res, headers)
  }

  function linkOf(req: IncomingMessage, context: HttpContext): Link {
    const { names, selection } = core.selections.read(context.query)
    if (!isNamesQuery(names))
      throw new GatewayError('request_invalid', 'Use ?names=auto, ?names=dotted or ?names=portable.')
    const session = req.headers['mcp-session-id']
    return {
      path: pathOf(context.path),
      challenged: {},
      seen: {},
      tokens: presentedTokens(req),
      address: context.address,
      requestId: context.requestId,
      traceparent: context.traceparent,
      idempotencyKey: presentedIdempotencyKey(req),
      query: names,
      selection,
      userAgent: req.headers['user-agent'],
      session: typeof session === 'string' ? core.sessions.read(session) : undefined,
    }
  }

  function checkLegacyHeaders(req: IncomingMessage, method: string): void {
    if (method === 'initialize') return
    const version = req.headers['mcp-protocol-version']
    if (version !== undefined && !LEGACY_VERSIONS.includes(String(version)))
      throw new UnsupportedVersion(String(version).slice(0, 64))
    const session = req.headers['mcp-session-id']
    if (session !== undefined && core.sessions.read(String(session)) === undefined)
      throw new GatewayError(
        'not_found',
        'This session is not one of this gateway. Send `initialize` again without Mcp-Session-Id.',
        { reason: 'mcp session' },
      )
  }

  function cancel(req: IncomingMessage, params: JsonObject): void {
    const id = params['requestId']
    const key = isRpcId(id) ? callKey(req, id) : undefined
    if (key !== undefined) cancellable.get(key)?.cancel()
  }

  function refuse(
    res: ServerResponse,
    thrown: unknown,
    { id, spelling }: { readonly id: RpcId | null; readonly spelling: Spelling },
    context: HttpContext & { readonly headers: Headers; readonly req: IncomingMessage },
  ): void {
    if (res.headersSent) {
      res.destroy()
      return
    }
    const { headers } = context
    if (thrown instanceof UnsupportedVersion) {
      const data = { supported: [MODERN_VERSION, ...LEGACY_VERSIONS], requested: thrown.requested }
      const error = { code: RPC.unsupportedVersion, message: 'Unsupported protocol version', data }
      return sendJsonText(res, 400, errorText(id, error), headers)
    }
    const error = toGatewayError(thrown)
    // A message that never became a call has no line from the call path.
    logRefusal(parts.log, error, { requestId: context.requestId, door: 'mcp' })
    const problem = toProblem(error, { requestId: context.requestId, baseUrl: parts.addresses.baseUrl })
    const data = spellProblem(problem, (text) => core.catalogue.spell(text, spelling))
    const text = errorText(id, { code: rpcCodeOf(error), message: data.detail, data })
    sendJsonText(res, error.status, text, {
      ...headers,
      ...refusalHeaders(error),
      ...(isAboutSignIn(error) &&
        challengeHeaders(core, { error }, { headers: context.req.headers, path: pathOf(context.path) })),
    })
  }

  return {
    http,
    async stdio(streams, token) {
      const { serveSdkStdio } = await import('./sdk.ts')
      const link: Link = {
        tokens: { bearer: token },
        address: 'stdio',
        requestId: 'stdio',
        traceparent: undefined,
        query: parts.config.mcpNames === 'dotted' ? 'dotted' : 'portable',
        userAgent: undefined,
        session: undefined,
      }
      await serveSdkStdio(core, link, streams)
    },
    async close() {
      await (await sdk)?.close()
    },
  }
}

class UnsupportedVersion extends Error {
  readonly requested: string
  constructor(requested: string) {
    super('unsupported protocol version')
    this.requested = requested
  }
}

/** An `initialize` opens a session of its own, so an earlier session has no say in it. */
function nameClient(link: Link, message: unknown): Link {
  const params = isObject(message) ? message['params'] : undefined
  if (!isObject(message) || !isObject(params)) return link
  const clientName = clientNameOf(params)
  return message['method'] === 'initialize'
    ? { ...link, clientName, session: undefined }
    : { ...link, clientName }
}

function namesOf(message: unknown): { readonly method: unknown; readonly name: unknown } {
  if (!isObject(message)) return { method: undefined, name: undefined }
  const { method, params } = message
  return { method, name: isObject(params) ? params['name'] : undefined }
}

const isCall = (message: unknown) => isObject(message) && message['method'] === 'tools/call'

function checkRequest(req: IncomingMessage): void {
  if (req.method !== 'POST')
    throw new GatewayError(
      'method_not_allowed',
      'Send JSON-RPC messages with POST; there is no session stream.',
      {
        extras: { allow: [...ALLOW] },
      },
    )
  if (mediaTypeOf(req) !== 'application/json') throw notJson()
}

const tooManyAtOnce = () =>
  new GatewayError('request_invalid', `Send at most ${MAX_BATCH} messages in a batch.`, { reason: 'batch' })

const oneKeyForMany = () =>
  new GatewayError(
    'request_invalid',
    'One Idempotency-Key is the key of one call. Put the key of each call of a batch into its `_meta["idempotency-key"]`.',
    { reason: 'batch' },
  )

const malformed = () =>
  new GatewayError('request_invalid', 'Send one JSON-RPC 2.0 request, notification or response.')

function callKey(req: IncomingMessage, id: RpcId): string | undefined {
  const session = req.headers['mcp-session-id']
  return typeof session === 'string' ? `${session} ${JSON.stringify(id)}` : undefined
}

function rpcCodeOf({ code }: GatewayError): number {
  if (code === 'json_invalid' || code === 'json_too_deep') return RPC.parseError
  return code === 'internal' || code === 'store_unavailable' ? RPC.internal : RPC.invalidRequest
}
