// MCP: a JSON-RPC message, in its stateless form (2026-07-28) and with sessions before that.
import { isObject, pick, pickObject, pickText } from '../decode/value.ts'
import type { Found, Json } from '../ports.ts'
import type { Sighting } from '../protocol.ts'
import type { Reading } from '../reading.ts'
import { firstOfMetas, readMetaKey } from '../wire/envelopes.ts'
import { readField } from '../wire/http.ts'
import { type McpSights, META } from './detect.ts'
import type { McpFacts } from './facts.ts'

/** Facts of the envelope that detection found. */
export function readMcp({ sights: { envelope, version } }: Sighting<McpSights>, reading: Reading): McpFacts {
  const { message, http } = reading
  const { params } = envelope
  const given = pick(params, 'arguments')
  return {
    id: toText(envelope.id),
    method: envelope.method,
    name: pickText(params, 'name') ?? pickText(params, 'uri'),
    arguments: pickObject(given),
    argumentsAreMalformed: given !== null && !isObject(given.value),
    version: version.any,
    headerVersion: version.header,
    metaVersion: version.meta,
    headerMethod: readField(message, 'mcp-method'),
    headerName: readField(message, 'mcp-name'),
    sessionId: readField(message, 'mcp-session-id'),
    clientInfo:
      firstOfMetas(envelope, (found) => pickObject(found, `${META}clientInfo`)) ??
      pickObject(params, 'clientInfo'),
    traceparent: firstOfMetas(envelope, (found) => pickText(found, 'traceparent')) ?? http.traceparent,
    idempotencyKey: readMetaKey(envelope) ?? http.idempotencyKey,
    requestState: pickText(params, 'requestState'),
    hasInputResponses: pick(params, 'inputResponses') !== null,
  }
}

function toText(found: Found<Json> | null): Found<string> | null {
  if (found === null || (typeof found.value !== 'string' && typeof found.value !== 'number')) return null
  return { value: String(found.value), at: found.at }
}
