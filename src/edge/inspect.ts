// The policy a transaction is held against before it is forwarded. Structure only: what two readers could understand
// differently, what pays for something else, and what would step around the merchant's consent is blocked; whatever else is
// remarkable is noted in the evidence. Where the operator wrote a policy of transactions, it holds here as well. One pure function over the message as it would go out.
import type { Policy } from '../commerce/policy/document.ts'
import { GatewayError } from '../errors.ts'
import { hasRepeatedMember, parseJson } from '../json.ts'
import { findToken } from '../tokens.ts'
import { asServersRead, type HeaderPairs } from './headers.ts'
import { findPayments, type FoundPayment, member } from './payments.ts'
import type { Finding, Inspection } from './ports.ts'
import { recognise } from './recognise.ts'

/** As it would be sent: raw path with its query, lower-case header names. */
export interface InspectedRequest {
  readonly method: string
  readonly host: string
  /** Host with its port, where it has one. */
  readonly authority?: string
  readonly path: string
  readonly headers: HeaderPairs
  readonly body: Buffer
}

/** What the operator wrote for the merchant's account, and when it is asked: milliseconds since the epoch. */
export interface InspectionRules {
  readonly policy: Policy
  readonly now: number
}

/** Never throws. */
export function inspectTransaction(request: InspectedRequest, rules?: InspectionRules): Inspection {
  const body = readBody(request)
  const payments = findPayments({ headers: request.headers, json: body.json })
  const recognised = recognise({ ...request, text: body.text }, rules)
  return {
    protocols: [...new Set<string>([...payments.map(({ rail }) => rail), ...recognised.protocols])],
    findings: [
      ...body.findings,
      ...inspectHeaders(request.headers),
      ...inspectTokens(request),
      ...payments.flatMap((payment) => inspectPayment(payment, request.host)),
      ...inspectCount(payments),
      ...inspectIdempotency(request.headers, body.json),
      ...recognised.findings,
    ],
  }
}

const block = (rule: string, detail: string): Finding => ({ rule, blocks: true, detail })
const note = (rule: string, detail: string): Finding => ({ rule, blocks: false, detail })

const valuesOf = (headers: HeaderPairs, name: string) =>
  headers.filter(([other]) => other === name).map(([, value]) => value)

const JSON_TYPE = /^(?:application|text)\/(?:[\w.+-]+\+)?json *(?:;|$)/i
const utf8 = new TextDecoder('utf-8', { fatal: true })

/** JSON only where the message says so, in one way or another: a second Content-Type does not hide it. */
function readBody({ headers, body }: InspectedRequest): {
  json: unknown
  text?: string
  findings: Finding[]
} {
  const isJson = valuesOf(headers, 'content-type').some((type) => JSON_TYPE.test(type.trim()))
  if (!isJson) return { json: undefined, findings: [] }
  if (body.length === 0)
    return { json: undefined, findings: [note('json_empty', 'The body says it is JSON and is empty.')] }
  if (valuesOf(headers, 'content-encoding').some((coding) => !/^\s*(?:identity)?\s*$/i.test(coding)))
    return {
      json: undefined,
      findings: [note('body_encoded', 'The body has a Content-Encoding, so it was not looked into.')],
    }
  try {
    const text = utf8.decode(body)
    const json = parseJson(text)
    const findings = hasRepeatedMember(text, json)
      ? [
          block(
            'json_repeated_member',
            'Name every member of the JSON body once: readers differ on which counts.',
          ),
        ]
      : []
    return { json, text, findings }
  } catch (thrown) {
    const isDeep = thrown instanceof GatewayError && thrown.code === 'json_too_deep'
    return {
      json: undefined,
      findings: [
        isDeep
          ? block('json_too_deep', 'Nest the JSON body at most 32 deep.')
          : block('json_invalid', 'The Content-Type says JSON: send a body that is JSON in UTF-8.'),
      ],
    }
  }
}

/** Of which a message has one. Who reads the other one reads another transaction. */
const PAYING_HEADERS = new Set([
  'authorization',
  'idempotency-key',
  'payment-authorization',
  'payment-signature',
  'x-payment',
])
const SINGLE_HEADERS = new Set(['content-encoding', 'content-type', 'signature', 'timestamp', 'ucp-agent'])
/** Frameworks take these for the path or the method, which is what the merchant's consent is about. */
const OVERRIDES = new Set([
  'x-http-method',
  'x-http-method-override',
  'x-method-override',
  'x-original-url',
  'x-rewrite-url',
])

