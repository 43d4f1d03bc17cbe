// JSON-RPC at /a2a: 1.0 and 0.3. SendMessage of 1.0, which is nearly all traffic, goes straight to the engine; the rest
// through the SDK's transports.
import type { Speller } from '../../core/tool-words.ts'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { isLegacyJsonRpcMethod, isV1JsonRpcMethod } from '@a2a-js/sdk/compat/v0_3'
import { LegacyJsonRpcTransportHandler } from '@a2a-js/sdk/compat/v0_3/server'
import { A2A_ERROR_CODE, VersionNotSupportedError } from '@a2a-js/sdk/errors'
import { type A2ARequestHandler, JsonRpcTransportHandler } from '@a2a-js/sdk/server'
import { openToPages } from '../http/cors.ts'
import { readJson } from '../http/body.ts'
import type { ReadingOf } from '../http/body-limit.ts'
import { type HttpContext, presentedTokens } from '../http/request.ts'
import { limitHeaders, type SeenLimits, sendJson, sendJsonText } from '../http/reply.ts'
import { callFrom, extensionHeaders, requestedVersion, type A2aCall, type WireVersion } from './call.ts'
import type { Engine } from './engine.ts'
import { contextOf } from './handler.ts'
import { type ErrorContext, type RpcFailure, toRpcFailure } from './errors.ts'
import { checkLegacyPush } from './legacy-push.ts'
import { sendEvents } from './sse.ts'

type RpcId = string | number | null
interface RpcRequest {
  readonly jsonrpc: '2.0'
  readonly id: RpcId
  readonly method: string
  readonly params: unknown
}
interface RpcResponse {
  readonly id: RpcId
  readonly error?: { readonly code: number }
}

export interface JsonRpcParts {
  readonly engine: Engine
  readonly handler: A2ARequestHandler
  readonly extensions: readonly string[]
  readonly baseUrl: string
  readonly spell: Speller
  readonly readingOf: ReadingOf
  readonly logFailure: (thrown: unknown, requestId: string) => void
}

