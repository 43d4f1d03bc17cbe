// MCP shows itself by a JSON-RPC message with a method of MCP, or with its metadata or header fields.
import { isObject, member, pickText } from '../decode/value.ts'
import type { Conflict, Evidence, Found, JsonObject, Message } from '../ports.ts'
import { conflict, type Sighting } from '../protocol.ts'
import type { Reading } from '../reading.ts'
import { type Envelope, firstOfMetas } from '../wire/envelopes.ts'
import { readField } from '../wire/http.ts'

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
  'tasks/get',
  'tasks/result',
  'tasks/list',
  'tasks/cancel',
])
const isMcpMethod = (method: string): boolean => METHODS.has(method) || method.startsWith('notifications/')

/** Prefix of the members of `_meta` that MCP keeps for itself. */
export const META = 'io.modelcontextprotocol/'
const VERSION = /^(?:\d{4}-\d\d-\d\d|DRAFT-[\w-]{1,24}|draft)$/

/** Members of results, each with what nobody else puts there. */
const isMcpResult = (result: Found<JsonObject> | null): boolean => {
  const of = (name: string) => member(result?.value, name)
  const list = of('content')
  return (
    (Array.isArray(list) && typeof member(list[0], 'type') === 'string') ||
    isObject(of('structuredContent')) ||
    (typeof of('protocolVersion') === 'string' && isObject(of('capabilities'))) ||
    typeof of('resultType') === 'string' ||
    LISTS.some((name) => Array.isArray(of(name)))
  )
}

const LISTS = ['tools', 'resources', 'resourceTemplates', 'prompts', 'contents', 'roots', 'supportedVersions']

/** An endpoint that is called so answers in MCP. */
const isMcpPath = ({ target }: Message): boolean => /\/mcp\/?$/.test(target.url?.pathname ?? '')

/** The first envelope that is MCP by its method, its metadata or its result, by header fields around it or by where it is sent. */
function findMcpEnvelope({ message, envelopes }: Reading): Envelope | undefined {
  const hasHeader =
    message.header('mcp-protocol-version') !== undefined ||
    message.header('mcp-session-id') !== undefined ||
    message.header('mcp-method') !== undefined
  return envelopes.find(
    (envelope) =>
      envelope.isJsonRpc &&
      ((envelope.method !== null &&
        isMcpMethod(envelope.method.value) &&
        // A2A has tasks too.
        (!envelope.isA2a || isMcpPath(message))) ||
        envelope.metas.some(({ value }) => Object.keys(value).some((key) => key.startsWith(META))) ||
        (hasHeader && !envelope.isA2a) ||
        (!envelope.isA2a && (isMcpResult(envelope.result) || isMcpPath(message)))),
  )
}

/** Detection hands these on to reading. */
export interface McpSights {
  readonly envelope: Envelope
  readonly version: {
    readonly header: Found<string> | null
    readonly meta: Found<string> | null
    readonly any: Found<string> | null
  }
}

/** A JSON-RPC message is MCP by its method, its metadata or the headers around it. */
export function detectMcp(reading: Reading): Sighting<McpSights> | undefined {
  const { message } = reading
  const envelope = findMcpEnvelope(reading)
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
    sights: { envelope, version },
  }
}

function stageOf({ method, error }: Envelope): string {
  if (method === null) return error === null ? 'result' : 'error'
  return isMcpMethod(method.value) ? method.value.slice(0, 64) : 'request'
}

function readVersions(envelope: Envelope, message: Message): McpSights['version'] {
  const header = readField(message, 'mcp-protocol-version')
  const meta = firstOfMetas(envelope, (found) => pickText(found, `${META}protocolVersion`))
  const inBody = pickText(envelope.params, 'protocolVersion') ?? pickText(envelope.result, 'protocolVersion')
  return { header, meta, any: header ?? meta ?? inBody }
}
