// UCP shows itself by the UCP-Agent header or its place in the arguments of a tool, data parts of A2A, the `ucp` member of a
// document wherever it stands, the methods of its embedded pages, paths.
import { decodeSegment } from '../checkout.ts'
import { readDictionary } from '../decode/fields.ts'
import { inside, member, pickList, pickObject, pickText, pointer } from '../decode/value.ts'
import { jsonBody } from '../message.ts'
import type { Evidence, Found, Json, JsonObject, Message } from '../ports.ts'
import type { Sighting } from '../protocol.ts'
import type { Reading } from '../reading.ts'
import type { Envelope } from '../wire/envelopes.ts'
import { readField } from '../wire/http.ts'
import type { UcpFacts } from './facts.ts'

/** Requests say no version of their own: they are read as the current release unless something says otherwise. */
const CURRENT_RELEASE = '2026-08-25'
const RELEASE = /^\d{4}-\d\d-\d\d$/

export type Operation = NonNullable<UcpFacts['operation']>

const TOOL = /^(create|get|update|complete|cancel)_(checkout|cart|order)$/
const CATALOG_TOOL = /^(?:search_catalog|lookup_catalog|get_product)$/
/** Actions of A2A that the specification leaves to the words of an agent. */
const ACTION = /^(?:create|get|update|complete|cancel|add_to|remove_from)_(?:checkout|cart|order)$/
/** A page of the business that is embedded, and its host, send each other these. */
const EMBEDDED = /^(?:ec|ep\.cart)\.[a-z_]{1,32}(?:\.[a-z_]{1,48})?$|^action\.(?:ready|done|error)$/

interface PathSight {
  readonly resource: 'checkout' | 'cart' | 'catalog' | 'order' | 'discovery'
  readonly operation: Operation | null
  readonly id: string | null
}

function readPath(message: Message): PathSight | undefined {
  const segments = message.target.url?.pathname.split('/').filter((part) => part !== '') ?? []
  if (segments.at(-1) === 'ucp' && segments.at(-2) === '.well-known')
    return { resource: 'discovery', operation: 'get', id: null }
  const index = segments.findIndex((part) => RESOURCES.has(part))
  const [name = '', id = null, action] = index < 0 ? [] : segments.slice(index)
  const resource = RESOURCES.get(name)
  if (resource === undefined) return undefined
  return {
    resource,
    id: id === null ? null : decodeSegment(id),
    operation: readOperation(message.method, id, action),
  }
}

const RESOURCES: ReadonlyMap<string, PathSight['resource']> = new Map([
  ['checkout-sessions', 'checkout'],
  ['carts', 'cart'],
  ['catalog', 'catalog'],
  ['orders', 'order'],
])

function readOperation(method: string, id: string | null, action: string | undefined): Operation | null {
  if (action === 'complete' || action === 'cancel') return action
  if (method === 'GET' || method === 'HEAD') return 'get'
  if (method === 'POST') return id === null ? 'create' : 'update'
  return method === 'PUT' || method === 'PATCH' ? 'update' : null
}

/** The path, the tool and the data parts of a message, as far as they are of UCP. */
export interface UcpSights {
  readonly path: PathSight | undefined
  readonly envelope: Envelope | undefined
  readonly tool: { readonly operation: Operation | null; readonly resource: string } | undefined
  /** Address of the agent's profile. */
  readonly profile: Found<string> | null
  /** `arguments.meta` with `ucp-agent`. */
  readonly meta: Found<JsonObject> | null
  readonly args: Found<JsonObject> | null
  readonly a2aKeys: readonly Found<Json>[]
  readonly document: Found<JsonObject> | null
  /** What answers: a document with `ucp`, or an error. */
  readonly answer: Answer | undefined
}

interface Answer {
  readonly is: 'result' | 'error'
  readonly document: Found<JsonObject>
  readonly mark: string
}

