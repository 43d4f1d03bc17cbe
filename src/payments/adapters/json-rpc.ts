// JSON-RPC 2.0 over HTTP: one POST per batch, kept connections, one deadline, a cap on the answer, no redirects.
import { Pool } from 'undici'
import { ChainError } from '../chain-ports.ts'

export interface RpcCall {
  readonly method: string
  readonly params: readonly unknown[]
}

/** The node's answer to one call. Its words stay inside the gateway. */
export type RpcReply =
  | { readonly ok: true; readonly result: unknown }
  | { readonly ok: false; readonly code: number; readonly message: string; readonly data: string | undefined }

export interface JsonRpc {
  /**
   * Answers in the order of the calls.
   * @throws {ChainError} timeout, unreachable, malformed: then nothing is known about any of the calls
   */
  batch(calls: readonly RpcCall[]): Promise<readonly RpcReply[]>
  /** @throws {ChainError} also `refused` when the node answers with an error */
  call(method: string, params: readonly unknown[]): Promise<unknown>
  /** Makes one call whose arrival matters more than its answer; never throws. */
  submit(method: string, params: readonly unknown[]): Promise<Submission>
  close(): Promise<void>
}

export type Submission =
  | { readonly state: 'answered'; readonly reply: RpcReply }
  /** No connection was made: not a byte has left. */
  | { readonly state: 'not_sent' }
  /** It may have arrived. */
  | { readonly state: 'no_reply' }

export interface JsonRpcOptions {
  /** CAIP-2 id, for errors: the URL may hold a key and is never shown. */
  readonly network: string
  readonly url: string
  readonly deadlineMs?: number
  readonly maxBytes?: number
}

const CONNECTIONS = 16
const DEADLINE_MS = 3_000
const MAX_BYTES = 1024 * 1024
/** Codes of undici and node that say that no connection came to be. */
const NOT_CONNECTED = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
])
const isNotConnected = (thrown: unknown) => NOT_CONNECTED.has((thrown as NodeJS.ErrnoException).code ?? '')

/** @param options.maxBytes of one answer, which may be a batch */
export function createJsonRpc(options: JsonRpcOptions): JsonRpc {
  const { network, deadlineMs = DEADLINE_MS, maxBytes = MAX_BYTES } = options
  const url = new URL(options.url)
  const pool = new Pool(url.origin, { connections: CONNECTIONS, connect: { timeout: deadlineMs } })
  const path = `${url.pathname}${url.search}`
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json',
    ...(url.username === '' ? {} : { authorization: basic(url) }),
  }

  async function post(body: string): Promise<string> {
    const deadline = new AbortController()
    const timer = setTimeout(() => deadline.abort(), deadlineMs)
    try {
      const answer = await pool.request({ method: 'POST', path, headers, body, signal: deadline.signal })
      // Some nodes answer errors of JSON-RPC with 4xx: the body decides. A redirect has no body worth reading.
      if (answer.statusCode >= 300 && answer.statusCode < 400) {
        deadline.abort()
        throw new ChainError('malformed', network)
      }
      const chunks: Buffer[] = []
      let bytes = 0
      for await (const chunk of answer.body as AsyncIterable<Buffer>) {
        bytes += chunk.length
        if (bytes > maxBytes) throw new ChainError('malformed', network)
        chunks.push(chunk)
      }
      const text = Buffer.concat(chunks).toString('utf8')
      if (answer.statusCode >= 500 || answer.statusCode === 429) throw new ChainError('unreachable', network)
      return text
    } catch (thrown) {
      if (thrown instanceof ChainError) throw thrown
      throw new ChainError(deadline.signal.aborted ? 'timeout' : 'unreachable', network, { cause: thrown })
    } finally {
      clearTimeout(timer)
    }
  }

  async function batch(calls: readonly RpcCall[]): Promise<readonly RpcReply[]> {
    if (calls.length === 0) return []
    const requests = calls.map(({ method, params }, id) => ({ jsonrpc: '2.0', id, method, params }))
    // A lone call is not wrapped: nodes without batches still answer it.
    const text = await post(JSON.stringify(requests.length === 1 ? requests[0] : requests))
    const replies = readReplies(text, calls.length)
    if (replies === undefined) throw new ChainError('malformed', network)
    return replies
  }

  return {
    batch,
    async call(method, params) {
      const [reply] = await batch([{ method, params }])
      if (!reply?.ok) throw new ChainError('refused', network)
      return reply.result
    },
    async submit(method, params) {
      try {
        const [reply] = await batch([{ method, params }])
        return reply ? { state: 'answered', reply } : { state: 'no_reply' }
      } catch (thrown) {
        return { state: isNotConnected((thrown as Error).cause) ? 'not_sent' : 'no_reply' }
      }
    },
    close: () => pool.destroy(),
  }
}

const basic = ({ username, password }: URL) =>
  `Basic ${Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64')}`

/** Replies by id, or undefined when one is missing, doubled or not a reply. */
function readReplies(text: string, count: number): RpcReply[] | undefined {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return undefined
  }
  const list: unknown[] = Array.isArray(parsed) ? parsed : [parsed]
  if (list.length !== count) return undefined
  const replies: (RpcReply | undefined)[] = Array.from({ length: count })
  for (const item of list) {
    if (typeof item !== 'object' || item === null) return undefined
    const { id, result, error } = item as { id?: unknown; result?: unknown; error?: unknown }
    if (typeof id !== 'number' || !Number.isInteger(id) || id < 0 || id >= count || replies[id])
      return undefined
    const reply = error === undefined || error === null ? readResult(item, result) : readError(error)
    if (reply === undefined) return undefined
    replies[id] = reply
  }
  return replies as RpcReply[]
}

const readResult = (item: object, result: unknown): RpcReply | undefined =>
  'result' in item ? { ok: true, result } : undefined

function readError(error: unknown): RpcReply | undefined {
  if (typeof error !== 'object' || error === null) return undefined
  const { code, message, data } = error as { code?: unknown; message?: unknown; data?: unknown }
  if (typeof code !== 'number' || typeof message !== 'string') return undefined
  // geth puts the revert data here; some providers wrap it in an object.
  const inner = typeof data === 'object' && data !== null ? (data as { data?: unknown }).data : data
  return { ok: false, code, message, data: typeof inner === 'string' ? inner : undefined }
}
