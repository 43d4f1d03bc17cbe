// ACP: checkout and delegated payment over REST, checkout over MCP, order webhooks.
import { credentialPlaces, readTotal } from '../checkout.ts'
import { judgeCredential } from '../decode/jws.ts'
import { instantSeconds, parseInstant, pick, pickNumeral, pickObject, pickText } from '../decode/value.ts'
import type { Found, JsonObject, Message, Place, TransactionFacts } from '../ports.ts'
import type { Sighting, Stated } from '../protocol.ts'
import type { Reading } from '../reading.ts'
import { readField } from '../wire/http.ts'
import { aboutOf, type AcpSights, readVersion } from './detect.ts'
import type { AcpFacts } from './facts.ts'

/** Whatever the operation: what is not part of it is null. */
export function readAcp({ sights }: Sighting<AcpSights>, { message, http }: Reading): AcpFacts {
  const { path, args, document } = sights
  const meta = pickObject(args, 'meta')
  const timestamp = pickText(meta, 'timestamp') ?? readField(message, 'timestamp')
  const allowance = pickObject(document, 'allowance')
  const allowed = allowance === null ? null : readAllowance(allowance)
  const about = aboutOf(sights, message)
  const inPath = path?.id == null ? null : { value: path.id, at: '/target' }
  const signature = readField(message, 'signature')
  return {
    resource: about.resource,
    operation: about.operation,
    answer: about.answer,
    apiVersion: readVersion(message, sights),
    idempotencyKey: pickText(meta, 'idempotency_key') ?? http.idempotencyKey,
    requestId: pickText(meta, 'request_id') ?? http.requestId,
    timestamp,
    timestampMs: parseInstant(timestamp?.value),
    // A signature with Signature-Input belongs to RFC 9421.
    signature: judgeCredential(
      pick(meta, 'signature') ?? (message.header('signature-input') === undefined ? signature : null),
    ),
    sessionId:
      inPath ?? pickText(args, 'id') ?? pickText(args, 'checkout_session_id') ?? allowed?.sessionId ?? null,
    handlerId: pickText(document, 'payment_data', 'handler_id'),
    currency: pickText(document, 'currency'),
    authenticated: about.resource === 'authentication' ? readAuthenticated(document) : null,
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

const readAuthenticated = (document: Found<JsonObject> | null): AcpFacts['authenticated'] => ({
  amount: pickNumeral(document, 'amount', 'value'),
  currency: pickText(document, 'amount', 'currency'),
  merchantId: pickText(document, 'merchant_id'),
  notificationUrl: pickText(document, 'challenge_notification_url'),
})

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

/** The facts that policy asks of any transaction, out of ACP: the allowance's maximum, else the total of the checkout. */
export function summariseAcp({ facts, layer }: Stated<AcpFacts>): TransactionFacts {
  const { allowance, authenticated } = facts
  const total = readTotal(layer.document ?? null)
  const amount = allowance?.maxAmount ?? authenticated?.amount ?? total
  const currency = allowance?.currency ?? authenticated?.currency ?? facts.currency
  return {
    amount,
    amountIsInteger: amount?.isInteger === true,
    currency: currency && { value: currency.value.toUpperCase(), at: currency.at },
    asset: null,
    network: null,
    scheme: null,
    payee: allowance?.merchantId ?? authenticated?.merchantId ?? null,
    payer: null,
    resource: allowance?.sessionId ?? facts.sessionId,
    notBefore: null,
    expiresAt: instantSeconds(allowance?.expiresAt ?? null),
    nonce: null,
    idempotencyKey: facts.idempotencyKey,
    credentials: [...facts.credentials, ...(facts.signature === null ? [] : [facts.signature.at])],
  }
}
