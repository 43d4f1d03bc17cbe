// The official SDK behind the fast path: initialize, server/discover and ping, subscriptions, and every refusal of the 2026 ladder.
// The SDK is imported by no other module, and this one is loaded with its first use: that takes a fifth of a second.
import type { ServerResponse } from 'node:http'
import type { Readable, Writable } from 'node:stream'
import {
  type CallToolResult,
  createMcpHandler,
  isInitializeRequest,
  type JSONRPCMessage,
  parseJSONRPCMessage,
  ProtocolError,
  Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { z } from 'zod'
import { toGatewayError, toProblem } from '../../core/errors.ts'
import { newId } from '../../lib/ids.ts'
import { isObject } from '../../lib/json.ts'
import { watchDisconnect } from '../http/disconnect.ts'
import { type Headers as ReplyHeaders, limitHeaders, sendJsonText, writeChunk } from '../http/reply.ts'
import { challengeHeaders } from './challenge.ts'
import { type Era, LIST_TTL_MS } from './catalogue.ts'
import type { McpCore } from './core.ts'
import type { Link } from './link.ts'
import { createLineTransport } from './line-transport.ts'
import { spellProblem } from '../../core/tool-words.ts'
import { OFFER_METHODS } from './offers.ts'
import { RESOURCE_NOT_FOUND, RpcRefusal } from './refusal.ts'
import { resultJson } from './result.ts'
import { callTool } from './tool-call.ts'
import { errorText, isRpcId, type JsonObject, RPC, type RpcId } from './wire.ts'

export interface Asked {
  /** Parsed. */
  readonly message: unknown
  /** `mixed` is what a whole ladder of checks tells apart: batches, subscriptions, and all that is wrong with a request. */
  readonly era: Era | 'mixed'
  readonly link: Link
  readonly headers: NodeJS.Dict<string | string[]>
}

export interface SdkFallback {
  /** Answers a message that the fast path does not know. */
  serve(asked: Asked, res: ServerResponse, headers: ReplyHeaders): Promise<void>
  close(): Promise<void>
}

/** The SDK behind the fast path: a server of its own for each request. */
export function createSdkFallback(core: McpCore): SdkFallback {
  const links = new WeakMap<Request, Link>()
  const handler = createMcpHandler(
    ({ requestInfo, era }) => {
      const link = linkOf(requestInfo && links.get(requestInfo))
      return createServer(core, era, () => link)
    },
    { onerror: (error) => core.parts.log.debug({ err: error }, 'mcp request refused') },
  )

  /** One request of the 2025 era, answered in JSON by a server of its own; the handler would answer with a stream of one event. */
  async function answerLegacy(message: unknown, link: Link, request: Request): Promise<Response> {
    const transport = new WebStandardStreamableHTTPServerTransport({
      enableJsonResponse: true,
      ...(isInitializeRequest(message) && {
        sessionIdGenerator: () => core.sessions.issue(core.settledFor(link)),
      }),
    })
    const server = createServer(core, 'legacy', () => link)
    await server.connect(transport)
    try {
      return await transport.handleRequest(request, { parsedBody: message })
    } finally {
      await server.close()
    }
  }

  return {
    async serve({ message, era, link, headers }, res, replyHeaders) {
      const request = new Request(core.parts.addresses.mcpUrl, {
        method: 'POST',
        headers: webHeaders(headers),
        signal: watchDisconnect(res).signal(),
      })
      links.set(request, link)
      if (era === 'legacy') {
        // It is answered in JSON whatever else the client takes, which the transport wants to hear of.
        request.headers.set('accept', 'application/json, text/event-stream')
      }
      const answer = await (era === 'legacy'
        ? answerLegacy(message, link, request)
        : handler.fetch(request, { parsedBody: message }))
      const body = answer.body?.[Symbol.asyncIterator]()
      // A call is refused before anything is said about it, so its first bytes are not the head's to wait for with any other message.
      const first = isCall(message) ? await body?.next() : undefined
      const { told } = link.challenged ?? {}
      if (told && isCall(message)) {
        await body?.return?.()
        return sendJsonText(res, told.refusal.error.status, errorText(message.id, told.error), {
          ...replyHeaders,
          ...limitHeaders(link.seen),
          ...challengeHeaders(core, told.refusal, { headers, path: link.path }),
        })
      }
      await pipe(answer, { first, body }, res, { ...replyHeaders, ...limitHeaders(link.seen) })
    },
    close: () => handler.close(),
  }
}

/** Serves one stdio connection in this process; resolves when the client closed its end and has all its answers. */
export function serveSdkStdio(
  core: McpCore,
  link: Link,
  streams: { readonly stdin: Readable; readonly stdout: Writable },
): Promise<void> {
  return new Promise((resolve) => {
    let spoken: Era | undefined
    const transport = createLineTransport(streams, parseJSONRPCMessage, resolve)
    const { send } = transport
    transport.send = (message, options) =>
      send(spoken === 'legacy' ? withLegacyCode(message) : message, options)
    const linkNow = () => ({ ...link, requestId: newId('req') })
    serveStdio(
      ({ era }) => {
        spoken = era
        return createServer(core, era, linkNow)
      },
      { transport },
    )
  })
}

/** The SDK writes the code of 2026 in every era. */
function withLegacyCode(message: JSONRPCMessage): JSONRPCMessage {
  if (!('error' in message) || message.error.code !== RPC.invalidParams) return message
  const { data } = message.error
  if (!isObject(data) || typeof data['uri'] !== 'string') return message
  return { ...message, error: { ...message.error, code: RESOURCE_NOT_FOUND } }
}

function linkOf(link: Link | undefined): Link {
  if (!link) throw new Error('a server was asked for without a connection')
  return link
}

/** @param linkNow what a call arriving now brings along */
function createServer(core: McpCore, era: Era, linkNow: () => Link): Server {
  const { catalogue, extension } = core
  const server = new Server(catalogue.serverInfo as { name: string; version: string }, {
    capabilities: catalogue.capabilities[era],
    instructions: catalogue.instructions(core.settledFor(linkNow())),
    cacheHints: { 'tools/list': CACHE, 'server/discover': CACHE },
  })
  server.setRequestHandler('tools/list', async () => ({
    tools: catalogue.tools(await core.viewOf(linkNow())) as never[],
  }))
  server.setRequestHandler('tools/call', async (request, { mcpReq }) => {
    // The SDK takes what it reads itself out of `_meta`.
    const params = { ...request.params, _meta: { ...mcpReq._meta, ...mcpReq.envelope } } as JsonObject
    const link = linkNow()
    const outcome = await callTool(core, link, params, {
      signal: () => mcpReq.signal,
      notify(method, sent) {
        // A cancelled request is not spoken of any more.
        if (!mcpReq.signal.aborted) void mcpReq.notify({ method, params: sent } as never).catch(() => {})
      },
    })
    if (!outcome.ok) throw new ProtocolError(outcome.error.code, outcome.error.message)
    if (link.challenged) link.challenged.told = outcome.challenge
    return JSON.parse(resultJson(outcome.result, mcpReq.envelope && catalogue)) as CallToolResult
  })
  if (extension) extension.install(server)
  else installOffers(core, era, server, linkNow)
  return server
}

/** The same answers as those of the fast path; what they hold for how long is part of them. */
function installOffers(core: McpCore, era: Era, server: Server, linkNow: () => Link): void {
  for (const method of OFFER_METHODS)
    server.setRequestHandler(method as string, { params: ANY_PARAMS }, async (params) => {
      try {
        return await core.offers.answer({ method, params: params as JsonObject }, linkNow(), era)
      } catch (thrown) {
        if (thrown instanceof RpcRefusal) {
          const { code, message, data } = thrown.error
          throw new ProtocolError(code, message, data)
        }
        const context = { requestId: linkNow().requestId, baseUrl: core.parts.addresses.baseUrl }
        const spell = (text: string) => core.catalogue.spell(text, core.spellingOf(linkNow()))
        const problem = spellProblem(toProblem(toGatewayError(thrown), context), spell)
        throw new ProtocolError(
          problem.status < 500 ? RPC.invalidRequest : RPC.internal,
          problem.title,
          problem,
        )
      }
    })
}

const ANY_PARAMS = z.looseObject({})

const CACHE = { ttlMs: LIST_TTL_MS, cacheScope: 'private' } as const

function webHeaders(headers: NodeJS.Dict<string | string[]>): Headers {
  const web = new Headers()
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || name.startsWith(':')) continue
    for (const item of Array.isArray(value) ? value : [value]) web.append(name, item)
  }
  return web
}

const isCall = (message: unknown): message is { readonly id: RpcId } =>
  isObject(message) && message['method'] === 'tools/call' && isRpcId(message['id'])

async function pipe(
  { status, headers: own }: Response,
  {
    first,
    body,
  }: { first: IteratorResult<Uint8Array> | undefined; body: AsyncIterator<Uint8Array> | undefined },
  res: ServerResponse,
  headers: ReplyHeaders,
): Promise<void> {
  if (res.headersSent || res.destroyed) return
  res.writeHead(status, { ...Object.fromEntries(own), ...headers })
  for (let next = first ?? (await body?.next()); next && !next.done; next = await body?.next()) {
    if (res.destroyed) break
    await writeChunk(res, next.value)
  }
  if (res.destroyed) await body?.return?.()
  res.end()
}
