// JSON-RPC over HTTP as the MCP door speaks it: message shapes, error codes, body reading and reply writing.
import { isUtf8 } from 'node:buffer'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { GatewayError } from '../../core/errors.ts'

export type RpcId = string | number
export type JsonObject = Record<string, unknown>

export interface RpcRequest {
  readonly id: RpcId
  readonly method: string
  readonly params: JsonObject
}

export interface RpcError {
  readonly code: number
  readonly message: string
  readonly data?: unknown
}

export const MODERN_VERSION = '2026-07-28'
/** Newest first: what an unknown request for a version is answered with. */
export const LEGACY_VERSIONS: readonly string[] = [
  '2025-11-25',
  '2025-06-18',
  '2025-03-26',
  '2024-11-05',
  '2024-10-07',
]

export const META = {
  version: 'io.modelcontextprotocol/protocolVersion',
  capabilities: 'io.modelcontextprotocol/clientCapabilities',
  clientInfo: 'io.modelcontextprotocol/clientInfo',
  serverInfo: 'io.modelcontextprotocol/serverInfo',
  logLevel: 'io.modelcontextprotocol/logLevel',
} as const

export const RPC = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  missingCapability: -32021,
  unsupportedVersion: -32022,
} as const

export const isRpcId = (value: unknown): value is RpcId =>
  typeof value === 'string' || (typeof value === 'number' && Number.isSafeInteger(value))

export const resultText = (id: RpcId, resultJson: string) =>
  `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${resultJson}}`

export const errorText = (id: RpcId | null, error: RpcError) => JSON.stringify({ jsonrpc: '2.0', id, error })

export const notificationText = (method: string, params: JsonObject) =>
  JSON.stringify({ jsonrpc: '2.0', method, params })

/**
 * The body, or a refusal that leaves the connection able to carry the answer.
 * @throws {GatewayError} body_too_large, content_type_unsupported, request_invalid
 */
export function readBytes(req: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const encoding = req.headers['content-encoding']
  if (encoding !== undefined && encoding !== 'identity')
    return Promise.reject(
      new GatewayError('content_type_unsupported', 'Send the body without Content-Encoding.'),
    )
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    const refuse = () => {
      // What still arrives is thrown away, so that the refusal is read before the connection closes.
      req.removeAllListeners('data').resume()
      reject(
        new GatewayError('body_too_large', `Send at most ${maxBytes} bytes here.`, {
          extras: { max_bytes: maxBytes },
        }),
      )
    }
    if (Number(req.headers['content-length'] ?? 0) > maxBytes) {
      refuse()
      return
    }
    req.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > maxBytes) refuse()
      else chunks.push(chunk)
    })
    req.once('end', () => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size)))
    req.once('close', () => {
      if (!req.complete) reject(new GatewayError('request_invalid', 'The request body ended early.'))
    })
    // 'close' follows and says what there is to say.
    req.once('error', () => {})
  })
}

/** @throws {GatewayError} json_invalid */
export function decodeText(body: Buffer): string {
  if (!isUtf8(body)) throw new GatewayError('json_invalid', 'Send the body in UTF-8.')
  return body.toString('utf8')
}

export type Headers = Readonly<Record<string, string>>

/** One JSON document. A string goes out in one write together with the head. */
export function sendText(
  res: ServerResponse,
  status: number,
  text: string,
  headers: Headers | undefined,
): void {
  if (res.headersSent || res.destroyed) return
  res.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    ...headers,
  })
  res.end(text)
}

export function sendEmpty(res: ServerResponse, status: number, headers: Headers | undefined): void {
  if (res.headersSent || res.destroyed) return
  res.writeHead(status, { 'content-length': '0', ...headers })
  res.end()
}
