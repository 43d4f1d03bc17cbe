// x402 shows itself by header fields, `_meta` of MCP, metadata of A2A, the body of a 402. The decoded x402Version decides
// the version; the name of the header only where nothing could be decoded. What a decoded document is, shape.ts says.
import { decodeBase64Text, isAmbiguousText, readBase64Json, readJson, type Read } from '../decode/json.ts'
import { inside, isObject, member, pick, pickList, pickObject, pickText, pointer } from '../decode/value.ts'
import { isOversize, jsonBody } from '../message.ts'
import type { Conflict, Evidence, Found, HeaderField, Json, JsonObject, Message, Place } from '../ports.ts'
import { conflict, type Sighting } from '../protocol.ts'
import type { Reading } from '../reading.ts'
import type { Envelope } from '../wire/envelopes.ts'
import { isFacilitatorRequest, readX402Shape, type X402Shape, type X402Stage } from './shape.ts'

/** Lists of what is sold, and of what a facilitator takes: nothing is paid in them. */
type Stage = X402Stage | 'discovery'

/** One thing in the message that is x402, decoded or not. */
interface Sight {
  readonly stage: Stage
  readonly transport: 'http' | 'mcp' | 'a2a'
  readonly what: string
  readonly at: Place
  readonly document: Found<JsonObject> | undefined
  /** Version that its name says. */
  readonly namedVersion: '1' | '2' | null
  readonly hasDocument: boolean
  readonly isAmbiguous?: boolean
}

/** The same with what its document is, told once for all that ask. */
interface ShapedSight extends Sight {
  readonly shape: X402Shape
}

interface NamedHeader {
  readonly stage: Stage
  readonly version: '1' | '2'
}

const HEADERS: ReadonlyMap<string, NamedHeader> = new Map([
  ['payment-signature', { stage: 'payment', version: '2' }],
  ['x-payment', { stage: 'payment', version: '1' }],
  ['payment-required', { stage: 'challenge', version: '2' }],
  ['payment-response', { stage: 'settlement', version: '2' }],
  ['x-payment-response', { stage: 'settlement', version: '1' }],
])

const STATUS_STAGES: ReadonlyMap<string, Stage> = new Map([
  ['payment-required', 'challenge'],
  ['payment-submitted', 'payment'],
  ['payment-verified', 'settlement'],
  ['payment-completed', 'settlement'],
  ['payment-failed', 'settlement'],
  ['payment-rejected', 'settlement'],
])

const RANK: Readonly<Record<Stage, number>> = { payment: 0, settlement: 1, challenge: 2, discovery: 3 }

/** A payment is what a message is about, then a settlement, then a challenge; what decodes comes before what does not. */
export function detectX402({ message, envelopes }: Reading): Sighting<undefined> | undefined {
  const found: Sight[] = []
  for (const field of message.headers) {
    // Many servers read an underscore as a hyphen.
    const named = HEADERS.get(field.name.replaceAll('_', '-'))
    if (named !== undefined) found.push(sightHeader(field, named))
  }
  for (const envelope of envelopes) found.push(...sightEnvelope(envelope))
  found.push(...sightBody(message))
  if (found.length === 0) return undefined
  const sights = found.map((sight): ShapedSight => ({
    ...sight,
    shape: readX402Shape(sight.document?.value),
  }))
  const [first] = sights.toSorted(
    (a, b) =>
      RANK[a.stage] - RANK[b.stage] || Number(b.document !== undefined) - Number(a.document !== undefined),
  )
  if (first === undefined) return undefined
  const evidence = sights.map(describe)
  const extension = message.header('x-a2a-extensions') ?? message.header('a2a-extensions')
  if (extension?.value.includes('/a2a-x402') === true)
    evidence.push({ mark: 'A2A extension a2a-x402', at: extension.at })
  const version = decodedVersion(first) ?? first.namedVersion
  const isDiscriminating =
    decodedVersion(first) !== null || (first.stage === 'settlement' && first.shape.stage === 'settlement')
  return {
    layer: {
      name: 'x402',
      version,
      transport: first.transport,
      stage: first.stage,
      confidence: isDiscriminating ? 'high' : 'medium',
      evidence: [describe(first), ...evidence.filter(({ at }) => at !== first.at)],
      document: first.document,
      isUndecodable: first.hasDocument && first.document === undefined,
    },
    conflicts: findConflicts(sights),
    sights: undefined,
  }
}

