// The official SDK behind the fast path: what is rare, streaming subscriptions, and every refusal of the 2026 ladder.
// The only module that imports it; loaded on first use, so that it costs no start-up time.
import type { ServerResponse } from 'node:http'
import type { Readable, Writable } from 'node:stream'
import {
  type CallToolResult,
  createMcpHandler,
  parseJSONRPCMessage,
  ProtocolError,
  Server,
} from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { newId } from '../../lib/ids.ts'
import { type Headers as ReplyHeaders, writeChunk } from '../http/reply.ts'
import type { McpCore } from './core.ts'
import { createLineTransport } from './line-transport.ts'
import { resultJson } from './result.ts'
import { callTool, type Link } from './tool-call.ts'
import type { JsonObject } from './wire.ts'

export interface SdkFallback {
  /** Answers a message the fast path does not know, from its parsed body. */
  serve(
    message: unknown,
    link: Link,
    from: { readonly headers: NodeJS.Dict<string | string[]>; readonly url: string },
    res: ServerResponse,
    headers: ReplyHeaders,
  ): Promise<void>
  close(): Promise<void>
}

export function createSdkFallback(core: McpCore): SdkFallback {
  const links = new WeakMap<Request, Link>()
  const handler = createMcpHandler(
    ({ requestInfo }) => {
      const link = linkOf(requestInfo && links.get(requestInfo))
      return createServer(core, () => link)
    },
    { onerror: (error) => core.parts.log.debug({ err: error }, 'mcp request refused') },
  )
  return {
    async serve(message, link, from, res, headers) {
      const gone = new AbortController()
      res.once('close', () => gone.abort())
      const request = new Request(from.url, {
        method: 'POST',
        headers: webHeaders(from.headers),
        signal: gone.signal,
      })
      links.set(request, link)
      const response = await handler.fetch(request, { parsedBody: message })
      await pipe(response, res, headers)
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
    const transport = createLineTransport(streams, parseJSONRPCMessage, resolve)
    serveStdio(() => createServer(core, () => ({ ...link, requestId: newId('req') })), { transport })
  })
}

function linkOf(link: Link | undefined): Link {
  if (!link) throw new Error('a server was asked for without a connection')
  return link
}

/** @param linkNow what a call arriving now brings along */
function createServer(core: McpCore, linkNow: () => Link): Server {
  const { catalogue, parts, extension } = core
  const spelling = core.spellingOf(linkNow(), undefined)
  const server = new Server(catalogue.serverInfo as { name: string; version: string }, {
    capabilities: catalogue.capabilities,
    instructions: catalogue.instructions(spelling),
    cacheHints: { 'tools/list': CACHE, 'server/discover': CACHE },
  })
  server.setRequestHandler('tools/list', async () => ({
    tools: catalogue.tools(spelling, await core.audienceOf(linkNow())) as never[],
  }))
  server.setRequestHandler('tools/call', async (request, { mcpReq }) => {
    // The SDK takes what it reads itself out of `_meta`.
    const params = { ...request.params, _meta: { ...mcpReq._meta, ...mcpReq.envelope } } as JsonObject
    const outcome = await callTool(parts, linkNow(), params, {
      signal: () => mcpReq.signal,
      notify: (method, sent) => void mcpReq.notify({ method, params: sent } as never).catch(() => {}),
    })
    if (!outcome.ok) throw new ProtocolError(outcome.error.code, outcome.error.message)
    return JSON.parse(resultJson(outcome.result, mcpReq.envelope && catalogue)) as CallToolResult
  })
  extension?.install(server)
  return server
}

const CACHE = { ttlMs: 300_000, cacheScope: 'private' } as const

function webHeaders(headers: NodeJS.Dict<string | string[]>): Headers {
  const web = new Headers()
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || name.startsWith(':')) continue
    for (const item of Array.isArray(value) ? value : [value]) web.append(name, item)
  }
  return web
}

async function pipe(response: Response, res: ServerResponse, headers: ReplyHeaders): Promise<void> {
  if (res.headersSent || res.destroyed) return
  res.writeHead(response.status, { ...Object.fromEntries(response.headers), ...headers })
  if (response.body === null) {
    res.end()
    return
  }
  for await (const chunk of response.body) {
    if (res.destroyed) break
    await writeChunk(res, chunk)
  }
  res.end()
}
