// Finds the payments of a transaction. Reads no more of a document than what says whose it is; what it means is the
// merchant's business, and which protocols the transaction speaks is told by transaction-check.ts.
import { isObject, parseJson } from '../lib/json.ts'
import { decodeUtf8 } from '../lib/utf8.ts'
import type { HeaderPairs } from './headers.ts'

/** A payment: its rail, the place where it was found, and as much as could be read of it. */
export interface FoundPayment {
  readonly rail: 'x402' | 'mpp' | 'ucp' | 'acp'
  /** A header name, or `body`. */
  readonly at: string
  /** Undefined where it does not decode. */
  readonly document: JsonObject | undefined
}

export type JsonObject = Readonly<Record<string, unknown>>

/** More than any payment needs. */
const MAX_PAYMENT_DEPTH = 16

/** Every payment that the request carries, in headers and body, of whatever protocol. */
export function findPayments(request: {
  readonly headers: HeaderPairs
  /** The body, where it is JSON. */
  readonly json: unknown
}): FoundPayment[] {
  return [...paymentsInHeaders(request.headers), ...paymentsInBody(request.json)]
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

/** Looks into the body itself and into what MCP and A2A wrap it in. */
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

/** Base64 in either alphabet, padded or not, of a JSON object in UTF-8. Whether it has a member twice is asked by detection. */
export function decodeDocument(text: string): JsonObject | undefined {
  if (!/^(?:[\w+/-]{4})*(?:[\w+/-]{2}(?:==)?|[\w+/-]{3}=?)?$/.test(text)) return undefined
  const json = decodeUtf8(Buffer.from(text, 'base64'))
  if (json === undefined) return undefined
  try {
    const value = parseJson(json, MAX_PAYMENT_DEPTH)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** An own member of an object; undefined of anything else. */
export const member = (value: unknown, name: string): unknown =>
  isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
