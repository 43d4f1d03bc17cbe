// ACP: checkout and delegated payment over REST, checkout over MCP, order webhooks.
import { judgeCredential } from '../decode/jws.ts'
import {
  instantSeconds,
  member,
  parseInstant,
  pick,
  pickNumeral,
  pickObject,
  pickText,
  pointer,
  rememberLast,
} from '../decode/value.ts'
import { jsonBody } from '../message.ts'
import type { Found, JsonObject, Layer, Message, Place, TransactionFacts } from '../ports.ts'
import { readTotal } from '../ap2/read.ts'
import { readField, readHttp } from '../protocols/http.ts'
import { readEnvelopes, type Envelope, type Evidence, type Spotted } from '../protocols/spot.ts'
import type { AcpFacts } from '../protocols/types.ts'
import { credentialPlaces, decodeSegment } from '../ucp/read.ts'

type Operation = NonNullable<AcpFacts['operation']>

const API_VERSION = /^\d{4}-\d\d-\d\d$/
const TOOL = /^(create|get|update|complete|cancel)_checkout_session$/

interface PathSight {
  readonly operation: Operation | null
  readonly mark: string
  readonly sessionId: string | null
}

/** Without one of these it is no path of ours to read. */
const NAMED_IN_PATH = /delegate_payment|agentic_checkout|checkout_sessions/

