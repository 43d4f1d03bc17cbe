// The policy a transaction is held against before it is forwarded: what two readers could understand differently, what pays for
// something else, what would step around the merchant's consent, and what /v1/inspect denies (rules.ts). Whatever else is
// remarkable is noted in the evidence. A finding has one name: where /v1/inspect has a code for it, that. One pure function over
// the message as it would go out.
import { readMessage } from '../commerce/message.ts'
import { relateHosts } from '../commerce/policy/domains.ts'
import type { Message } from '../commerce/ports.ts'
import { findToken } from '../lib/tokens.ts'
import { decodeUtf8 } from '../lib/utf8.ts'
import { readBody, type ReadBody } from './body.ts'
import { asServersRead, type HeaderPairs, valuesOf } from './headers.ts'
import { findPayments, type FoundPayment, member } from './payments.ts'
import { block, type Finding, type Inspection, note } from './ports.ts'
import { type InspectionRules, checkTransaction } from './transaction-check.ts'

/** A request as it would be sent: raw path with its query, lower-case header names. */
export interface InspectedRequest {
  readonly method: string
  readonly host: string
  /** Host with its port, where it has one. */
  readonly authority?: string
  readonly path: string
  readonly headers: HeaderPairs
  readonly body: Buffer
}

/** Never throws.
 * @returns the payment protocols that the transaction speaks, and one finding of each rule that it breaks
 */
export function inspectTransaction(request: InspectedRequest, rules: InspectionRules): Inspection {
  const read = readBody(request)
  const json = read.body.kind === 'json' ? read.body.value : undefined
  const payments = findPayments({ headers: request.headers, json })
  const checked = checkTransaction(toMessage(request, read), rules)
  const findings = [
    ...read.findings,
    ...inspectHeaders(request),
    ...inspectTokens(request, read),
    ...payments.flatMap((payment) => inspectPayment(payment, request.host)),
    ...inspectCount(payments),
    ...inspectIdempotency(request.headers, json),
    ...checked.findings,
  ]
  return {
    protocols: [...new Set<string>([...payments.map(({ rail }) => rail), ...checked.protocols])],
    findings: mergeByRule(findings),
  }
}

/** Keeps one finding of each name, in the words of the first that blocks: those of the edge say what to change. */
function mergeByRule(findings: readonly Finding[]): Finding[] {
  const merged = new Map<string, Finding>()
  for (const finding of findings) {
    const before = merged.get(finding.rule)
    if (before === undefined || (finding.blocks && !before.blocks)) merged.set(finding.rule, finding)
  }
  return [...merged.values()]
}

function toMessage(
  { method, host, authority = host, path, headers }: InspectedRequest,
  read: ReadBody,
): Message {
  const byName = Object.create(null) as Record<string, string[]>
  for (const [name, value] of headers) (byName[name] ??= []).push(asText(value))
  return readMessage({ target: `https://${authority}${path}`, method, headers: byName }, read.body)
}

/** A header comes one character a byte (RFC 9110, 5.5); servers that read UTF-8 in it see other letters, so those are judged. */
function asText(value: string): string {
  if (!/[\x80-\xff]/.test(value)) return value
  return decodeUtf8(Buffer.from(value, 'latin1')) ?? value
}

/** The headers that a payment or its key stands in. */
const PAYING_HEADERS = new Set([
  'authorization',
  'idempotency-key',
  'payment-authorization',
  'payment-signature',
  'x-payment',
])
/** Lists, by their definition; few senders make them of several fields. Fields that may be there once are HEADER_CONFLICT. */
const LIST_HEADERS = new Set(['content-encoding', 'signature'])
/** Frameworks take these for the path or the method, which is what the merchant's consent is about. */
const OVERRIDES = new Set([
  'x-http-method',
  'x-http-method-override',
  'x-method-override',
  'x-original-url',
  'x-rewrite-url',
])

