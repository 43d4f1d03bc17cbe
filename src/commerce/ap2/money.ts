// Amounts of a mandate of 0.2 against the bounds that a person set. Mandates count minor units; the schema has `max` of a budget as any
// number, and the examples of the specification write bounds with a fraction, so those are in the currency itself.
import { compareIntegers } from '../compare.ts'
import type { Numeral } from '../decode/value.ts'
import type { Found } from '../ports.ts'
import type { Ap2Constraint, Judged } from './facts.ts'

export interface Paid {
  readonly amount: Numeral | null
  readonly currency: Found<string> | null
}

/** Decimals of the minor unit (ISO 4217) where they are not two. */
const NO_DECIMALS = new Set('BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF'.split(' '))
const THREE_DECIMALS = new Set('BHD IQD JOD KWD LYD OMR TND'.split(' '))

const decimalsOf = (currency: string): number =>
  NO_DECIMALS.has(currency) ? 0 : THREE_DECIMALS.has(currency) ? 3 : 2

const isOther = (one: Found<string> | null, other: Found<string> | null): boolean =>
  one !== null && other !== null && one.value.toUpperCase() !== other.value.toUpperCase()

/** `payment.amount_range`. */
export function judgeRange({ min, max, currency }: Ap2Constraint, { amount, currency: paid }: Paid): Judged {
  const type = 'payment.amount_range'
  if (amount === null) return ['unverifiable', `${type}: the mandate names no amount.`]
  if (isOther(currency, paid))
    return ['mismatch', 'The mandate pays in another currency than the range allows.']
  if (!amount.isInteger) return ['mismatch', 'An amount is no integer of the smallest unit.']
  const [low, high] = [min && compareIntegers(amount, min), max && compareIntegers(amount, max)]
  if (low === -1 || high === 1) return ['mismatch', 'The amount is outside the range.']
  if (isOverMajor(amount, max, paid)) return ['mismatch', 'The amount is outside the range.']
  if (low === undefined || high === undefined)
    return ['unverifiable', `${type}: a bound is no integer of the smallest unit.`]
  if (max === null) return ['unverifiable', `${type}: the range has no largest amount.`]
  if (currency === null || paid === null)
    return ['unverifiable', `${type}: nobody says which currency it is.`]
  return ['match', 'The amount is inside the range.']
}

/** `payment.budget`: more than all of it at once is certain; what was spent before, nobody here knows. */
export function judgeBudget({ max, currency }: Ap2Constraint, { amount, currency: paid }: Paid): Judged {
  if (isOther(currency, paid))
    return ['mismatch', 'The mandate pays in another currency than the budget has.']
  if (amount?.isInteger === true && isOverMajor(amount, max, paid))
    return ['mismatch', 'This payment alone is over the budget.']
  return ['unverifiable', 'payment.budget: what was spent under this mandate before is not known here.']
}

/** Whether minor units are more than a bound in the currency itself: then they are more in any reading of the bound. */
function isOverMajor(amount: Numeral, max: Numeral | null, currency: Found<string> | null): boolean {
  if (max === null || currency === null) return false
  const bound = Number(max.value)
  if (!Number.isFinite(bound)) return false
  return (
    bound < 0 || Number(amount.value) > Math.round(bound * 10 ** decimalsOf(currency.value.toUpperCase()))
  )
}
