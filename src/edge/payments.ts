// Which payment protocols a transaction speaks, and where in it a payment stands. Recognises by marks and reads no more of a
// document than what says whose it is; what it means is the merchant's business.
import { hasRepeatedMember, parseJson } from '../json.ts'
import type { HeaderPairs } from './headers.ts'

/** What a rail's payment was found in, and what could be read of it. */
export interface FoundPayment {
  readonly rail: 'x402' | 'mpp' | 'ucp' | 'acp'
  /** A header name, or `body`. */
  readonly at: string
  /** Undefined where it does not decode. */
  readonly document: JsonObject | undefined
}

export interface FoundPayments {
  /** Those that were recognised, paying or not. */
  readonly protocols: readonly string[]
  readonly payments: readonly FoundPayment[]
}

export type JsonObject = Readonly<Record<string, unknown>>

/** More than any payment needs. */
const MAX_PAYMENT_DEPTH = 16

export function findPayments(request: {
  readonly path: string
  readonly headers: HeaderPairs
  /** The body, where it is JSON. */
  readonly json: unknown
}): FoundPayments {
  const payments = [...paymentsInHeaders(request.headers), ...paymentsInBody(request.json)]
  const protocols = new Set<string>(payments.map(({ rail }) => rail))
  const named = new Set(request.headers.map(([name]) => name))
  const segments = request.path.replace(/\?.*$/, '').split('/')
  if (named.has('ucp-agent') || segments.includes('checkout-sessions')) protocols.add('ucp')
  if (segments.includes('checkout_sessions') || segments.includes('agentic_commerce')) protocols.add('acp')
  if (speaksAp2(request)) protocols.add('ap2')
  return { protocols: [...protocols], payments }
}

function paymentsInHeaders(headers: HeaderPairs): FoundPayment[] {
  return headers.flatMap(([name, value]): FoundPayment[] => {
    if (name === 'payment-signature' || name === 'x-payment')
      return [{ rail: 'x402', at: name, document: decodeDocument(value) }]
    const credential =
      name === 'authorization' || name === 'payment-authorization'
        ? /^payment +(.*)$/i.exec(value)?.[1]
        : undefined
    return credential === undefined
      ? []
      : [{ rail: 'mpp', at: name, document: decodeDocument(credential.trim()) }]
  })
}

/** Of the body itself and of what MCP and A2A wrap it in. */
function paymentsInBody(json: unknown): FoundPayment[] {
  const found: FoundPayment[] = []
  const add = (rail: FoundPayment['rail'], document: unknown) => {
    if (isObject(document)) found.push({ rail, at: 'body', document })
  }
  const params = member(json, 'params')
  const meta = member(params, '_meta')
  add('x402', member(meta, 'x402/payment'))
  add('x402', member(member(member(params, 'message'), 'metadata'), 'x402.payment.payload'))
  add('mpp', member(meta, 'org.paymentauth/credential'))
  for (const order of [json, member(params, 'arguments'), member(member(params, 'arguments'), 'payload')]) {
    const payment = member(order, 'payment')
    const instruments = member(payment, 'instruments')
    if (Array.isArray(instruments) && instruments.length > 0) add('ucp', payment)
    add('acp', member(order, 'payment_data'))
    if (isObject(member(order, 'allowance'))) add('acp', member(order, 'payment_method'))
  }
  return found
}

/** Mandates under their own names, alone, in a message of A2A, or beside a checkout; the extension alone is no mandate. */
function speaksAp2({ headers, json }: { headers: HeaderPairs; json: unknown }): boolean {
  const isActive = headers.some(
    ([name, value]) => /^(?:x-)?a2a-extensions$/.test(name) && /\/ap2\//i.test(value),
  )
  return isActive || hasMember(json, (name) => name.startsWith('ap2.mandates.') || MANDATES.has(name))
}

const MANDATES = new Set(['checkout_mandate', 'payment_mandate', 'payment_mandate_chain'])

function hasMember(value: unknown, matches: (name: string) => boolean): boolean {
  if (Array.isArray(value)) return value.some((item) => hasMember(item, matches))
  if (!isObject(value)) return false
  return Object.entries(value).some(([name, inner]) => matches(name) || hasMember(inner, matches))
}

/** Base64 in either alphabet, padded or not, of a JSON object in UTF-8 that has nothing twice. */
export function decodeDocument(text: string): JsonObject | undefined {
  if (!/^(?:[\w+/-]{4})*(?:[\w+/-]{2}(?:==)?|[\w+/-]{3}=?)?$/.test(text)) return undefined
  try {
    const json = utf8.decode(Buffer.from(text, 'base64'))
    const value = parseJson(json, MAX_PAYMENT_DEPTH)
    return isObject(value) && !hasRepeatedMember(json, value) ? value : undefined
  } catch {
    return undefined
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const member = (value: unknown, name: string): unknown =>
  isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
