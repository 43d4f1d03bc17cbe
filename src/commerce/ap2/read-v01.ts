// AP2 0.1: what its mandates have in common, wherever two releases of it put that.
import { instantSeconds, member, pick, pickText } from '../decode/value.ts'
import { type Jws, readJws } from '../decode/jws.ts'
import type { MandateKind } from '../decode/names.ts'
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
const AUTHORIZATIONS = ['user_authorization', 'merchant_authorization', 'merchant_signature'] as const

/** What was signed for a mandate. */
export interface Authorization extends Found<string> {
  /** The JWT, alone or at the head of a presentation; undefined where it is none. */
  readonly jws: Jws | undefined
}

/** A mandate of 0.1 with its authorizations, read once for all that ask. */
export interface MandateV01 {
  readonly kind: MandateKind
  readonly found: Found<Json>
  readonly authorizations: readonly Authorization[]
}

export const listAuthorizations = (mandate: Found<Json>): Authorization[] =>
  AUTHORIZATIONS.flatMap((name) => {
    const text = pickText(mandate, name)
    return text === null ? [] : [{ ...text, jws: readJws(text.value.split('~', 1)[0] ?? '', text.at) }]
  })

/** When a mandate ends, by its own member and by the JWTs that were signed for it. */
export const listV01Expiries = ({ found: mandate, authorizations }: MandateV01): (Found<number> | null)[] => [
  instantSeconds(pickText(mandate, 'intent_expiry')),
  instantSeconds(pickText(mandate, 'contents', 'cart_expiry')),
  ...authorizations.map(({ value, jws }) => {
    const claims = value.includes('~') ? null : (jws?.payload ?? null)
    const exp = member(claims?.value, 'exp')
    return claims !== null && typeof exp === 'number' ? { value: exp, at: `${claims.at}/exp` } : null
  }),
]
