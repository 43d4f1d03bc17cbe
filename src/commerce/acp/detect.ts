// ACP shows itself by paths, tools, the signature of a webhook, members of a body beside a version, and the shape of its answers.
import { member, pickObject, pickText, pointer } from '../decode/value.ts'
import { jsonBody } from '../message.ts'
import type { Evidence, Found, JsonObject, Message } from '../ports.ts'
import type { Sighting } from '../protocol.ts'
import type { Reading } from '../reading.ts'
import type { Envelope } from '../wire/envelopes.ts'
import { readField } from '../wire/http.ts'
import { type Operation, type PathSight, readPath, type Resource } from './path.ts'
import { isAnswerAtPath, isCart, isErrorAtPath, isFeed, readShape, type Shape } from './shape.ts'

const API_VERSION = /^\d{4}-\d\d-\d\d$/
const TOOL = /^(create|get|update|complete|cancel)_checkout_session$/

/** What of a message is of ACP. */
export interface AcpSights {
  readonly path: PathSight | undefined
  readonly tool: { readonly operation: Operation; readonly params: Found<JsonObject> } | undefined
  readonly args: Found<JsonObject> | null
  /** The subject of the operation: REST body, `payload` of the arguments, or what an envelope carries. */
  readonly document: Found<JsonObject> | null
  /** What the document is where it answers, or tells of an event. */
  readonly shape: Shape | undefined
  /** MCP and A2A carry it. */
  readonly envelope: Envelope | undefined
}

function look({ message, envelopes }: Reading): AcpSights {
  const path = readPath(message)
  const none = { path, tool: undefined, args: null, document: null, shape: undefined, envelope: undefined }
  for (const envelope of envelopes) {
    for (const params of [envelope.params, ...envelope.dataParts]) {
      const tool = readTool(params)
      if (tool === undefined) continue
      const args = pickObject(params, 'arguments')
      const document = pickObject(args, 'payload') ?? args
      return { ...none, tool, args, document, envelope }
    }
    for (const document of envelope.documents) {
      const shape = readShape(document.value)
      if (shape !== undefined || isCompletion(document)) return { ...none, document, shape, envelope }
    }
  }
  const body = pickObject(jsonBody(message))
  if (body === null || member(body.value, 'jsonrpc') !== undefined) return none
  const shape = readShape(body.value) ?? (path === undefined ? undefined : readShapeAt(path, body.value))
  return { ...none, document: body, shape }
}

function readShapeAt({ isItsOwn }: PathSight, value: JsonObject): Shape | undefined {
  if (isItsOwn && isErrorAtPath(value)) return 'error'
  return isAnswerAtPath(value) ? 'answer' : undefined
}

function readTool(params: Found<JsonObject> | null): AcpSights['tool'] {
  if (params === null) return undefined
  const [, operation] = TOOL.exec(pickText(params, 'name')?.value ?? '') ?? []
  return operation === undefined ? undefined : { operation: operation as Operation, params }
}

/** What completes a checkout, in a data part of A2A. */
const isCompletion = (document: Found<JsonObject>): boolean =>
  pickText(document, 'payment_data', 'handler_id') !== null

/** Path, tool, webhook signature or the shape of an answer tell it; other members of the body count beside a version. */
export function detectAcp(reading: Reading): Sighting<AcpSights> | undefined {
  const { message } = reading
  const sights = look(reading)
  const { path, tool, document, shape, envelope } = sights
  const version = readVersion(message, sights)
  const isDated = version !== null && API_VERSION.test(version.value)
  const merchantSignature = message.header('merchant-signature')
  const evidence: Evidence[] = []
  if (path !== undefined && (path.isItsOwn || isOfAcp(path, sights, message)))
    evidence.push({ mark: path.mark, at: '/target' })
  if (tool !== undefined)
    evidence.push({ mark: `tool ${tool.operation}_checkout_session`, at: pointer(tool.params.at, 'name') })
  if (merchantSignature !== undefined)
    evidence.push({ mark: 'header Merchant-Signature', at: merchantSignature.at })
  const isShown =
    evidence.length > 0 || envelope !== undefined || isDated || shape === 'discovery' || shape === 'event'
  if (shape !== undefined && shape !== 'answer' && document !== null && isShown)
    evidence.push({ mark: `${shape} of ACP`, at: document.at })
  const members =
    tool === undefined
      ? ['allowance', 'payment_data'].filter((name) => pickObject(document, name) !== null)
      : []
  if (document !== null && (version !== null || envelope !== undefined))
    for (const name of members) evidence.push({ mark: `body member ${name}`, at: pointer(document.at, name) })
  if (evidence.length === 0) return undefined
  if (version !== null) evidence.push({ mark: 'API version', at: version.at })
  const facts = aboutOf(sights, message)
  return {
    layer: {
      name: 'acp',
      version: version !== null && isDated ? version.value : null,
      transport: transportOf(sights, facts.operation),
      stage: stageOf(facts),
      confidence: version !== null || members.length > 0 || tool !== undefined ? 'high' : 'medium',
      evidence,
      document: document ?? undefined,
      isUndecodable: message.body.kind === 'unreadable',
    },
    conflicts: [],
    sights,
  }
}

/** Carts and feeds are ACP's where its header or their own members say so; UCP has carts too. */
function isOfAcp({ resource }: PathSight, { document, shape }: AcpSights, message: Message): boolean {
  if (message.header('ucp-agent') !== undefined) return false
  if (API_VERSION.test(readField(message, 'api-version')?.value ?? '')) return true
  if (shape === 'error') return true
  if (document === null) return false
  return resource === 'cart' ? isCart(document.value) : isFeed(document.value)
}

const transportOf = ({ tool, envelope }: AcpSights, operation: Operation | null): string => {
  if (envelope !== undefined) return envelope.isA2a ? 'a2a' : 'mcp'
  if (tool !== undefined) return 'mcp'
  return operation === 'webhook' ? 'webhook' : 'rest'
}

/** What a message of ACP is about. */
export interface About {
  readonly resource: Resource
  readonly operation: Operation | null
  /** What the message answers with; null where it asks. */
  readonly answer: 'result' | 'error' | null
}

/** The tool says it, or the path; without either, what the body is made of. */
export function aboutOf({ path, tool, document, shape }: AcpSights, message: Message): About {
  const answer = shape === undefined || shape === 'event' ? null : shape === 'error' ? 'error' : 'result'
  if (tool !== undefined) return { resource: 'checkout', operation: tool.operation, answer: null }
  if (path?.operation === 'webhook' || shape === 'event')
    return { resource: 'order', operation: 'webhook', answer: null }
  if (path !== undefined) return { ...path, answer: path.resource === 'discovery' ? null : answer }
  if (message.header('merchant-signature') !== undefined)
    return { resource: 'order', operation: 'webhook', answer: null }
  if (shape === 'discovery') return { resource: 'discovery', operation: 'get', answer: null }
  if (pickObject(document, 'allowance') !== null)
    return { resource: 'payment', operation: 'delegate', answer: null }
  return { resource: 'checkout', operation: 'complete', answer }
}

/** Names of stages that are not the resource with its operation. */
function stageOf({ resource, operation, answer }: About): string {
  if (answer !== null) return answer
  if (resource === 'discovery') return 'discovery'
  if (operation === null) return resource
  return operation === 'delegate' || operation === 'webhook' ? operation : `${resource}.${operation}`
}

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
