// ACP shows itself by paths, tools, the signature of a webhook, members of a body beside a version.
import { decodeSegment } from '../checkout.ts'
import { member, pickObject, pickText, pointer } from '../decode/value.ts'
import { jsonBody } from '../message.ts'
import type { Evidence, Found, JsonObject, Message } from '../ports.ts'
import type { Sighting } from '../protocol.ts'
import type { Reading } from '../reading.ts'
import { readField } from '../wire/http.ts'
import type { AcpFacts } from './facts.ts'

type Operation = NonNullable<AcpFacts['operation']>

const API_VERSION = /^\d{4}-\d\d-\d\d$/
const TOOL = /^(create|get|update|complete|cancel)_checkout_session$/

interface PathSight {
  readonly operation: Operation | null
  readonly mark: string
  readonly sessionId: string | null
}

function readPath(message: Message): PathSight | undefined {
  const segments = message.target.url?.pathname.split('/').filter((part) => part !== '') ?? []
  const [last, before] = [segments.at(-1), segments.at(-2)]
  if (last === 'delegate_payment' && before === 'agentic_commerce')
    return { operation: 'delegate', mark: 'path /agentic_commerce/delegate_payment', sessionId: null }
  if (before === 'webhooks' && segments.at(-3) === 'agentic_checkout')
    return { operation: 'webhook', mark: 'path /agentic_checkout/webhooks', sessionId: null }
  const index = segments.indexOf('checkout_sessions')
  if (index < 0) return undefined
  const [id, action] = segments.slice(index + 1)
  return {
    operation: readOperation(message.method, id, action),
    mark: 'path /checkout_sessions',
    sessionId: id === undefined ? null : decodeSegment(id),
  }
}

function readOperation(method: string, id: string | undefined, action: string | undefined): Operation | null {
  if (action === 'complete' || action === 'cancel') return action
  if (method === 'GET' || method === 'HEAD') return 'get'
  return method === 'POST' ? (id === undefined ? 'create' : 'update') : null
}

/** The path and the tool of a message, as far as they are of ACP. */
export interface AcpSights {
  readonly path: PathSight | undefined
  readonly tool: { readonly operation: Operation; readonly params: Found<JsonObject> } | undefined
  readonly args: Found<JsonObject> | null
  /** The subject of the operation: REST body, or `payload` of the arguments. */
  readonly document: Found<JsonObject> | null
}

function look({ message, envelopes }: Reading): AcpSights {
  for (const { params } of envelopes) {
    const [, operation] = TOOL.exec(pickText(params, 'name')?.value ?? '') ?? []
    if (params === null || operation === undefined) continue
    const args = pickObject(params, 'arguments')
    const document = pickObject(args, 'payload') ?? args
    return { path: readPath(message), tool: { operation: operation as Operation, params }, args, document }
  }
  const body = pickObject(jsonBody(message))
  const isRest = body !== null && member(body.value, 'jsonrpc') === undefined
  return {
    path: readPath(message),
    tool: undefined,
    args: null,
    document: isRest ? body : null,
  }
}

/** Path, tool or webhook signature tell it; members of the body count beside a version. */
export function detectAcp(reading: Reading): Sighting<AcpSights> | undefined {
  const { message } = reading
  const sights = look(reading)
  const { path, tool, document } = sights
  const version = readVersion(message, sights)
  const merchantSignature = message.header('merchant-signature')
  const evidence: Evidence[] = []
  if (path !== undefined) evidence.push({ mark: path.mark, at: '/target' })
  if (tool !== undefined)
    evidence.push({ mark: `tool ${tool.operation}_checkout_session`, at: pointer(tool.params.at, 'name') })
  if (merchantSignature !== undefined)
    evidence.push({ mark: 'header Merchant-Signature', at: merchantSignature.at })
  const body = tool === undefined ? document : null
  const members = ['allowance', 'payment_data'].filter((name) => pickObject(body, name) !== null)
  if (version !== null && body !== null)
    for (const name of members) evidence.push({ mark: `body member ${name}`, at: pointer(body.at, name) })
  if (evidence.length === 0) return undefined
  if (version !== null) evidence.push({ mark: 'API version', at: version.at })
  const operation = operationOf(sights, message)
  return {
    layer: {
      name: 'acp',
      version: version !== null && API_VERSION.test(version.value) ? version.value : null,
      transport: tool !== undefined ? 'mcp' : operation === 'webhook' ? 'webhook' : 'rest',
      stage: stageOf(operation),
      confidence: version !== null || members.length > 0 || tool !== undefined ? 'high' : 'medium',
      evidence,
      document: document ?? undefined,
      isUndecodable: message.body.kind === 'unreadable',
    },
    conflicts: [],
    sights,
  }
}

/** The tool says it, or the path; without either, what the body is made of. */
export function operationOf({ path, tool, document }: AcpSights, message: Message): Operation | null {
  if (tool !== undefined) return tool.operation
  if (path !== undefined) return path.operation
  if (message.header('merchant-signature') !== undefined) return 'webhook'
  return pickObject(document, 'allowance') === null ? 'complete' : 'delegate'
}

const stageOf = (operation: Operation | null): string =>
  operation === null
    ? 'checkout'
    : operation === 'delegate' || operation === 'webhook'
      ? operation
      : `checkout.${operation}`

/** Release of the API, wherever the message says it. */
export function readVersion(
  message: Message,
  { args, document }: Pick<AcpSights, 'args' | 'document'>,
): Found<string> | null {
  return (
    pickText(args, 'meta', 'api_version') ??
    readField(message, 'api-version') ??
    pickText(document, 'protocol', 'version')
  )
}