const valueOf = (read: Read<Json>): Json | undefined => (read.ok ? read.value : undefined)

function describe(sight: ShapedSight): Evidence {
  const version = decodedVersion(sight)
  const says =
    version !== null
      ? `${sight.what} decodes with x402Version ${version}`
      : sight.document !== undefined
        ? `${sight.what} decodes`
        : sight.hasDocument
          ? `${sight.what} is there and does not decode`
          : sight.what
  return { mark: says, at: sight.at }
}

const decodedVersion = ({ shape: { version } }: ShapedSight): string | null =>
  version === null ? null : String(version)

function sightHeader(field: HeaderField, { stage, version }: NamedHeader): Sight {
  const text = isOversize(field) ? undefined : decodeBase64Text(field.value)
  const value = text === undefined ? undefined : valueOf(readJson(text))
  const document = isObject(value) ? { value, at: inside(field.at) } : undefined
  return {
    stage,
    transport: 'http',
    what: `header ${field.name.toUpperCase()}`,
    at: field.at,
    document,
    namedVersion: version,
    hasDocument: true,
    isAmbiguous: text !== undefined && value !== undefined && isAmbiguousText(text, value),
  }
}

function sightEnvelope(envelope: Envelope): Sight[] {
  const found: Sight[] = []
  const add = (stage: Stage, transport: 'mcp' | 'a2a', what: string, from: Found<Json>) =>
    found.push({
      stage,
      transport,
      what,
      at: from.at,
      document: toDocument(from),
      namedVersion: null,
      hasDocument: true,
    })
  for (const meta of envelope.paymentMetas) {
    const payment = pick(meta, 'x402/payment')
    const response = pick(meta, 'x402/payment-response')
    if (payment !== null) add('payment', 'mcp', '_meta x402/payment', payment)
    if (response !== null) add('settlement', 'mcp', '_meta x402/payment-response', response)
  }
  const embedded = findEmbedded(envelope)
  for (const { stage, document } of embedded) add(stage, 'a2a', 'AP2 mandate with x402 inside', document)
  for (const metadata of envelope.metadatas) {
    const payload = pick(metadata, 'x402.payment.payload')
    const required = pick(metadata, 'x402.payment.required')
    const receipts = pick(metadata, 'x402.payment.receipts')
    const status = pickText(metadata, 'x402.payment.status')
    if (payload !== null) add('payment', 'a2a', 'metadata x402.payment.payload', payload)
    if (required !== null) add('challenge', 'a2a', 'metadata x402.payment.required', required)
    if (receipts !== null)
      add('settlement', 'a2a', 'metadata x402.payment.receipts', pickList(receipts).at(-1) ?? receipts)
    if (
      status !== null &&
      embedded.length === 0 &&
      payload === null &&
      required === null &&
      receipts === null
    )
      found.push({
        stage: STATUS_STAGES.get(status.value) ?? 'payment',
        transport: 'a2a',
        what: 'metadata x402.payment.status',
        at: status.at,
        document: undefined,
        namedVersion: null,
        hasDocument: false,
      })
  }
  const challenge = findToolChallenge(envelope)
  if (challenge !== null) add('challenge', 'mcp', 'answer of a tool', challenge)
  return found
}

/** The embedded flow of A2A: AP2 mandates of 0.1 carry what would stand in the metadata. */
function findEmbedded({
  dataParts,
}: Envelope): { readonly stage: Stage; readonly document: Found<JsonObject> }[] {
  return dataParts.flatMap((data) => {
    const cart = pickObject(data, 'ap2.mandates.CartMandate')
    const mandate = pickObject(data, 'ap2.mandates.PaymentMandate')
    const offered = [
      ...pickList(cart, 'payment_request', 'method_data'),
      ...pickList(cart, 'contents', 'payment_request', 'method_data'),
    ]
    const asked = offered.map((method) => ({
      stage: 'challenge' as const,
      document: pickObject(method, 'data'),
    }))
    const paid = [
      pickObject(mandate, 'payment_details', 'payment_method', 'data'),
      pickObject(mandate, 'payment_mandate_contents', 'payment_response', 'details'),
    ].map((document) => ({ stage: 'payment' as const, document }))
    return [...asked, ...paid].flatMap(({ stage, document }) =>
      document !== null && typeof member(document.value, 'x402Version') === 'number'
        ? [{ stage, document }]
        : [],
    )
  })
}

