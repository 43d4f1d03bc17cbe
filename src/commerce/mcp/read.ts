// MCP: a JSON-RPC message with a method of MCP, in its stateless form (2026-07-28) and with sessions before that.
import { isObject, pick, pickObject, pickText, rememberLast } from '../decode/value.ts'
import type { Conflict, Found, Json, JsonObject, Layer, Message, TransactionFacts } from '../ports.ts'
import { readField, readHttp } from '../protocols/http.ts'
import {
  conflict,
  envelopeOf,
  readEnvelopes,
  type Envelope,
  type Evidence,
  type Spotted,
} from '../protocols/spot.ts'
import type { McpFacts } from '../protocols/types.ts'

const METHODS = new Set([
  'initialize',
  'ping',
  'server/discover',
  'tools/list',
  'tools/call',
  'resources/list',
  'resources/read',
  'resources/templates/list',
  'resources/subscribe',
  'resources/unsubscribe',
  'subscriptions/listen',
  'prompts/list',
  'prompts/get',
  'completion/complete',
  'logging/setLevel',
  'sampling/createMessage',
  'elicitation/create',
  'roots/list',
])
const isMcpMethod = (method: string): boolean => METHODS.has(method) || method.startsWith('notifications/')

const META = 'io.modelcontextprotocol/'
const VERSION = /^(?:\d{4}-\d\d-\d\d|DRAFT-[\w-]{1,24}|draft)$/

/** The first envelope that is MCP by its method, by its metadata, or by header fields around it. */
function findMcpEnvelope(message: Message): Envelope | undefined {
  const hasHeader =
    message.header('mcp-protocol-version') !== undefined ||
    message.header('mcp-session-id') !== undefined ||
    message.header('mcp-method') !== undefined
  return readEnvelopes(message).find(
    (envelope) =>
      envelope.isJsonRpc &&
      ((envelope.method !== null && isMcpMethod(envelope.method.value)) ||
        envelope.metas.some(({ value }) => Object.keys(value).some((key) => key.startsWith(META))) ||
        (hasHeader && !envelope.isA2a)),
  )
}

export function spotMcp(message: Message): Spotted | undefined {
  const envelope = findMcpEnvelope(message)
  if (envelope === undefined) return undefined
  const version = readVersions(envelope, message)
  const evidence: Evidence[] = []
  const conflicts: Conflict[] = []
  const isKnown = envelope.method !== null && isMcpMethod(envelope.method.value)
  if (envelope.method !== null)
    evidence.push({
      mark: isKnown ? `JSON-RPC 2.0 method ${stageOf(envelope)}` : 'JSON-RPC 2.0 method',
      at: envelope.method.at,
    })
  else evidence.push({ mark: 'JSON-RPC 2.0 answer', at: envelope.root.at })
  for (const name of ['mcp-protocol-version', 'mcp-method', 'mcp-name', 'mcp-session-id']) {
    const field = message.header(name)
    if (field !== undefined) evidence.push({ mark: `header ${name}`, at: field.at })
  }
  if (version.meta !== null) evidence.push({ mark: '_meta protocolVersion', at: version.meta.at })
  if (version.header !== null && version.meta !== null && version.header.value !== version.meta.value)
    conflicts.push(
      conflict(
        'VERSION_CONFLICT',
        version.header.at,
        'MCP-Protocol-Version differs from the version in _meta.',
      ),
    )
  const shown = version.any !== null && VERSION.test(version.any.value) ? version.any.value : null
  return {
    layer: {
      name: 'mcp',
      version: shown,
      transport: 'streamable-http',
      stage: stageOf(envelope),
      confidence: isKnown || version.any !== null ? 'high' : 'medium',
      evidence,
      document: envelope.root,
      isUndecodable: false,
    },
    conflicts,
  }
}

function stageOf({ method, error }: Envelope): string {
  if (method === null) return error === null ? 'result' : 'error'
  return isMcpMethod(method.value) ? method.value.slice(0, 64) : 'request'
}

function readVersions(envelope: Envelope, message: Message) {
  const header = readField(message, 'mcp-protocol-version')
  const meta = first(envelope.metas, (found) => pickText(found, `${META}protocolVersion`))
  const inBody = pickText(envelope.params, 'protocolVersion') ?? pickText(envelope.result, 'protocolVersion')
  return { header, meta, any: header ?? meta ?? inBody }
}

function first<T>(metas: Envelope['metas'], read: (found: Found<JsonObject>) => T | null): T | null {
  for (const found of metas) {
    const value = read(found)
    if (value !== null) return value
  }
  return null
}

/** MCP has no field for it; what is seen is `x402/idempotency-key` and others that end in it. */
export function readMetaKey(envelope: Envelope): Found<string> | null {
  return first(envelope.metas, (found) => {
    const known = pickText(found, 'x402/idempotency-key')
    if (known !== null) return known
    const name = Object.keys(found.value)
      .filter((key) => /(?:^|[/._-])idempotency[-_]?key$/i.test(key))
      .sort()[0]
    return name === undefined ? null : pickText(found, name)
  })
}

export const readMcp: (layer: Layer, message: Message) => McpFacts = rememberLast(read)

function read(layer: Layer, message: Message): McpFacts {
  // Any layer may ask: a payment over MCP has an envelope too.
  const envelope = findMcpEnvelope(message) ?? envelopeOf(message, layer.document?.at)
  const versions = envelope === undefined ? undefined : readVersions(envelope, message)
  const given = pick(envelope?.params ?? null, 'arguments')
  const metas = envelope?.metas ?? []
  return {
    id: toText(envelope?.id ?? null),
    method: envelope?.method ?? null,
    name: pickText(envelope?.params ?? null, 'name') ?? pickText(envelope?.params ?? null, 'uri'),
    arguments: pickObject(given),
    argumentsAreMalformed: given !== null && !isObject(given.value),
    version: versions?.any ?? null,
    headerVersion: versions?.header ?? null,
    metaVersion: versions?.meta ?? null,
    headerMethod: readField(message, 'mcp-method'),
    headerName: readField(message, 'mcp-name'),
    sessionId: readField(message, 'mcp-session-id'),
    clientInfo:
      first(metas, (found) => pickObject(found, `${META}clientInfo`)) ??
      pickObject(envelope?.params ?? null, 'clientInfo'),
    traceparent: first(metas, (found) => pickText(found, 'traceparent')) ?? readHttp(message).traceparent,
    idempotencyKey: (envelope && readMetaKey(envelope)) ?? readHttp(message).idempotencyKey,
    requestState: pickText(envelope?.params ?? null, 'requestState'),
    hasInputResponses: pick(envelope?.params ?? null, 'inputResponses') !== null,
  }
}

function toText(found: Found<Json> | null): Found<string> | null {
  if (found === null || (typeof found.value !== 'string' && typeof found.value !== 'number')) return null
  return { value: String(found.value), at: found.at }
}

export function factsOfMcp(facts: McpFacts): TransactionFacts {
  return { ...NO_FACTS, idempotencyKey: facts.idempotencyKey }
}

export const NO_FACTS: TransactionFacts = {
  amount: null,
  amountIsInteger: false,
  currency: null,
  asset: null,
  network: null,
  scheme: null,
  payee: null,
  payer: null,
  resource: null,
  notBefore: null,
  expiresAt: null,
  nonce: null,
  idempotencyKey: null,
  credentials: [],
}