/** @returns a handler of POST /a2a; whatever is thrown becomes a JSON-RPC error with the request's id */
export function createJsonRpc(parts: JsonRpcParts) {
  const { engine, handler, baseUrl, spell } = parts
  const current = new JsonRpcTransportHandler(handler)
  const legacy = new LegacyJsonRpcTransportHandler(handler)

  return async function serve(
    req: IncomingMessage,
    res: ServerResponse,
    context: HttpContext,
  ): Promise<void> {
    const errors: ErrorContext = { requestId: context.requestId, baseUrl, spell, req }
    const headers: Record<string, string> = { 'x-request-id': context.requestId, ...openToPages(req) }
    let id: RpcId = null
    let seen: SeenLimits | undefined
    try {
      const sender = { tokens: presentedTokens(req), address: context.address }
      const reading = await parts.readingOf(req, sender)
      const rpc = checkEnvelope(await readJson(req, reading))
      id = rpc.id
      if ('problem' in rpc) return sendFailure(res, id, rpc.problem, headers)
      const version = versionOf(requestedVersion(req, context.query), rpc.method)
      Object.assign(headers, extensionHeaders(req, parts.extensions, version))
      const call = callFrom(req, res, context, version)
      call.bytes = reading.size
      seen = call.seen
      if (version === '1.0' && rpc.method === 'SendMessage') {
        const reply = await engine.send(rpc.params, call)
        const result =
          'message' in reply
            ? `{"message":${JSON.stringify(reply.message)}}`
            : `{"task":${reply.json ?? JSON.stringify(reply.task)}}`
        const text = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`
        return sendJsonText(res, 200, text, { ...headers, ...limitHeaders(seen) })
      }
      await throughSdk(res, rpc, call, version, headers, errors)
    } catch (thrown) {
      const failure = toRpcFailure(thrown, errors)
      if (failure.httpStatus >= 500) parts.logFailure(thrown, context.requestId)
      sendFailure(res, id, failure, { ...headers, ...limitHeaders(seen) })
    }
  }

  async function throughSdk(
    res: ServerResponse,
    rpc: RpcRequest,
    call: A2aCall,
    version: WireVersion,
    headers: Record<string, string>,
    errors: ErrorContext,
  ): Promise<void> {
    const transport = version === '1.0' ? current : legacy
    const params = version === '0.3' ? checkLegacyPush(rpc.method, rpc.params) : rpc.params
    const answer = await transport.handle({ ...rpc, params: params ?? {} }, contextOf(call, version))
    if (Symbol.asyncIterator in answer) {
      const fail = (thrown: unknown) => toRpcFailure(thrown, errors)
      return sendEvents(res, answer as AsyncGenerator<unknown, void, undefined>, headers, (thrown) =>
        envelope(rpc.id, fail(thrown)),
      )
    }
    const response = answer as RpcResponse
    if (response.error !== undefined && call.refused !== undefined) throw call.refused
    if (response.error?.code === A2A_ERROR_CODE.METHOD_NOT_FOUND)
      return sendFailure(res, rpc.id, unknownMethod(rpc.method, version), headers)
    sendJson(res, 200, response, { ...headers, ...limitHeaders(call.seen) })
  }
}

/** 3.6: no version means 0.3. A method of 1.0 says its version by its name, whatever a gateway in between dropped. */
function versionOf(asked: WireVersion | undefined | false, method: string): WireVersion {
  if (asked === false)
    throw new VersionNotSupportedError('Set A2A-Version to 1.0 or 0.3; other versions are not spoken here.')
  return asked ?? (isV1JsonRpcMethod(method) ? '1.0' : '0.3')
}

/** Longest method name that a refusal repeats: twice the longest that either version has. */
const SHOWN_METHOD_CHARACTERS = 64

/** A name of the other version is the usual mistake, so the refusal says how that version is asked for. */
function unknownMethod(method: string, version: WireVersion): RpcFailure {
  const name = `\`${method.slice(0, SHOWN_METHOD_CHARACTERS)}\``
  const [other, isOther] = OTHER_VERSION[version]
  const advice = isOther(method)
    ? `It is one of ${other}: send it with \`A2A-Version: ${other}\`.`
    : `Its methods are listed in ${METHOD_LIST[version]}.`
  return failure(A2A_ERROR_CODE.METHOD_NOT_FOUND, `A2A ${version} has no method ${name}. ${advice}`)
}

const METHOD_LIST: Readonly<Record<WireVersion, string>> = {
  '1.0': 'section 9.4 of https://a2a-protocol.org/v1.0.0/specification',
  '0.3': 'section 7 of https://a2a-protocol.org/v0.3.0/specification',
}
const OTHER_VERSION: Readonly<Record<WireVersion, readonly [WireVersion, (method: string) => boolean]>> = {
  // The SDK looks into an object, where names such as `toString` are found too.
  '1.0': ['0.3', (method) => method.includes('/') && isLegacyJsonRpcMethod(method)],
  '0.3': ['1.0', isV1JsonRpcMethod],
}

function checkEnvelope(body: unknown): RpcRequest | { id: RpcId; problem: RpcFailure } {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    return {
      id: null,
      problem: invalidRequest('Send one JSON-RPC request object; batches are not accepted.'),
    }
  const { jsonrpc, id, method, params } = body as Record<string, unknown>
  const knownId = typeof id === 'string' || (typeof id === 'number' && Number.isInteger(id)) ? id : null
  if (id !== undefined && id !== null && knownId === null)
    return { id: null, problem: invalidRequest('`id` must be a string, a whole number or null.') }
  if (jsonrpc !== '2.0') return { id: knownId, problem: invalidRequest('`jsonrpc` must be "2.0".') }
  if (typeof method !== 'string' || method === '')
    return { id: knownId, problem: invalidRequest('`method` must name the method to call.') }
  if (params !== undefined && (typeof params !== 'object' || params === null || Array.isArray(params)))
    return { id: knownId, problem: failure(A2A_ERROR_CODE.INVALID_PARAMS, '`params` must be an object.') }
  return { jsonrpc, id: knownId, method, params }
}

const failure = (code: number, message: string): RpcFailure => ({
  httpStatus: 200,
  headers: {},
  error: { code, message },
})
const invalidRequest = (message: string) => failure(A2A_ERROR_CODE.INVALID_REQUEST, message)

const envelope = (id: RpcId, { error }: RpcFailure) => ({ jsonrpc: '2.0', id, error })

function sendFailure(
  res: ServerResponse,
  id: RpcId,
  problem: RpcFailure,
  headers: Record<string, string>,
): void {
  sendJson(res, problem.httpStatus, envelope(id, problem), { ...headers, ...problem.headers })
}
