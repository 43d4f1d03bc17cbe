// UCP shows itself by the UCP-Agent header or its place in the arguments of a tool, data parts of A2A, the `ucp` member of a
// body, paths.
import { decodeSegment } from '../checkout.ts'
import { readDictionary } from '../decode/fields.ts'
import { inside, member, pickObject, pickText, pointer } from '../decode/value.ts'
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
  readonly tool: { readonly operation: Operation; readonly resource: string } | undefined
  /** Address of the agent's profile. */
  readonly profile: Found<string> | null
  /** `arguments.meta` with `ucp-agent`. */
  readonly meta: Found<JsonObject> | null
  readonly args: Found<JsonObject> | null
  readonly a2aKeys: readonly Found<Json>[]
  readonly document: Found<JsonObject> | null
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
  const name = pickText(envelope?.params ?? null, 'name')?.value ?? ''
  const tool = readTool(name) ?? readTool(envelope?.method?.value ?? '')
  const params = envelope?.params ?? null
  const args = meta === null ? null : (pickObject(params, 'arguments') ?? params)
  const body = pickObject(jsonBody(message))
  const isRest = body !== null && member(body.value, 'jsonrpc') === undefined && a2aKeys.length === 0
  return {
    path: readPath(message),
    envelope,
    tool,
    profile: readProfile(message, meta),
    meta,
    args,
    a2aKeys,
    document:
      pickObject(args, 'checkout') ??
      args ??
      pickObject(a2aKeys[0] ?? null) ??
      (isRest ? body : pickObject(envelope?.result ?? null, 'structuredContent')),
  }
}

function readTool(name: string): UcpSights['tool'] {
  const [, operation, resource] = TOOL.exec(name) ?? []
  return operation === undefined || resource === undefined
    ? undefined
    : { operation: operation as Operation, resource }
}

/** Header, tool, data part, version or path tell it; a path or an extension alone is a guess. */
export function detectUcp(reading: Reading): Sighting<UcpSights> | undefined {
  const { message } = reading
  const sights = look(reading)
  const { path, meta, a2aKeys, document } = sights
  const agent = message.header('ucp-agent')
  const extension = message.header('x-a2a-extensions') ?? message.header('a2a-extensions')
  const body = jsonBody(message)
  const ucp = pickObject(body, 'ucp') ?? pickObject(document, 'ucp')
  const inBody = pickText(ucp, 'version')
  const evidence: Evidence[] = []
  if (agent !== undefined) evidence.push({ mark: 'header UCP-Agent', at: agent.at })
  if (meta !== null) evidence.push({ mark: 'arguments.meta ucp-agent', at: pointer(meta.at, 'ucp-agent') })
  for (const { at } of a2aKeys) evidence.push({ mark: 'data part a2a.ucp.*', at })
  if (inBody !== null) evidence.push({ mark: 'ucp.version in the body', at: inBody.at })
  if (extension?.value.includes('ucp.dev/') === true)
    evidence.push({ mark: 'A2A extension UCP', at: extension.at })
  if (path?.resource === 'checkout' || path?.resource === 'discovery')
    evidence.push({
      mark: path.resource === 'checkout' ? 'path /checkout-sessions' : 'path /.well-known/ucp',
      at: '/target',
    })
  if (evidence.length === 0) return undefined
  const isDiscriminating = meta !== null || a2aKeys.length > 0 || inBody !== null || sights.profile !== null
  return {
    layer: {
      name: 'ucp',
      version: readVersion(inBody, extension?.value),
      transport:
        a2aKeys.length > 0 ? 'a2a' : meta !== null ? 'mcp' : sights.envelope?.isA2a === true ? 'a2a' : 'rest',
      stage: stageOf(message, sights),
      confidence: isDiscriminating ? 'high' : 'medium',
      evidence,
      document: document ?? undefined,
      isUndecodable: message.body.kind === 'unreadable',
    },
    conflicts: [],
    sights,
  }
}

function readVersion(inBody: Found<string> | null, extension: string | undefined): string {
  if (inBody !== null && RELEASE.test(inBody.value)) return inBody.value
  const named = /ucp\.dev\/[^\s,]*?(\d{4}-\d\d-\d\d)/.exec(extension ?? '')?.[1]
  return named ?? CURRENT_RELEASE
}

function stageOf(message: Message, { path, tool, a2aKeys, envelope }: UcpSights): string {
  if (tool !== undefined) return `${tool.resource}.${tool.operation}`
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
  if (path === undefined) return 'request'
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
