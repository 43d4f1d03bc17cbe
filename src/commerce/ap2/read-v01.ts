// AP2 0.1: what its mandates have in common, wherever two releases of it put that.
import { instantSeconds, member, pick, pickText } from '../decode/value.ts'
import { readJws } from '../decode/jws.ts'
import type { Found, Json, JsonObject } from '../ports.ts'

const TOTALS = [
  ['payment_mandate_contents', 'payment_details_total', 'amount'],
  ['payment_mandate_contents', 'payment_details', 'total', 'amount'],
  ['contents', 'payment_request', 'details', 'total', 'amount'],
  ['payment_details', 'total', 'amount'],
  ['payment_details', 'amount'],
]

/** The total of a cart or payment: an object of currency and value, or a value alone. */
export const readV01Total = (document: Found<JsonObject>): Found<Json> | null =>
  TOTALS.map((path) => pick(document, ...path)).find((found) => found !== null) ?? null

/** Members that hold what a person or a merchant signed. */
export const AUTHORIZATIONS = ['user_authorization', 'merchant_authorization', 'merchant_signature'] as const

/** What was signed for a mandate, text by text. */
export const listAuthorizations = (mandate: Found<Json>): Found<string>[] =>
  AUTHORIZATIONS.flatMap((name) => pickText(mandate, name) ?? [])

/** Whether an authorization is a JWT, alone or at the head of a presentation. */
export const isReadable = ({ value, at }: Found<string>): boolean =>
  readJws(value.split('~', 1)[0] ?? '', at) !== undefined

/** When a mandate ends, by its own member and by what was signed for it. */
export const listV01Expiries = (mandate: Found<Json>): (Found<number> | null)[] => [
  instantSeconds(pickText(mandate, 'intent_expiry')),
  instantSeconds(pickText(mandate, 'contents', 'cart_expiry')),
  ...listAuthorizations(mandate).map(({ value, at }) => {
    const claims = readJws(value, at)?.payload ?? null
    const exp = member(claims?.value, 'exp')
    return claims !== null && typeof exp === 'number' ? { value: exp, at: `${claims.at}/exp` } : null
  }),
]
