// The common requests of both protocol eras, answered from parsed JSON with bytes prepared at start. A request that is
// unusual in any way is not judged here: it goes to the SDK, which knows the whole ladder of refusals.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { isObject } from '../../lib/json.ts'
import { type Headers, sendBytes, sendJsonText } from '../http/reply.ts'
import type { Era } from './catalogue.ts'
import type { McpCore } from './core.ts'
import type { Exchange } from './exchange.ts'
import { resultJson } from './result.ts'
import { callTool, type Link } from './tool-call.ts'
import {
  errorText,
  isRpcId,
  type JsonObject,
  META,
  MODERN_VERSION,
  RPC,
  type RpcRequest,
  resultText,
} from './wire.ts'

export type EraVerdict = 'modern' | 'legacy' | 'unusual'

/** `unusual`: the claim, the headers and the body do not agree in the plain way a sound client sends them. */
export function classifyEra(
  { method, params }: { method: string; params: JsonObject },
  headers: IncomingMessage['headers'],
): EraVerdict {
  const version = headers['mcp-protocol-version']
  const meta = params['_meta']
  if (meta !== undefined && !isObject(meta)) return 'unusual'
  if (meta?.['progressToken'] !== undefined && !isRpcId(meta['progressToken'])) return 'unusual'
  if (meta?.[META.version] === undefined)
    return version !== undefined && String(version) >= MODERN_VERSION ? 'unusual' : 'legacy'
  const isPlain =
    meta[META.version] === MODERN_VERSION &&
    version === MODERN_VERSION &&
    headers['mcp-method'] === method &&
    (method !== 'tools/call' || headers['mcp-name'] === params['name']) &&
    isObject(meta[META.capabilities]) &&
    isClientInfo(meta[META.clientInfo]) &&
    (meta[META.logLevel] === undefined || typeof meta[META.logLevel] === 'string')
  return isPlain ? 'modern' : 'unusual'
}

const isClientInfo = (info: unknown) =>
  info === undefined ||
  (isObject(info) && typeof info['name'] === 'string' && typeof info['version'] === 'string')

const nameOf = (info: unknown) =>
  isObject(info) && typeof info['name'] === 'string' ? info['name'] : undefined

export interface FastRequest {
  readonly request: RpcRequest
  readonly era: Era
  readonly link: Link
  readonly res: ServerResponse
  readonly headers: Headers
  /** Made only for calls: the other answers are ready at once. */
  readonly openExchange: () => Exchange
}

/** @returns false, with nothing sent, when the request is not one of the common ones */
export async function answerFast(core: McpCore, fast: FastRequest): Promise<boolean> {
  const { request, era } = fast
  switch (request.method) {
    case 'tools/call':
      await answerCall(core, fast)
      return true
    case 'tools/list':
      if (request.params['cursor'] !== undefined) reply(fast, errorText(request.id, NO_CURSOR))
      else await answerList(core, fast)
      return true
    case 'server/discover':
      if (era === 'legacy') return false
      reply(fast, resultText(request.id, core.catalogue.discoverResult(spelling(core, fast))))
      return true
    case 'initialize':
      return era === 'legacy' && answerInitialize(core, fast)
    case 'ping':
      if (era === 'modern') return false
      reply(fast, resultText(request.id, '{}'))
      return true
    default:
      return false
  }
}

/** The list is one page, so no cursor was ever given out. */
const NO_CURSOR = { code: RPC.invalidParams, message: 'Unknown cursor: the list is one page.' }

const reply = ({ res, headers }: FastRequest, text: string) => sendJsonText(res, 200, text, headers)

function spelling(core: McpCore, { link, request }: FastRequest) {
  const meta = request.params['_meta']
  return core.spellingOf(link, isObject(meta) ? nameOf(meta[META.clientInfo]) : undefined)
}

async function answerList(core: McpCore, fast: FastRequest): Promise<void> {
  const { res, headers, request, era, link } = fast
  const list = core.catalogue.listResult(era, spelling(core, fast), await core.audienceOf(link))
  const head = Buffer.from(`{"jsonrpc":"2.0","id":${JSON.stringify(request.id)},"result":`)
  const body = Buffer.allocUnsafe(head.length + list.length + 1)
  head.copy(body)
  list.copy(body, head.length)
  body[body.length - 1] = 0x7d
  sendBytes(res, 200, body, { 'content-type': 'application/json', ...headers })
}

function answerInitialize(core: McpCore, fast: FastRequest): boolean {
  const { params, id } = fast.request
  const { protocolVersion, clientInfo } = params
  if (typeof protocolVersion !== 'string' || !isObject(params['capabilities'])) return false
  if (clientInfo === undefined || !isClientInfo(clientInfo)) return false
  const chosen = core.spellingOf({ ...fast.link, session: undefined }, nameOf(clientInfo))
  const text = resultText(id, core.catalogue.initializeResult(protocolVersion, chosen))
  reply({ ...fast, headers: { ...fast.headers, 'mcp-session-id': core.sessions.issue(chosen) } }, text)
  return true
}

async function answerCall(core: McpCore, fast: FastRequest): Promise<void> {
  const { request, era, link } = fast
  const exchange = fast.openExchange()
  const { name } = request.params
  const added =
    typeof name === 'string'
      ? core.extension?.call(name, { era, params: request.params, exchange })
      : undefined
  if (added) {
    const outcome = await added
    if ('error' in outcome) exchange.answer(outcome.status ?? 200, errorText(request.id, outcome.error))
    else exchange.answer(200, resultText(request.id, finish(core, era, outcome.result)))
    return
  }
  const outcome = await callTool(core.parts, link, request.params, exchange)
  if (!outcome.ok) exchange.answer(200, errorText(request.id, outcome.error))
  else {
    const json = resultJson(outcome.result, era === 'modern' ? core.catalogue : undefined)
    exchange.answer(200, resultText(request.id, json))
  }
}

/** Adds what modern results end in to a result that does not say itself of which type it is. */
function finish(core: McpCore, era: Era, result: JsonObject): string {
  const json = JSON.stringify(result)
  return era === 'legacy' || 'resultType' in result ? json : json.slice(0, -1) + core.catalogue.modernTail
}
