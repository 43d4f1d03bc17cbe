// JSON-RPC as the MCP door speaks it: message shapes, names in `_meta` and error codes.

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

/** Whether a value may be the id of a request: text or a whole number (JSON-RPC 2.0; MCP forbids null). */
export const isRpcId = (value: unknown): value is RpcId =>
  typeof value === 'string' || (typeof value === 'number' && Number.isSafeInteger(value))

/** @param resultJson JSON as text already */
export const resultText = (id: RpcId, resultJson: string) =>
  `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${resultJson}}`

/** @param id null where the request could not be read (JSON-RPC 2.0, section 5) */
export const errorText = (id: RpcId | null, error: RpcError) => JSON.stringify({ jsonrpc: '2.0', id, error })

/** A message that is answered by nothing. */
export const notificationText = (method: string, params: JsonObject) =>
  JSON.stringify({ jsonrpc: '2.0', method, params })