function inspectHeaders(headers: HeaderPairs): Finding[] {
  const seen = new Set<string>()
  const findings: Finding[] = []
  for (const [name] of headers) {
    const read = asServersRead(name)
    if (OVERRIDES.has(read))
      findings.push(
        block('route_overridden', `Leave out ${name}: path and method are those of the request itself.`),
      )
    if (read !== name && PAYING_HEADERS.has(read))
      findings.push(block('payment_header_disguised', `Write ${read} with hyphens, or leave it out.`))
    if (seen.has(name) && PAYING_HEADERS.has(name))
      findings.push(block('payment_header_repeated', `Send ${name} once.`))
    if (seen.has(name) && SINGLE_HEADERS.has(name))
      findings.push(note('header_repeated', `${name} is there more than once.`))
    seen.add(name)
  }
  return findings
}

/** In headers they are refused before; here the rest of the message. */
function inspectTokens({ path, body }: InspectedRequest): Finding[] {
  const isThere = findToken(path) || (body.includes('agw_') && findToken(body.toString('latin1')))
  return isThere
    ? [
        block(
          'gateway_token',
          'The address or the body holds a token of this gateway, which no merchant may see. Leave it out, and ask the ' +
            'operator for a new one if it was sent anywhere else.',
        ),
      ]
    : []
}

function inspectPayment({ rail, at, document }: FoundPayment, host: string): Finding[] {
  if (rail === 'x402' && !document)
    return [
      block('payment_unreadable', `Send ${at} as base64 of one JSON object in UTF-8, nothing in it twice.`),
    ]
  if (rail === 'mpp' && !document)
    return [note('payment_unreadable', `The credential in ${at} does not decode.`)]
  if (rail !== 'x402' || !document) return []
  const version = member(document, 'x402Version')
  const findings: Finding[] = []
  if ((at === 'x-payment' && version !== 1) || (at === 'payment-signature' && version !== 2))
    findings.push(note('payment_version', `${at} carries a payment of another version of x402.`))
  if (resourcesOf(document).some((resource) => namesAnotherHost(resource, host)))
    findings.push(
      block(
        'payment_other_host',
        'The x402 payment names a resource of another host: pay the offer of this merchant.',
      ),
    )
  return findings
}

/** v2 names it in the payment; clients of v1 copy the requirement that they accepted. */
function resourcesOf(document: unknown): unknown[] {
  const places = [document, member(document, 'accepted'), member(document, 'paymentRequirements')]
  return places.flatMap((place) => {
    const resource = member(place, 'resource')
    return [resource, member(resource, 'url')]
  })
}

/** What is no web address names no host. */
function namesAnotherHost(resource: unknown, host: string): boolean {
  if (typeof resource !== 'string' || !URL.canParse(resource, `https://${host}`)) return false
  const { protocol, hostname } = new URL(resource, `https://${host}`)
  return /^https?:$/.test(protocol) && hostname !== host
}

function inspectCount(payments: readonly FoundPayment[]): Finding[] {
  if (payments.length < 2) return []
  const rails = new Set(payments.map(({ rail }) => rail))
  // A header sent twice is told by its name already; two headers of one protocol are two payments all the same.
  return rails.size > 1
    ? [
        block(
          'payments_of_several_protocols',
          'Pay with one protocol: this request carries payments of several.',
        ),
      ]
    : [block('payment_repeated', 'Send one payment, in one place.')]
}

/** MCP bindings of the checkout protocols carry the key in the arguments too. */
function inspectIdempotency(headers: HeaderPairs, json: unknown): Finding[] {
  const [key] = valuesOf(headers, 'idempotency-key')
  const meta = member(member(member(json, 'params'), 'arguments'), 'meta')
  const inner = member(meta, 'idempotency-key') ?? member(meta, 'idempotency_key')
  if (key === undefined || typeof inner !== 'string' || unquoted(key) === unquoted(inner)) return []
  return [
    block('idempotency_conflict', 'The Idempotency-Key of the header and of the body differ: send one.'),
  ]
}

const unquoted = (key: string) => key.trim().replace(/^"(.*)"$/, '$1')
