// Payments as text: the base64 headers of x402, and JSON that means one thing only. What it says is wire.ts's business.
import { GatewayError } from '../core/errors.ts'
import { countColons, parseJson } from '../lib/json.ts'
import { decodeUtf8 } from '../lib/utf8.ts'

/** A payment needs 1 to 2 kB, and proxies in front of us cut off what is larger than this. */
export const MAX_HEADER_CHARACTERS = 8192
const MAX_DEPTH = 16
const MAX_MEMBERS = 2000
const MAX_TEXT_CHARACTERS = 65_536

/** Standard alphabet, padded: base64url is another encoding, and whoever sends it reads another protocol. */
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/** @returns the refusal of a payment that cannot be read; `member` is a dotted path, '' for the payment as a whole */
export function paymentInvalid(member: string, problem: string, reason?: string): GatewayError {
  const pointer = member === '' ? '' : `/${member.replaceAll('.', '/')}`
  return new GatewayError('payment_invalid', `${member === '' ? 'The payment' : member} ${problem}`, {
    ...(reason !== undefined && { reason }),
    extras: { fields: [{ pointer, message: problem }] },
  })
}

/**
 * Header of x402 -> JSON value that is safe to walk.
 * @throws {GatewayError} payment_invalid
 */
export function decodeHeader(header: string): unknown {
  if (header.length === 0) throw paymentInvalid('', 'is empty. Send base64 of the payment as JSON.')
  if (header.length > MAX_HEADER_CHARACTERS)
    throw paymentInvalid('', `is larger than ${MAX_HEADER_CHARACTERS} characters.`)
  if (!BASE64.test(header))
    throw paymentInvalid(
      '',
      'is not base64. Use the standard alphabet (+ and /) with padding, not base64url.',
    )
  return parsePayment(decodeText(Buffer.from(header, 'base64')))
}

function decodeText(bytes: Uint8Array): string {
  const text = decodeUtf8(bytes)
  if (text === undefined) throw paymentInvalid('', 'is not UTF-8.')
  return text
}

/** @throws {GatewayError} payment_invalid */
function parsePayment(text: string): unknown {
  let value: unknown
  try {
    value = parseJson(text, MAX_DEPTH)
  } catch (thrown) {
    const isDeep = thrown instanceof GatewayError && thrown.code === 'json_too_deep'
    throw paymentInvalid('', isDeep ? `is nested deeper than ${MAX_DEPTH}.` : 'is not valid JSON.')
  }
  // Every member has one colon; a key that is there twice is one member of the value but two colons of the text.
  if (assertPlain(value) !== countColons(text))
    throw paymentInvalid('', 'has a member twice. Two readers could take two different payments from it.')
  return value
}

/**
 * A JSON value from anywhere (a body, `_meta`) is bounded and has no way to surprise whoever reads it.
 * @returns how many object members it has
 * @throws {GatewayError} payment_invalid
 */
export function assertPlain(value: unknown): number {
  let members = 0
  let nodes = 0
  let characters = 0
  const text = (part: string) => {
    characters += part.length
    if (characters > MAX_TEXT_CHARACTERS) throw paymentInvalid('', 'is too large.')
    if (!part.isWellFormed()) throw paymentInvalid('', 'contains half of a surrogate pair.')
    // Databases do not hold it.
    if (part.includes('\0')) throw paymentInvalid('', 'contains the character U+0000.')
  }
  const walk = (part: unknown, depth: number): void => {
    if (++nodes > MAX_MEMBERS) throw paymentInvalid('', 'has too many members.')
    if (depth > MAX_DEPTH) throw paymentInvalid('', `is nested deeper than ${MAX_DEPTH}.`)
    if (typeof part === 'string') return text(part)
    if (typeof part === 'number') {
      if (!Number.isFinite(part)) throw paymentInvalid('', 'contains a number that is out of range.')
      return
    }
    if (part === null || typeof part === 'boolean') return
    if (typeof part !== 'object') throw paymentInvalid('', 'is not JSON.')
    if (Array.isArray(part)) return part.forEach((item) => walk(item, depth + 1))
    for (const key of Object.keys(part)) {
      if (key === '__proto__') throw paymentInvalid('', 'has a member named __proto__.')
      members++
      text(key)
      walk((part as Record<string, unknown>)[key], depth + 1)
    }
  }
  walk(value, 1)
  return members
}

/** `Payment-Required` and `Payment-Response`: base64 of JSON text. */
export const encodeHeader = (json: string): string => Buffer.from(json, 'utf8').toString('base64')
