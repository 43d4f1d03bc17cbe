// The checkout protocols write totals, instruments and ids in a path alike; they are read here.
import { member, type Numeral, pick, pickList, pickNumeral } from './decode/value.ts'
import type { Found, Json, JsonObject, Place } from './ports.ts'

/** What is done with a checkout and with a cart. */
export const CHECKOUT_STAGES = [
  'checkout.create',
  'checkout.get',
  'checkout.update',
  'checkout.complete',
  'checkout.cancel',
  'cart.create',
  'cart.get',
  'cart.update',
  'cart.cancel',
] as const

/** Minor units: the entry of `totals` with the type total. */
export function readTotal(checkout: Found<JsonObject> | null): Numeral | null {
  const total = pickList(checkout, 'totals').findLast((entry) => member(entry.value, 'type') === 'total')
  return total === undefined ? null : pickNumeral(total, 'amount')
}

/** Places of the tokens of payment instruments. */
export function credentialPlaces(instruments: readonly Found<Json>[]): Place[] {
  return instruments.flatMap((instrument) => {
    const credential = pick(instrument, 'credential')
    if (credential === null) return []
    const token = pick(credential, 'token')
    return [token?.at ?? credential.at]
  })
}

/** A segment of a path as a server reads it; as it is where its escapes are no UTF-8. */
export function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
