// Reading values that a stranger shaped: own members only, each with the place where it stands.
import { isObject as isAnyObject } from '../../lib/json.ts'
import type { Found, Json, JsonObject, Place } from '../ports.ts'

/** A number of the protocol, as text: JSON strings and JSON numbers alike. */
export interface Numeral extends Found<string> {
  /** Decimal digits without sign, fraction or exponent (as JSON number: a safe integer of 0 or more). */
  readonly isInteger: boolean
  readonly isNumber: boolean
}

export const isObject = isAnyObject<Json>

/** RFC 6901. A half surrogate has no place in JSON text. */
export function pointer(at: Place, ...keys: readonly (string | number)[]): Place {
  let place = at
  for (const key of keys) place += `/${typeof key === 'number' || PLAIN_KEY.test(key) ? key : escapeKey(key)}`
  return place
}

const PLAIN_KEY = /^[\w.-]*$/
const escapeKey = (key: string): string => key.toWellFormed().replaceAll('~', '~0').replaceAll('/', '~1')

/** The place of what is encoded at a place. */
export const inside = (at: Place): Place => `${at}#`

/** An own member of an object; undefined where it is not there or the value is no object. */
export const member = (value: unknown, key: string): Json | undefined =>
  isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined

/** The value at a path of members. */
export function pick(from: Found<Json> | null, ...path: readonly string[]): Found<Json> | null {
  if (from === null || path.length === 0) return from
  let value: Json | undefined = from.value
  for (const key of path) {
    value = member(value, key)
    if (value === undefined) return null
  }
  // Most members that are asked for are not there: a place is written for those that are.
  return { value, at: pointer(from.at, ...path) }
}

/** Text at a path of members; null where there is none or it is empty. */
export function pickText(from: Found<Json> | null, ...path: readonly string[]): Found<string> | null {
  const found = pick(from, ...path)
  return found !== null && typeof found.value === 'string' && found.value !== ''
    ? { value: found.value, at: found.at }
    : null
}

/** Object at a path of members; null where there is none. */
export function pickObject(from: Found<Json> | null, ...path: readonly string[]): Found<JsonObject> | null {
  const found = pick(from, ...path)
  return found !== null && isObject(found.value) ? { value: found.value, at: found.at } : null
}

/** Truth at a path of members; null where there is none. */
export function pickBoolean(from: Found<Json> | null, ...path: readonly string[]): Found<boolean> | null {
  const found = pick(from, ...path)
  return found !== null && typeof found.value === 'boolean' ? { value: found.value, at: found.at } : null
}

/** Finite number at a path of members; null where there is none. */
export function pickNumber(from: Found<Json> | null, ...path: readonly string[]): Found<number> | null {
  const found = pick(from, ...path)
  return found !== null && typeof found.value === 'number' && Number.isFinite(found.value)
    ? { value: found.value, at: found.at }
    : null
}

/** Lists of all protocols are shorter; what stands further back is left unread. */
const MAX_ITEMS = 256

/** Items of the list at a path of members, at most 256; none where there is no list. */
export function pickList(from: Found<Json> | null, ...path: readonly string[]): readonly Found<Json>[] {
  const found = pick(from, ...path)
  if (found === null || !Array.isArray(found.value)) return []
  const items = (found.value as readonly Json[]).slice(0, MAX_ITEMS)
  return items.map((value, index) => ({ value, at: pointer(found.at, index) }))
}

/** A number in any spelling, or text where a number should be. */
export function pickNumeral(from: Found<Json> | null, ...path: readonly string[]): Numeral | null {
  const found = pick(from, ...path)
  if (found === null) return null
  const { value, at } = found
  if (typeof value === 'number')
    return { value: String(value), at, isInteger: Number.isSafeInteger(value) && value >= 0, isNumber: true }
  if (typeof value !== 'string' || value === '') return null
  return { value, at, isInteger: isDigits(value), isNumber: false }
}

/** 78 digits at most are what 256 bits can hold. */
const isDigits = (text: string): boolean => text.length <= 78 && /^\d+$/.test(text)

/** Whole seconds since the epoch, where that is what it says. */
export function toSeconds(numeral: Numeral | null): Found<number> | null {
  if (numeral === null || !numeral.isInteger) return null
  const value = Number(numeral.value)
  return Number.isSafeInteger(value) ? { value, at: numeral.at } : null
}

const RFC_3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)$/

/** Milliseconds; null where the text is not RFC 3339. */
export function parseInstant(text: string | undefined): number | null {
  if (text === undefined || text.length > 40 || !RFC_3339.test(text)) return null
  const ms = Date.parse(text)
  return Number.isNaN(ms) ? null : ms
}

/** Seconds since the epoch of an RFC 3339 text; null where it is none. */
export function instantSeconds(found: Found<string> | null): Found<number> | null {
  const ms = parseInstant(found?.value)
  return found === null || ms === null ? null : { value: Math.floor(ms / 1000), at: found.at }
}
