// Sends one request to somebody's facilitator, and tells what became of it apart by whether a byte of it can have arrived.
import type { Socket } from 'node:net'
import { createSecureContext, getCACertificates } from 'node:tls'
import { buildConnector, Client } from 'undici'
import { parseJson } from '../../lib/json.ts'

export type ExchangeResult =
  /** `body` is undefined where it is not JSON. */
  | { readonly kind: 'answer'; readonly status: number; readonly body: unknown }
  /** Proven: no byte of the request left. */
  | { readonly kind: 'unsent'; readonly reason: 'unreachable' | 'timeout' }
  /** Sent, and no answer that can be read. */
  | {
      readonly kind: 'lost'
      readonly reason: 'timeout' | 'reset' | 'too_large' | 'encoded' | 'malformed'
    }

interface ExchangeRequest {
  readonly url: URL
  readonly method: 'GET' | 'POST'
  readonly body?: string | undefined
  /** The time for all of it: connecting, sending, waiting, reading. */
  readonly deadlineMs: number
}

export type Exchanger = (request: ExchangeRequest) => Promise<ExchangeResult>

const MAX_BODY_BYTES = 64 * 1024
const MAX_HEADER_BYTES = 16 * 1024

class Refusal extends Error {
  readonly reason: Extract<ExchangeResult, { kind: 'lost' }>['reason']
  constructor(reason: Refusal['reason']) {
    super(reason)
    this.reason = reason
  }
}

/**
 * A connection of its own for every request: one kept from before may be closing at the other end, and then nobody
 * could say whether the request arrived. Redirects are not followed. What it makes never rejects.
 * @param ca PEM of authorities trusted besides the default ones
 */
export function createExchanger(ca: readonly string[] | undefined): Exchanger {
  const secureContext = ca && createSecureContext({ ca: [...getCACertificates('default'), ...ca] })
  return (request) => {
    const timeout = request.deadlineMs
    return exchange(
      request,
      buildConnector({ allowH2: false, timeout, ...(secureContext && { secureContext }) }),
    )
  }
}

async function exchange(
  { url, method, body, deadlineMs }: ExchangeRequest,
  connect: buildConnector.connector,
): Promise<ExchangeResult> {
  let socket: Socket | undefined
  const client = new Client(url.origin, {
    connect: (options, done) => {
      // One connection, whose bytes are counted: undici would make another one when the first is closed early.
      if (socket) return done(new Error('the connection is gone'), null)
      connect(options, (...result) => {
        if (result[1]) socket = result[1]
        done(...result)
      })
    },
    maxHeaderSize: MAX_HEADER_BYTES,
    // One deadline covers the whole exchange.
    headersTimeout: 0,
    bodyTimeout: 0,
  })
  const signal = AbortSignal.timeout(deadlineMs)
  try {
    const response = await client.request({
      path: url.pathname + url.search,
      method,
      headers: {
        accept: 'application/json',
        'accept-encoding': 'identity',
        'user-agent': 'agent-gateway',
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      body: body ?? null,
      signal,
    })
    // Destroyed half read, it says so once more, to nobody.
    response.body.on('error', () => {})
    const encoding = response.headers['content-encoding']
    const text = encoding === undefined || encoding === 'identity' ? await readText(response.body) : undefined
    if (text === undefined) response.body.destroy()
    if (text === undefined && response.statusCode < 300) return { kind: 'lost', reason: 'encoded' }
    return { kind: 'answer', status: response.statusCode, body: toJson(text) }
  } catch (thrown) {
    await client.destroy().catch(() => {})
    const isSent = socket !== undefined && socket.bytesWritten > 0
    if (!isSent) return { kind: 'unsent', reason: signal.aborted ? 'timeout' : 'unreachable' }
    if (thrown instanceof Refusal) return { kind: 'lost', reason: thrown.reason }
    if (signal.aborted) return { kind: 'lost', reason: 'timeout' }
    const isMalformed = thrown instanceof Error && thrown.name === 'HTTPParserError'
    return { kind: 'lost', reason: isMalformed ? 'malformed' : 'reset' }
  } finally {
    void client.destroy().catch(() => {})
  }
}

async function readText(body: AsyncIterable<Buffer> & NodeJS.ReadableStream): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    if (size > MAX_BODY_BYTES) throw new Refusal('too_large')
    chunks.push(chunk)
  }
  return new TextDecoder('utf-8', { fatal: false }).decode(Buffer.concat(chunks, size))
}

function toJson(text: string | undefined): unknown {
  if (text === undefined) return undefined
  try {
    return parseJson(text)
  } catch {
    return undefined
  }
}
