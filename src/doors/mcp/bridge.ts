// Carries JSON-RPC lines of a stdio client to a gateway's /mcp and what it answers back, messages untouched.
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { isObject } from '../../lib/json.ts'
import { errorText, isRpcId, type JsonObject, META, RPC, type RpcId } from './wire.ts'

export interface Bridge {
  /** Resolves when the input ended and everything asked for is answered. */
  run(stdin: Readable): Promise<void>
}

/** Carries lines of stdio to a gateway over HTTP, with one token for all of them. */
export function createBridge(to: {
  readonly url: URL
  readonly token: string | undefined
  readonly stdout: Writable
}): Bridge {
  const inFlight = new Map<RpcId, AbortController>()
  // The revisions of 2025 want back, with every request, what `initialize` settled.
  const session: { id?: string; version?: string } = {}
  const write = (text: string) => void to.stdout.write(`${text}\n`)

  async function forward(message: JsonObject): Promise<void> {
    const { id, method } = message
    if (method === 'notifications/cancelled' && isObject(message['params'])) {
      const cancelled = message['params']['requestId']
      // Closing the response is how a call is cancelled over HTTP; its answer is not wanted any more.
      if (isRpcId(cancelled)) inFlight.get(cancelled)?.abort()
      if (claimedVersion(message) !== undefined || session.version === undefined) return
    }
    const controller = new AbortController()
    const isRequest = typeof method === 'string' && isRpcId(id)
    if (isRequest) inFlight.set(id, controller)
    try {
      const response = await fetch(to.url, {
        method: 'POST',
        headers: headersFor(message),
        body: JSON.stringify(message),
        signal: controller.signal,
        redirect: 'error',
      })
      if (method === 'initialize' && response.ok) {
        const sessionId = response.headers.get('mcp-session-id')
        if (sessionId !== null) session.id = sessionId
      }
      await relay(response, message)
    } catch {
      if (controller.signal.aborted || !isRequest) return
      const text = `The gateway at ${to.url.origin} does not answer. Start it with \`agent-gateway serve\`, or set GATEWAY_BASE_URL.`
      write(errorText(id, { code: RPC.internal, message: text }))
    } finally {
      if (isRequest) inFlight.delete(id)
    }
  }

  function headersFor(message: JsonObject): Record<string, string> {
    const { method } = message
    const headers: Record<string, string> = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    }
    if (to.token !== undefined) headers['authorization'] = `Bearer ${to.token}`
    const claimed = claimedVersion(message)
    if (claimed !== undefined && typeof method === 'string') {
      headers['mcp-protocol-version'] = claimed
      headers['mcp-method'] = method
      const name = nameOf(message)
      if (name !== undefined) headers['mcp-name'] = headerValue(name)
    } else if (method !== 'initialize') {
      if (session.version !== undefined) headers['mcp-protocol-version'] = session.version
      if (session.id !== undefined) headers['mcp-session-id'] = session.id
    }
    return headers
  }

  async function relay(response: Response, asked: JsonObject): Promise<void> {
    const type = response.headers.get('content-type') ?? ''
    if (type.startsWith('text/event-stream') && response.body) {
      for await (const data of events(response.body)) deliver(data, asked)
      return
    }
    const text = await response.text()
    if (text !== '') deliver(text, asked)
  }

  function deliver(text: string, asked: JsonObject): void {
    const parsed: unknown = JSON.parse(text)
    if (!isObject(parsed)) return
    if (asked['method'] === 'initialize' && isObject(parsed['result'])) {
      const { protocolVersion } = parsed['result']
      if (typeof protocolVersion === 'string') session.version = protocolVersion
    }
    // A refusal that could not name the request is still the answer to it; to a notification there is none.
    if ('error' in parsed && parsed['id'] === null) {
      if (!isRpcId(asked['id'])) return
      parsed['id'] = asked['id']
    }
    write(JSON.stringify(asResult(parsed, asked)))
  }

  return {
    async run(stdin) {
      const pending = new Set<Promise<void>>()
      // Messages after `initialize` depend on its answer; all others go out at once.
      let opening: Promise<void> = Promise.resolve()
      for await (const line of createInterface({ input: stdin, crlfDelay: Infinity })) {
        if (line.trim() === '') continue
        let message: unknown
        try {
          message = JSON.parse(line)
        } catch {
          write(errorText(null, { code: RPC.parseError, message: 'Send one JSON-RPC message a line.' }))
          continue
        }
        if (!isObject(message)) {
          write(errorText(null, { code: RPC.invalidRequest, message: 'Send one JSON-RPC message a line.' }))
          continue
        }
        const toSend = message
        const work = opening.then(() => forward(toSend))
        if (message['method'] === 'initialize') opening = work
        pending.add(work)
        void work.finally(() => pending.delete(work))
      }
      await Promise.all(pending)
    },
  }
}

/**
 * A call that was refused for want of a sign-in is an error over HTTP, for the client. Nobody signs in over stdio: there it is the model
 * that reads what to do, as in any other result.
 */
function asResult(answer: JsonObject, asked: JsonObject): JsonObject {
  const { error } = answer
  const problem = isObject(error) && asked['method'] === 'tools/call' ? error['data'] : undefined
  if (!isObject(problem) || !SIGN_IN.has(problem['status'])) return answer
  const content = [{ type: 'text', text: JSON.stringify(problem) }]
  const result = { content, structuredContent: problem, isError: true }
  return {
    jsonrpc: '2.0',
    id: answer['id'],
    result: claimedVersion(asked) === undefined ? result : { ...result, resultType: 'complete' },
  }
}
const SIGN_IN: ReadonlySet<unknown> = new Set([401, 403])

function claimedVersion({ params }: JsonObject): string | undefined {
  const meta = isObject(params) ? params['_meta'] : undefined
  const version = isObject(meta) ? meta[META.version] : undefined
  return typeof version === 'string' ? version : undefined
}

function nameOf({ method, params }: JsonObject): string | undefined {
  if (!isObject(params)) return undefined
  const value = method === 'resources/read' ? params['uri'] : params['name']
  const isNamed = method === 'tools/call' || method === 'prompts/get' || method === 'resources/read'
  return isNamed && typeof value === 'string' ? value : undefined
}

/** Header values are visible ASCII; anything else, and what looks like the escape itself, is sent as Base64. */
const headerValue = (text: string) =>
  /^[!-~](?:[ -~]*[!-~])?$/.test(text) && !text.startsWith('=?')
    ? text
    : `=?base64?${Buffer.from(text).toString('base64')}?=`

/** The data of each server-sent event; comments and other fields are of no use here. */
async function* events(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of body) {
    rest += decoder.decode(chunk, { stream: true })
    const blocks = rest.split(/\r?\n\r?\n/)
    rest = blocks.pop() ?? ''
    for (const block of blocks) {
      const data = block
        .split(/\r?\n/)
        .filter((line) => line.startsWith('data:'))
        .map((line) => line.slice(5).replace(/^ /, ''))
      if (data.length > 0 && data.join('') !== '') yield data.join('\n')
    }
  }
}
