// UCP: checkout over REST, MCP and A2A. A complete request carries no amount: it stands in the business's `totals`.
import { readDictionary } from '../decode/fields.ts'
import {
  instantSeconds,
  isObject,
  member,
  pick,
  pickList,
  pickObject,
  pickText,
  pointer,
  rememberLast,
} from '../decode/value.ts'
import { jsonBody } from '../message.ts'
import type { Found, Json, JsonObject, Layer, Message, Place, TransactionFacts } from '../ports.ts'
import { readTotal } from '../ap2/read.ts'
import { readField, readHttp } from '../protocols/http.ts'
import { readEnvelopes, type Envelope, type Evidence, type Spotted } from '../protocols/spot.ts'
import type { UcpFacts } from '../protocols/types.ts'

/** Requests say no version of their own: they are read as the current release unless something says otherwise. */
const CURRENT_RELEASE = '2026-08-25'
const RELEASE = /^\d{4}-\d\d-\d\d$/

type Operation = NonNullable<UcpFacts['operation']>

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
  const index = segments.findIndex((part) => Object.hasOwn(RESOURCES, part))
  if (index < 0) return undefined
  const resource = RESOURCES[segments[index]!]!
  const [id = null, action] = segments.slice(index + 1)
  return {
    resource,
    id: id === null ? null : decodeSegment(id),
    operation: readOperation(message.method, id, action),
  }
}

const RESOURCES: Readonly<Record<string, PathSight['resource']>> = {
  'checkout-sessions': 'checkout',
  carts: 'cart',
  catalog: 'catalog',
  orders: 'order',
}

function readOperation(method: string, id: string | null, action: string | undefined): Operation | null {
  if (action === 'complete' || action === 'cancel') return action
  if (method === 'GET' || method === 'HEAD') return 'get'
  if (method === 'POST') return id === null ? 'create' : 'update'
  return method === 'PUT' || method === 'PATCH' ? 'update' : null
}

export function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

interface Sights {
  readonly path: PathSight | undefined
  readonly envelope: Envelope | undefined
  readonly tool: { readonly operation: Operation; readonly resource: string } | undefined
  /** `arguments.meta` with `ucp-agent`. */
  readonly meta: Found<JsonObject> | null
  readonly args: Found<JsonObject> | null
  readonly a2aKeys: readonly Found<Json>[]
  readonly document: Found<JsonObject> | null
}