function inspectHeaders({ headers, method, path }: InspectedRequest): Finding[] {
  const seen = new Set<string>()
  const findings: Finding[] = []
  for (const [name, value] of headers) {
    const read = asServersRead(name)
    // Saying the same again overrides nothing.
    if (OVERRIDES.has(read) && value !== method && value !== path)
      findings.push(
        block('route_overridden', `Leave out ${name}: path and method are those of the request itself.`),
      )
    if (read !== name && PAYING_HEADERS.has(read))
      findings.push(block('payment_header_disguised', `Write ${read} with hyphens, or leave it out.`))
    if (seen.has(name) && LIST_HEADERS.has(name))
      findings.push(note('header_repeated', `${name} is there more than once.`))
    seen.add(name)
  }
  return findings
}

/** Headers with tokens are refused before; this is about the rest of the message. */
function inspectTokens({ path, body }: InspectedRequest, read: ReadBody): Finding[] {
  // Tokens are ASCII: a text holds one where its bytes do, and is searched faster.
  const text = (read.body.kind === 'json' ? read.body.raw : undefined) ?? read.plain ?? body
  return [
    ...(findToken(path) ? [tokenIn('SECRET_IN_URL', 'address')] : []),
    ...(findToken(text) ? [tokenIn('SECRET_IN_BODY', 'body')] : []),
  ]
}

const tokenIn = (rule: 'SECRET_IN_URL' | 'SECRET_IN_BODY', where: string): Finding =>
  block(
    rule,
    `The ${where} holds a token or permit of this gateway, which no merchant may see. Leave it out, and ask the operator for a ` +
      'new one if it was sent anywhere else.',
  )

function inspectPayment({ rail, at, document }: FoundPayment, host: string): Finding[] {
  if (rail !== 'x402') return []
  if (!document) return [block('MALFORMED', `Send ${at} as base64 of one JSON object in UTF-8.`)]
  return resourcesOf(document).some((resource) => namesAnotherMerchant(resource, host))
    ? [
        block(
          'BINDING_HOST',
          'The x402 payment names a resource of another host: pay the offer of this merchant.',
        ),
      ]
    : []
}

/** v2 names it in the payment; clients of v1 copy the requirement that they accepted. */
function resourcesOf(document: unknown): unknown[] {
  const places = [document, member(document, 'accepted'), member(document, 'paymentRequirements')]
  return places.flatMap((place) => {
    const resource = member(place, 'resource')
    return [resource, member(resource, 'url')]
  })
}

/** Text that is no web address names no host. */
function namesAnotherMerchant(resource: unknown, host: string): boolean {
  const url = typeof resource === 'string' ? URL.parse(resource, `https://${host}`) : null
  if (url === null) return false
  const { protocol, hostname } = url
  return /^https?:$/.test(protocol) && hostname !== host && relateHosts(hostname, host) === 'other_owner'
}

function inspectCount(payments: readonly FoundPayment[]): Finding[] {
  if (payments.length < 2) return []
  const rails = new Set(payments.map(({ rail }) => rail))
  // A header sent twice is told by its name already; two headers of one protocol are two payments all the same.
  return rails.size > 1
    ? [block('DETECT-CONFLICT', 'Pay with one protocol: this request carries payments of several.')]
    : [block('DUPLICATE_PAYMENT', 'Send one payment, in one place.')]
}

/** MCP bindings of the checkout protocols carry the key in the arguments too. */
function inspectIdempotency(headers: HeaderPairs, json: unknown): Finding[] {
  const [key] = valuesOf(headers, 'idempotency-key')
  const meta = member(member(member(json, 'params'), 'arguments'), 'meta')
  const inner = member(meta, 'idempotency-key') ?? member(meta, 'idempotency_key')
  if (key === undefined || typeof inner !== 'string' || unquoted(key) === unquoted(inner)) return []
  return [
    block('HEADER_BODY_MISMATCH', 'The Idempotency-Key of the header and of the body differ: send one.'),
  ]
}

const unquoted = (key: string) => key.trim().replace(/^"(.*)"$/, '$1')