/** An answer that asks for payment: `structuredContent`, or the same as text. */
function findToolChallenge({ result, error }: Envelope): Found<Json> | null {
  const structured = pickObject(result, 'structuredContent')
  if (structured !== null && isChallenge(structured.value)) return structured
  for (const part of pickList(result, 'content').slice(0, 4)) {
    const text = pickText(part, 'text')
    if (text === null || !text.value.includes('"x402Version"')) continue
    const read = readJson(text.value)
    if (read.ok && isChallenge(read.value)) return { value: read.value, at: inside(text.at) }
  }
  // v1: an error with code 402 and the requirements as its data.
  const data = pickObject(error, 'data')
  return data !== null && isChallenge(data.value) ? data : null
}

const isChallenge = (value: Json): boolean => readX402Shape(value).stage === 'challenge'

function sightBody(message: Message): Sight[] {
  const body = pickObject(jsonBody(message))
  if (body === null || member(body.value, 'jsonrpc') !== undefined) return []
  const sight = { transport: 'http', namedVersion: null, hasDocument: true } as const
  if (isChallenge(body.value))
    return [{ ...sight, stage: 'challenge', what: 'body with accepts', at: body.at, document: body }]
  const list = ['items', 'resources', 'kinds']
    .flatMap((name) => pickList(body, name).slice(0, 1))
    .find(isListed)
  if (list !== undefined)
    return [
      {
        ...sight,
        stage: 'discovery',
        what: 'body that lists what is sold or taken',
        at: list.at,
        document: undefined,
        hasDocument: false,
      },
    ]
  // A facilitator is sent the payment with the requirement it answers.
  const payment = isFacilitatorRequest(body.value) ? pick(body, 'paymentPayload') : null
  if (payment === null) return []
  const document = pickObject(payment) ?? undefined
  return [{ ...sight, stage: 'payment', what: 'body with paymentPayload', at: payment.at, document }]
}

/** An item of `/discovery/resources` or `/discovery/search`, or a kind of `/supported`. */
const isListed = ({ value }: Found<Json>): boolean =>
  typeof member(value, 'x402Version') === 'number' &&
  (Array.isArray(member(value, 'accepts')) || typeof member(value, 'scheme') === 'string')

/** An object, or base64 or JSON text of one. */
function toDocument(from: Found<Json>): Found<JsonObject> | undefined {
  // Some A2A clients send the whole request for settlement: the payment stands inside it.
  const wrapped = pickObject(from, 'paymentPayload')
  if (wrapped !== null) return wrapped
  if (isObject(from.value)) return { value: from.value, at: from.at }
  if (typeof from.value !== 'string') return undefined
  const read = from.value.startsWith('{') ? readJson(from.value) : readBase64Json(from.value)
  return read.ok && isObject(read.value) ? { value: read.value, at: inside(from.at) } : undefined
}

function findConflicts(sights: readonly ShapedSight[]): Conflict[] {
  const conflicts: Conflict[] = []
  const payments = sights.filter(({ stage }) => stage === 'payment')
  for (const { at } of payments.slice(1))
    conflicts.push(conflict('DUPLICATE_PAYMENT', at, 'More than one x402 payment in one message.'))
  for (const { stage, document, shape } of sights)
    if (stage === 'payment' && document !== undefined && shape.method === 'several')
      conflicts.push(
        conflict(
          'DUPLICATE_PAYMENT',
          pointer(document.at, 'payload'),
          'It holds two authorizations: two readers could take two payments.',
        ),
      )
  for (const { at, isAmbiguous } of sights)
    if (isAmbiguous === true)
      conflicts.push(
        conflict('DUPLICATE_PAYMENT', at, 'It names a member twice: two readers could read two payments.'),
      )
  for (const stage of ['challenge', 'settlement'] as const) {
    const named = sights.filter((sight) => sight.stage === stage && sight.namedVersion !== null)
    const names = new Set<string>()
    for (const { what, at } of named) {
      if (names.has(what))
        conflicts.push(conflict('HEADER_CONFLICT', at, 'The same x402 header is there twice.'))
      names.add(what)
    }
  }
  for (const sight of sights) {
    const version = decodedVersion(sight)
    if (sight.namedVersion !== null && version !== null && version !== sight.namedVersion)
      conflicts.push(
        conflict(
          'VERSION_CONFLICT',
          pointer(inside(sight.at), 'x402Version'),
          `The header belongs to x402 v${sight.namedVersion}, and what it holds says version ${version}.`,
        ),
      )
  }
  return conflicts
}