function look(message: Message): Sights {
  let envelope: Envelope | undefined
  let meta: Found<JsonObject> | null = null
  const a2aKeys: Found<Json>[] = []
  for (const one of readEnvelopes(message)) {
    const found = pickObject(one.params, 'arguments', 'meta') ?? pickObject(one.params, 'meta')
    if (found !== null && member(found.value, 'ucp-agent') !== undefined && meta === null) {
      meta = found
      envelope = one
    }
    for (const data of one.dataParts)
      for (const key of Object.keys(data.value).sort())
        if (key.startsWith('a2a.ucp.')) {
          a2aKeys.push({ value: data.value[key]!, at: pointer(data.at, key) })
          envelope ??= one
        }
  }
  const name = pickText(envelope?.params ?? null, 'name')?.value ?? ''
  const match = TOOL.exec(name) ?? TOOL.exec(envelope?.method?.value ?? '')
  const args = meta === null ? null : (pickObject(envelope!.params, 'arguments') ?? envelope!.params)
  const body = pickObject(jsonBody(message))
  const isRest = body !== null && member(body.value, 'jsonrpc') === undefined && a2aKeys.length === 0
  return {
    path: readPath(message),
    envelope,
    tool: match === null ? undefined : { operation: match[1] as Operation, resource: match[2]! },
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

export function spotUcp(message: Message): Spotted | undefined {
  const sights = look(message)
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
  const isDiscriminating =
    meta !== null || a2aKeys.length > 0 || inBody !== null || readProfile(message, sights) !== null
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
  }
}

function readVersion(inBody: Found<string> | null, extension: string | undefined): string {
  if (inBody !== null && RELEASE.test(inBody.value)) return inBody.value
  const named = /ucp\.dev\/[^\s,]*?(\d{4}-\d\d-\d\d)/.exec(extension ?? '')?.[1]
  return named ?? CURRENT_RELEASE
}

function stageOf(message: Message, { path, tool, a2aKeys, envelope }: Sights): string {
  if (tool !== undefined) return `${tool.resource}.${tool.operation}`
  if (a2aKeys.length > 0) {
    const action = envelope?.dataParts
      .map(({ value }) => member(value, 'action'))
      .find((one) => typeof one === 'string')
    const match = typeof action === 'string' ? TOOL.exec(action) : null
    if (match !== null) return `${match[2]!}.${match[1]!}`
    const isPayment = a2aKeys.some(({ at }) => /payment/.test(at))
    return isPayment ? 'checkout.complete' : envelope?.result !== null ? 'checkout.get' : 'checkout.update'
  }
  if (message.header('webhook-id') !== undefined) return 'webhook'
  if (path === undefined) return 'request'
  if (path.resource === 'discovery' || path.resource === 'catalog') return path.resource
  return path.operation === null ? path.resource : `${path.resource}.${path.operation}`
}

function readProfile(message: Message, { meta }: Sights): Found<string> | null {
  const inMeta = pickText(meta, 'ucp-agent', 'profile')
  if (inMeta !== null) return inMeta
  const field = readField(message, 'ucp-agent')
  const profile = field === null ? undefined : readDictionary(field.value)?.get('profile')
  return profile?.kind === 'item' && profile.item.kind === 'string' && profile.item.value !== ''
    ? { value: profile.item.value, at: pointer(`${field!.at}#`, 'profile') }
    : null
}

export const readUcp: (layer: Layer, message: Message) => UcpFacts = rememberLast(read)

function read(layer: Layer, message: Message): UcpFacts {
  const sights = look(message)
  const { path, meta, args, document } = sights
  const http = readHttp(message)
  const instruments = [
    ...pickList(document, 'payment', 'instruments'),
    ...pickList(args, 'payment', 'instruments'),
    ...sights.a2aKeys.filter(
      ({ value }) => member(value, 'credential') !== undefined || member(value, 'handler_id') !== undefined,
    ),
    ...sights.a2aKeys.flatMap((found) => pickList(found, 'instruments')),
  ]
  const selected =
    instruments.find(({ value }) => member(value, 'selected') === true) ?? instruments[0] ?? null
  const operation = /\.(create|get|update|complete|cancel)$/.exec(layer.stage)?.[1] as Operation | undefined
  const body = pickObject(jsonBody(message))
  const id =
    path?.id != null
      ? { value: path.id, at: '/target' }
      : (pickText(args, 'id') ?? pickText(args, 'checkout_id') ?? pickText(document, 'id'))
  return {
    operation: operation ?? null,
    profile: readProfile(message, sights),
    idempotencyKey: pickText(meta, 'idempotency-key') ?? http.idempotencyKey,
    requestId: pickText(meta, 'request-id') ?? http.requestId,
    checkoutId: id,
    version: pickText(pickObject(body, 'ucp') ?? pickObject(document, 'ucp'), 'version'),
    signature: http.signatures[0] ?? null,
    currency: pickText(document, 'currency'),
    total: readTotal(document),
    handlerId: pickText(selected, 'handler_id'),
    expiresAt: pickText(document, 'expires_at'),
    credentials: credentialPlaces(instruments),
    hasAp2: [document, args, body, ...(sights.envelope?.dataParts ?? [])].some((from) => hasAp2Member(from)),
    webhookId: readField(message, 'webhook-id'),
  }
}

function hasAp2Member(from: Found<JsonObject> | null): boolean {
  if (from === null) return false
  const ap2 = member(from.value, 'ap2')
  return (
    (isObject(ap2) && Object.keys(ap2).length > 0) ||
    ['ap2.checkout_mandate', 'ap2.merchant_authorization'].some(
      (key) => member(from.value, key) !== undefined,
    )
  )
}

/** Where the tokens of payment instruments stand. */
export function credentialPlaces(instruments: readonly Found<Json>[]): Place[] {
  return instruments.flatMap((instrument) => {
    const credential = pick(instrument, 'credential')
    if (credential === null) return []
    const token = pick(credential, 'token')
    return [token?.at ?? credential.at]
  })
}

export function factsOfUcp(facts: UcpFacts): TransactionFacts {
  const { currency, total, signature } = facts
  return {
    amount: total,
    amountIsInteger: total?.isInteger === true,
    currency: currency && { value: currency.value.toUpperCase(), at: currency.at },
    asset: null,
    network: null,
    scheme: null,
    payee: null,
    payer: null,
    resource: facts.checkoutId,
    notBefore: signature?.created ?? null,
    expiresAt: signature?.expires ?? instantSeconds(facts.expiresAt),
    nonce: signature?.nonce ?? null,
    idempotencyKey: facts.idempotencyKey,
    credentials: facts.credentials,
  }
}
