// Compact JWS as text: header and payload, never verified. `#/header/…` and `#/payload/…` are places inside it.
import type { Found, Json, JsonObject, Place } from '../ports.ts'
import { readBase64Json } from './json.ts'
import { inside, isObject, pointer } from './value.ts'

/** A signature, token or proof by its form alone. */
export interface Credential {
  readonly at: Place
  readonly length: number
  /** Holds `...` or is one repeated character: an example's ellipsis. */
  readonly isPlaceholder: boolean
  readonly form: 'hex' | 'base64' | 'jws' | 'other'
  /** Bytes it stands for; null where the form does not tell. */
  readonly bytes: number | null
}

export interface Jws {
  readonly at: Place
  readonly header: Found<JsonObject>
  /** Null where it is detached (`a..b`). */
  readonly payload: Found<JsonObject> | null
  readonly signature: string
}

const COMPACT = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*\.[A-Za-z0-9_-]*$/

/** Undefined where the text is no JWS with a JSON payload. */
export function readJws(text: string, at: Place): Jws | undefined {
  if (!COMPACT.test(text)) return undefined
  const [head = '', body = '', signature = ''] = text.split('.')
  const header = readBase64Json(head)
  if (!header.ok || !isObject(header.value)) return undefined
  const base = inside(at)
  const found = { value: header.value, at: pointer(base, 'header') }
  if (body === '') return { at, header: found, payload: null, signature }
  const payload = readBase64Json(body)
  if (!payload.ok || !isObject(payload.value)) return undefined
  return { at, header: found, payload: { value: payload.value, at: pointer(base, 'payload') }, signature }
}

/** Form of a signature, token or proof. */
export function judgeCredential(found: Found<Json> | null): Credential | null {
  if (found === null || typeof found.value !== 'string' || found.value === '') return null
  const text = found.value
  const shape = { at: found.at, length: text.length, isPlaceholder: isPlaceholder(text) }
  if (/^0x[\dA-Fa-f]*$/.test(text))
    return { ...shape, form: 'hex', bytes: text.length % 2 === 0 ? text.length / 2 - 1 : null }
  if (text.includes('.') && COMPACT.test(text)) return { ...shape, form: 'jws', bytes: null }
  if (/^[A-Za-z0-9+/_-]+={0,2}$/.test(text))
    return { ...shape, form: 'base64', bytes: Math.floor((text.replace(/=+$/, '').length * 3) / 4) }
  return { ...shape, form: 'other', bytes: null }
}

/** Examples write an ellipsis, or one character again and again, where a real one has a value. */
export function isPlaceholder(text: string): boolean {
  if (text.includes('...') || text.includes('…') || /^<.*>$/.test(text)) return true
  return /^(?:0x)?([^])\1{3,}$/.test(text)
}