function readPath(message: Message): PathSight | undefined {
  const path = message.target.url?.pathname ?? ''
  if (!NAMED_IN_PATH.test(path)) return undefined
  const segments = path.split('/').filter((part) => part !== '')
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

interface Sights {
  readonly path: PathSight | undefined
  readonly tool: Operation | undefined
  readonly envelope: Envelope | undefined
  readonly args: Found<JsonObject> | null
  /** What the operation is about: REST body, or `payload` of the arguments. */
  readonly document: Found<JsonObject> | null
}

function look(message: Message): Sights {
  for (const envelope of readEnvelopes(message)) {
    const match = TOOL.exec(pickText(envelope.params, 'name')?.value ?? '')
    if (match === null) continue
    const args = pickObject(envelope.params, 'arguments')
    const document = pickObject(args, 'payload') ?? args
    return { path: readPath(message), tool: match[1] as Operation, envelope, args, document }
  }
  const body = pickObject(jsonBody(message))
  const isRest = body !== null && member(body.value, 'jsonrpc') === undefined
  return {
    path: readPath(message),
    tool: undefined,
    envelope: undefined,
    args: null,
    document: isRest ? body : null,
  }
}

export function spotAcp(message: Message): Spotted | undefined {
  const sights = look(message)
  const { path, tool, envelope, document } = sights
  const version = readVersion(message, sights)
  const merchantSignature = message.header('merchant-signature')
  const evidence: Evidence[] = []
  if (path !== undefined) evidence.push({ mark: path.mark, at: '/target' })
  if (tool !== undefined)
    evidence.push({ mark: `tool ${tool}_checkout_session`, at: pointer(envelope!.params!.at, 'name') })
  if (merchantSignature !== undefined)
    evidence.push({ mark: 'header Merchant-Signature', at: merchantSignature.at })
  const body = tool === undefined ? document : null
  const members = ['allowance', 'payment_data'].filter((name) => pickObject(body, name) !== null)
  if (version !== null)
    for (const name of members) evidence.push({ mark: `body member ${name}`, at: pointer(body!.at, name) })
  if (evidence.length === 0) return undefined
  if (version !== null) evidence.push({ mark: 'API version', at: version.at })
  return {
    layer: {
      name: 'acp',
      version: version !== null && API_VERSION.test(version.value) ? version.value : null,
      transport:
        tool === undefined ? (operationOf(sights, message) === 'webhook' ? 'webhook' : 'rest') : 'mcp',
      stage: stageOf(operationOf(sights, message)),
      confidence: version !== null || members.length > 0 || tool !== undefined ? 'high' : 'medium',
      evidence,
      document: document ?? undefined,
      isUndecodable: message.body.kind === 'unreadable',
    },
    conflicts: [],
  }
}

function operationOf({ path, tool, document }: Sights, message: Message): Operation | null {
  if (tool !== undefined) return tool
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

function readVersion(
  message: Message,
  { args, document }: Pick<Sights, 'args' | 'document'>,
): Found<string> | null {
  return (
    pickText(args, 'meta', 'api_version') ??
    readField(message, 'api-version') ??
    pickText(document, 'protocol', 'version')
  )
}

export const readAcp: (layer: Layer, message: Message) => AcpFacts = rememberLast(read)

function read(_layer: Layer, message: Message): AcpFacts {
  const sights = look(message)
  const { path, args, document } = sights
  const http = readHttp(message)
  const meta = pickObject(args, 'meta')
  const timestamp = pickText(meta, 'timestamp') ?? readField(message, 'timestamp')
  const allowance = pickObject(document, 'allowance')
  const allowed = allowance === null ? null : readAllowance(allowance)
  const inPath = path?.sessionId == null ? null : { value: path.sessionId, at: '/target' }
  const signature = readField(message, 'signature')
  return {
    operation: operationOf(sights, message),
    apiVersion: readVersion(message, sights),
    idempotencyKey: pickText(meta, 'idempotency_key') ?? http.idempotencyKey,
    requestId: pickText(meta, 'request_id') ?? http.requestId,
    timestamp,
    timestampMs: parseInstant(timestamp?.value),
    // With Signature-Input it belongs to RFC 9421.
    signature: judgeCredential(
      pick(meta, 'signature') ?? (message.header('signature-input') === undefined ? signature : null),
    ),
    sessionId:
      inPath ?? pickText(args, 'id') ?? pickText(args, 'checkout_session_id') ?? allowed?.sessionId ?? null,
    handlerId: pickText(document, 'payment_data', 'handler_id'),
    currency: pickText(document, 'currency'),
    allowance: allowed,
    merchantSignature: readMerchantSignature(message),
    credentials: readCredentials(document),
    authorization: http.authorization,
  }
}

function readAllowance(at: Found<JsonObject>): NonNullable<AcpFacts['allowance']> {
  const expiresAt = pickText(at, 'expires_at')
  return {
    at: at.at,
    reason: pickText(at, 'reason'),
    maxAmount: pickNumeral(at, 'max_amount'),
    currency: pickText(at, 'currency'),
    sessionId: pickText(at, 'checkout_session_id'),
    merchantId: pickText(at, 'merchant_id'),
    expiresAt,
    expiresAtMs: parseInstant(expiresAt?.value),
  }
}

/** `t=<unix>,v1=<64 hex>`. */
function readMerchantSignature(message: Message): AcpFacts['merchantSignature'] {
  const field = readField(message, 'merchant-signature')
  if (field === null) return null
  const match = /^t=(\d{1,12}),\s*v1=([\da-f]{64})$/i.exec(field.value)
  const seconds = /^t=(\d{1,12})(?:,|$)/.exec(field.value)?.[1]
  return {
    at: field.at,
    timestamp: seconds === undefined ? null : { value: Number(seconds), at: field.at },
    isWellFormed: match !== null,
  }
}

const CARD_MEMBERS = ['number', 'cvc', 'cryptogram']

function readCredentials(document: Found<JsonObject> | null): Place[] {
  const instrument = pickObject(document, 'payment_data', 'instrument')
  const method = pickObject(document, 'payment_method')
  const token = pickText(document, 'payment_data', 'token')
  return [
    ...(instrument === null ? [] : credentialPlaces([instrument])),
    ...(token === null ? [] : [token.at]),
    ...CARD_MEMBERS.flatMap((name) => {
      const found = pick(method, name)
      return found === null ? [] : [found.at]
    }),
  ]
}

export function factsOfAcp(facts: AcpFacts, layer: Layer): TransactionFacts {
  const { allowance } = facts
  const total = readTotal(layer.document ?? null)
  const amount = allowance?.maxAmount ?? total
  const currency = allowance?.currency ?? facts.currency
  return {
    amount,
    amountIsInteger: amount?.isInteger === true,
    currency: currency && { value: currency.value.toUpperCase(), at: currency.at },
    asset: null,
    network: null,
    scheme: null,
    payee: allowance?.merchantId ?? null,
    payer: null,
    resource: allowance?.sessionId ?? facts.sessionId,
    notBefore: null,
    expiresAt: instantSeconds(allowance?.expiresAt ?? null),
    nonce: null,
    idempotencyKey: facts.idempotencyKey,
    credentials: [...facts.credentials, ...(facts.signature === null ? [] : [facts.signature.at])],
  }
}
