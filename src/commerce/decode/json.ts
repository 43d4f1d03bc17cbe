// JSON and base64 from strangers, as states and never as exceptions.
import { parseJson } from '../../json.ts'
import { MAX_BODY_CHARS, MAX_DEPTH, type Json } from '../ports.ts'

export type Unreadable = 'malformed' | 'too_deep' | 'oversize'
export type Read<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly why: Unreadable }

const failed = (why: Unreadable): Read<never> => ({ ok: false, why })

const utf8 = new TextDecoder('utf-8', { fatal: true })
const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/

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
  if (bytes === undefined) return undefined
  try {
    return utf8.decode(bytes)
  } catch {
    return undefined
  }
}

export function decodeBase64(text: string): Buffer | undefined {
  if (text === '' || !BASE64.test(text)) return undefined
  // A single character beyond a group of four stands for no byte.
  if (text.replace(/=+$/, '').length % 4 === 1) return undefined
  return Buffer.from(text, 'base64')
}

export function readBase64Json(text: string): Read<Json> {
  if (text.length > MAX_BODY_CHARS) return failed('oversize')
  const decoded = decodeBase64Text(text)
  return decoded === undefined ? failed('malformed') : readJson(decoded)
}

/**
 * Whether a value that was parsed by others may be walked: depth and size as of its text. Arrays and objects only; iterative.
 */
export function checkValue(root: unknown): Unreadable | undefined {
  const stack: { readonly value: unknown; readonly depth: number }[] = [{ value: root, depth: 0 }]
  let chars = 0
  for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
    const { value, depth } = top
    if (typeof value === 'string') chars += value.length + 2
    else if (typeof value === 'object' && value !== null) {
      if (depth === MAX_DEPTH) return 'too_deep'
      const isList = Array.isArray(value)
      for (const key of isList ? value.keys() : Object.keys(value)) {
        if (!isList) chars += (key as string).length + 3
        stack.push({ value: (value as Record<string | number, unknown>)[key], depth: depth + 1 })
        if (++chars > MAX_BODY_CHARS) return 'oversize'
      }
    } else if (value !== null && typeof value !== 'number' && typeof value !== 'boolean') return 'malformed'
    else if (typeof value === 'number' && !Number.isFinite(value)) return 'malformed'
    if (chars > MAX_BODY_CHARS) return 'oversize'
  }
  return undefined
}