function look({ message, envelopes }: Reading): UcpSights {
  let envelope: Envelope | undefined
  let meta: Found<JsonObject> | null = null
  const a2aKeys: Found<Json>[] = []
  for (const one of envelopes) {
    const found = pickObject(one.params, 'arguments', 'meta') ?? pickObject(one.params, 'meta')
    if (found !== null && member(found.value, 'ucp-agent') !== undefined && meta === null) {
      meta = found
      envelope = one
    }
    for (const data of one.dataParts)
      for (const [key, value] of Object.entries(data.value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
        if (key.startsWith('a2a.ucp.')) {
          a2aKeys.push({ value, at: pointer(data.at, key) })
          envelope ??= one
        }
  }
  // The profile may stand in the header alone.
  if (message.header('ucp-agent') !== undefined) envelope ??= envelopes[0]
  const body = pickObject(jsonBody(message))
  const isRest = body !== null && member(body.value, 'jsonrpc') === undefined && a2aKeys.length === 0
  const path = readPath(message)
  const answer = findAnswer(envelopes) ?? (isRest ? readRestAnswer(body, path) : undefined)
  envelope ??= envelopes.find(({ root }) => answer?.document.at.startsWith(root.at) === true)
  const name = pickText(envelope?.params ?? null, 'name')?.value ?? ''
  const tool = readTool(name) ?? readTool(envelope?.method?.value ?? '')
  const isCall = meta !== null || tool !== undefined || isEmbedded(envelopes[0])
  const params = (envelope ?? envelopes[0])?.params ?? null
  const args = isCall ? (pickObject(params, 'arguments') ?? params) : null
  return {
    path,
    envelope,
    tool,
    profile: readProfile(message, meta),
    meta,
    args,
    a2aKeys,
    answer,
    document:
      pickObject(args, 'checkout') ??
      args ??
      pickObject(a2aKeys[0] ?? null) ??
      answer?.document ??
      (isRest ? body : null),
  }
}

function findAnswer(envelopes: readonly Envelope[]): Answer | undefined {
  for (const { documents, error } of envelopes) {
    const found = documents.find(({ value }) => saysUcp(value))
    if (found !== undefined) return answerWith(found)
    const data = pickObject(error, 'data')
    if (data !== null && isError(data.value)) return { is: 'error', document: data, mark: 'error of UCP' }
  }
  return undefined
}

/** A request says nothing of `ucp`; the profile of a business does, and answers nobody. */
function readRestAnswer(body: Found<JsonObject>, path: PathSight | undefined): Answer | undefined {
  if (path?.resource === 'discovery') return undefined
  if (saysUcp(body.value)) return isRequest(body, path) ? undefined : answerWith(body)
  return path !== undefined && isError(body.value)
    ? { is: 'error', document: body, mark: 'error of UCP' }
    : undefined
}

const saysUcp = (value: JsonObject): boolean => pickText({ value, at: '' }, 'ucp', 'version') !== null

/** Who pays with it asks, whatever else it says: no answer repeats a credential, a mandate or what was signalled. */
const isRequest = (body: Found<JsonObject>, path: PathSight | undefined): boolean =>
  pickList(body, 'payment', 'instruments').some(({ value }) => member(value, 'credential') !== undefined) ||
  pickText(body, 'ap2', 'checkout_mandate') !== null ||
  member(body.value, 'payment_data') !== undefined ||
  member(body.value, 'signals') !== undefined ||
  (path?.operation === 'complete' &&
    member(body.value, 'status') === undefined &&
    member(body.value, 'messages') === undefined)

const answerWith = (document: Found<JsonObject>): Answer => ({
  is: member(member(document.value, 'ucp'), 'status') === 'error' ? 'error' : 'result',
  document,
  mark: 'ucp.version in the body',
})

const isError = (value: JsonObject): boolean =>
  typeof member(value, 'code') === 'string' && typeof member(value, 'content') === 'string'

function readTool(name: string): UcpSights['tool'] {
  if (CATALOG_TOOL.test(name)) return { operation: null, resource: 'catalog' }
  const [, operation, resource] = TOOL.exec(name) ?? []
  return operation === undefined || resource === undefined
    ? undefined
    : { operation: operation as Operation, resource }
}

/** Header, tool, data part, version, method or path tell it; a path or an extension alone is a guess. */
export function detectUcp(reading: Reading): Sighting<UcpSights> | undefined {
  const { message } = reading
  const sights = look(reading)
  const { meta, a2aKeys, document, answer } = sights
  const agent = message.header('ucp-agent')
  const extension = message.header('x-a2a-extensions') ?? message.header('a2a-extensions')
  const ucp = pickObject(jsonBody(message), 'ucp') ?? pickObject(answer?.document ?? document, 'ucp')
  const inBody = pickText(ucp, 'version')
  const evidence: Evidence[] = []
  if (agent !== undefined) evidence.push({ mark: 'header UCP-Agent', at: agent.at })
  if (meta !== null) evidence.push({ mark: 'arguments.meta ucp-agent', at: pointer(meta.at, 'ucp-agent') })
  for (const { at } of a2aKeys) evidence.push({ mark: 'data part a2a.ucp.*', at })
  if (inBody !== null) evidence.push({ mark: 'ucp.version in the body', at: inBody.at })
  else if (answer !== undefined) evidence.push({ mark: answer.mark, at: answer.document.at })
  if (extension?.value.includes('ucp.dev/') === true)
    evidence.push({ mark: 'A2A extension UCP', at: extension.at })
  evidence.push(...findPathEvidence(sights, message), ...findCalls(reading))
  if (evidence.length === 0) return undefined
  const isDiscriminating = meta !== null || a2aKeys.length > 0 || inBody !== null || sights.profile !== null
  return {
    layer: {
      name: 'ucp',
      version: readVersion(inBody, extension?.value),
      transport: transportOf(sights, reading),
      stage: stageOf(reading, sights),
      confidence: isDiscriminating ? 'high' : 'medium',
      evidence,
      document: document ?? undefined,
      isUndecodable: message.body.kind === 'unreadable',
    },
    conflicts: [],
    sights,
  }
}

/** Others have carts, catalogues and orders too: those of UCP are told by how they are written. */
function findPathEvidence({ path, document }: UcpSights, message: Message): Evidence[] {
  if (path === undefined) return []
  const at = '/target'
  if (path.resource === 'checkout') return [{ mark: 'path /checkout-sessions', at }]
  if (path.resource === 'discovery') return [{ mark: 'path /.well-known/ucp', at }]
  if (path.resource === 'cart' && pickList(document, 'line_items').some(({ value }) => isLine(value)))
    return member(document?.value, 'totals') === undefined ? [{ mark: 'path /carts', at }] : []
  const isSearch =
    path.resource === 'catalog' &&
    message.method === 'POST' &&
    /^(?:search|lookup|product)$/.test(path.id ?? '') &&
    CATALOG_MEMBERS.some((name) => member(document?.value, name) !== undefined)
  return isSearch ? [{ mark: 'path /catalog', at }] : []
}

const CATALOG_MEMBERS = ['query', 'ids', 'id', 'filters', 'context', 'signals', 'pagination']

/** Lines of UCP name what they are for inside `item`. */
const isLine = (value: Json): boolean => typeof member(member(value, 'item'), 'id') === 'string'

const isEmbedded = (envelope: Envelope | undefined): boolean =>
  envelope?.method != null && EMBEDDED.test(envelope.method.value)

/** Calls between an embedded page and its host, and actions of A2A. */
function findCalls({ envelopes }: Reading): Evidence[] {
  return envelopes.flatMap((envelope): Evidence[] => [
    ...(isEmbedded(envelope)
      ? [{ mark: 'method of an embedded page', at: pointer(envelope.root.at, 'method') }]
      : []),
    ...envelope.dataParts.flatMap((data) => {
      const action = pickText(data, 'action')
      return action !== null && ACTION.test(action.value) ? [{ mark: 'A2A action', at: action.at }] : []
    }),
  ])
}

function transportOf({ a2aKeys, meta, tool, envelope }: UcpSights, { envelopes }: Reading): string {
  if (a2aKeys.length > 0 || (meta === null && envelope?.isA2a === true)) return 'a2a'
  const one = envelope ?? envelopes[0]
  if (meta !== null || tool !== undefined) return 'mcp'
  if (one === undefined) return 'rest'
  if (one.isA2a) return 'a2a'
  return isEmbedded(one) ? 'embedded' : 'mcp'
}

function readVersion(inBody: Found<string> | null, extension: string | undefined): string {
  if (inBody !== null && RELEASE.test(inBody.value)) return inBody.value
  const named = /ucp\.dev\/[^\s,]*?(\d{4}-\d\d-\d\d)/.exec(extension ?? '')?.[1]
  return named ?? CURRENT_RELEASE
}

function stageOf(
  { message, envelopes }: Reading,
  { path, tool, a2aKeys, envelope, answer, args, document }: UcpSights,
): string {
  if (tool !== undefined)
    return tool.operation === null ? tool.resource : `${tool.resource}.${tool.operation}`
  if (isEmbedded(envelopes[0])) return 'embedded'
  if (a2aKeys.length > 0) {
    const action = envelope?.dataParts
      .map(({ value }) => member(value, 'action'))
      .find((one) => typeof one === 'string')
    const asked = typeof action === 'string' ? readTool(action) : undefined
    if (asked !== undefined) return `${asked.resource}.${asked.operation}`
    const isPayment = a2aKeys.some(({ at }) => /payment/.test(at))
    return isPayment ? 'checkout.complete' : envelope?.result !== null ? 'checkout.get' : 'checkout.update'
  }
  if (message.header('webhook-id') !== undefined) return 'webhook'
  if (answer !== undefined) return answer.is
  // A server chooses the names of its tools and its paths: what says which instrument pays does pay, whatever it is called.
  if (path === undefined)
    return [document, args].some((from) => pickList(from, 'payment', 'instruments').length > 0)
      ? 'checkout.complete'
      : 'request'
  if (path.resource === 'discovery' || path.resource === 'catalog') return path.resource
  return path.operation === null ? path.resource : `${path.resource}.${path.operation}`
}

function readProfile(message: Message, meta: Found<JsonObject> | null): Found<string> | null {
  const inMeta = pickText(meta, 'ucp-agent', 'profile')
  if (inMeta !== null) return inMeta
  const field = readField(message, 'ucp-agent')
  if (field === null) return null
  const profile = readDictionary(field.value)?.get('profile')
  return profile?.kind === 'item' && profile.item.kind === 'string' && profile.item.value !== ''
    ? { value: profile.item.value, at: pointer(inside(field.at), 'profile') }
    : null
}
