// UCP: checkout over REST, MCP and A2A. A complete request carries no amount: it stands in the business's `totals`.
import { credentialPlaces, readTotal } from '../checkout.ts'
import { instantSeconds, isObject, member, pickList, pickObject, pickText } from '../decode/value.ts'
import { jsonBody } from '../message.ts'
import type { Found, JsonObject, TransactionFacts } from '../ports.ts'
import type { Sighting, Stated } from '../protocol.ts'
import type { Reading } from '../reading.ts'
import { readField } from '../wire/http.ts'
import type { Operation, UcpSights } from './detect.ts'
import type { UcpFacts } from './facts.ts'

/** Whatever the operation: what is not part of it is null. */
export function readUcp({ layer, sights }: Sighting<UcpSights>, { message, http }: Reading): UcpFacts {
  const { path, meta, args, document } = sights
  const instruments = [
    ...pickList(document, 'payment', 'instruments'),
    ...pickList(args, 'payment', 'instruments'),
    ...pickList(document, 'checkout', 'payment', 'instruments'),
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
    profile: sights.profile,
    idempotencyKey:
      pickText(meta, 'idempotency-key') ??
      http.idempotencyKey ??
      // Agents of a business tell a retry by the id of the message (checkout/a2a.md, Request Idempotency).
      (layer.transport === 'a2a' ? pickText(sights.envelope?.messages[0] ?? null, 'messageId') : null),
    requestId: pickText(meta, 'request-id') ?? http.requestId,
    checkoutId: id,
    version: pickText(pickObject(body, 'ucp') ?? pickObject(document, 'ucp'), 'version'),
    signature: http.signatures[0] ?? null,
    currency: pickText(document, 'currency'),
    total: readTotal(document),
    handlerId: pickText(selected, 'handler_id'),
    expiresAt: pickText(document, 'expires_at'),
    instruments,
    credentials: credentialPlaces(instruments),
    hasAp2: [document, args, body, ...(sights.envelope?.dataParts ?? [])].some((from) => hasAp2Member(from)),
    webhookId: readField(message, 'webhook-id'),
    openedUrl: layer.transport === 'embedded' ? pickText(args, 'url') : null,
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

/** The facts that policy asks of any transaction, out of UCP: the total of the checkout. */
export function summariseUcp({ facts }: Stated<UcpFacts>): TransactionFacts {
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
