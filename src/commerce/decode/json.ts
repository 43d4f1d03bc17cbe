// JSON and base64 from strangers, as states and never as exceptions.
import { hasRepeatedMember, parseJson } from '../../lib/json.ts'
import { decodeUtf8Document } from '../../lib/utf8.ts'
import { MAX_BODY_CHARS, MAX_DEPTH, type Json, type JsonObject, type Unreadable } from '../ports.ts'

export type Read<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly why: Unreadable }

const failed = (why: Unreadable): Read<never> => ({ ok: false, why })

const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/

/** JSON within the limits of size and depth; never throws. */
export function readJson(text: string): Read<Json> {
  if (text.length > MAX_BODY_CHARS) return failed('oversize')
  try {
    return { ok: true, value: parseJson(text, MAX_DEPTH) as Json }
  } catch (thrown) {
    // Its words are for callers of the gateway; only which of the two it was matters here.
    return failed((thrown as { code?: unknown }).code === 'json_too_deep' ? 'too_deep' : 'malformed')
  }
}

/** Either alphabet, padded or not, UTF-8 only. Undefined where it is not that. */
export function decodeBase64Text(text: string): string | undefined {
  const bytes = decodeBase64(text)
  return bytes && decodeUtf8Document(bytes)
}

/** Either alphabet, padded or not. Undefined where the text is no base64, or stands for no byte. */
export function decodeBase64(text: string): Buffer | undefined {
  if (!BASE64.test(text)) return undefined
  // A single character beyond a group of four stands for no byte.
  const characters = text.length - (text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0)
  if (characters === 0 || characters % 4 === 1) return undefined
  return Buffer.from(text, 'base64')
}

/**
 * Whether a member of it is named twice, so that two readers could read two things. Undecodable text is not ambiguous.
 * @param text base64 of JSON
 */
export function isAmbiguous(text: string, value: Json): boolean {
  const decoded = decodeBase64Text(text)
  return decoded !== undefined && isAmbiguousText(decoded, value)
}

/** Readers that tell no case apart, those of Go among them, take either of two members that differ in it alone. */
export const isAmbiguousText = (text: string, value: Json): boolean =>
  hasRepeatedMember(text, value) || hasTwins(value, 0)

const hasAlike = (names: readonly string[]): boolean =>
  new Set(names.map((name) => name.toLowerCase())).size < names.length

/** @param depth of what somebody parsed, and bounded by it; `extensions` at the top are nobody's payment */
function hasTwins(value: Json, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return value.some((item: Json) => hasTwins(item, depth + 1))
  return (
    hasAlike(Object.keys(value)) ||
    Object.entries(value as JsonObject).some(
      ([name, inner]) => !(depth === 0 && name === 'extensions') && hasTwins(inner, depth + 1),
    )
  )
}

/** JSON in base64, within the limits of `readJson`; never throws. */
export function readBase64Json(text: string): Read<Json> {
  if (text.length > MAX_BODY_CHARS) return failed('oversize')
  const decoded = decodeBase64Text(text)
  return decoded === undefined ? failed('malformed') : readJson(decoded)
}
