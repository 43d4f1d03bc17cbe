// Prices as exact decimals: from the many ways in which shops write them, without floating point and without rounding.
import type { Money } from '../../../schemas/product-offers.ts'
import { exponentOf, namesCurrency } from './currencies.ts'

export interface ReadAmount {
  /** Plain decimal: digits and at most one point. */
  readonly amount: string
  /** Whether `1.234` is a thousand or a little more than one could not be told; the likelier reading was taken. */
  readonly isAmbiguous: boolean
  /** A higher number follows, as in `12.50 - 15.00`. */
  readonly isRange: boolean
}

const MAX_TEXT_CHARACTERS = 200
const MAX_WHOLE_DIGITS = 15
/** A double is written with so many digits: `19.990000000000002` is what shops that calculate say. */
const MAX_FRACTION_DIGITS = 20
/** It stands between the two numbers of a range. */
const RANGE = /^\s*(?:\p{Sc}|[a-z]{3})?\s*(?:[-–—]|to|bis|à|الى|إلى)\s*(?:\p{Sc}|[a-z]{3})?\s*(?=[\d.,])/iu

/** One number: digits with separators; a space belongs to it only where three digits follow. */
const NUMBER = /(?:\d|[.,]\d)(?:\d|[.,'’´٫٬](?=\d)|[ \u00a0\u2009\u202f](?=\d{3}(?!\d)))*/

// Currencies where a comma before three digits groups thousands, and where a point does.
const COMMA_GROUPS = new Set(
  'USD GBP AUD NZD CAD HKD SGD INR PKR LKR PHP THB MYR TWD CNY JPY KRW ILS AED SAR QAR EGP ZAR KES NGN MXN BDT'.split(
    ' ',
  ),
)
const POINT_GROUPS = new Set('BRL ARS CLP COP UYU IDR VND TRY DKK RON RSD ISK PYG CRC'.split(' '))

/**
 * The first number of a text.
 * @param options.isData stands where schema.org wants a point as the decimal sign: an attribute, a JSON string or number
 * @param options.currency settles what a lone separator before three digits means
 */
export function readAmount(
  text: string,
  options: { isData: boolean; currency: string | null },
): ReadAmount | null {
  const { plain, isDoubtful } = closeGap(toAsciiDigits(text.slice(0, MAX_TEXT_CHARACTERS)), options.currency)
  const match = NUMBER.exec(plain)
  if (!match) return null
  // A price is not negative, and `-10 %` or `1e21` is no price.
  const before = plain.slice(0, match.index)
  const after = plain.slice(match.index + match[0].length)
  if (/[-−]\s*$/.test(before) || /^(?:e[+-]?\d|\s*%)/i.test(after)) return null
  // `19.99 200 g`: what does not fit together as one number is two.
  const [first = ''] = match[0].split(/\s/)
  const split = splitNumber(match[0], options) ?? splitNumber(first, options)
  if (!split) return null
  const whole = split.whole.replace(/^0+(?=\d)/, '') || '0'
  if (whole.length > MAX_WHOLE_DIGITS || split.fraction.length > MAX_FRACTION_DIGITS) return null
  const amount = split.fraction === '' ? whole : `${whole}.${split.fraction}`
  return { amount, isAmbiguous: split.isAmbiguous || isDoubtful, isRange: isBelow(amount, after, options) }
}

/** `118 ,99` and `118, 99`: a decimal sign with a space beside it, and two digits that no other number goes on with. */
const GAP = /(\d)(?:\s{1,2}([.,٫])\s{0,2}|([.,٫])\s{1,2}|(\s))(\d\d?)(?!\d|\s{0,2}[.,'’´٫٬]?\s{0,2}\d)/
const ONLY_DIGITS = /^[\d\s.,'’´٫٬]*$/

/**
 * Shops leave a space inside a number: `118, 99 TL`, `1 299, 00 kr`. It is closed where a currency stands at the number; elsewhere
 * `38, 40` may be two numbers, so the first one is read as ever, and doubted.
 */
function closeGap(text: string, currency: string | null): { plain: string; isDoubtful: boolean } {
  const gap = GAP.exec(text)
  if (!gap) return { plain: text, isDoubtful: false }
  const [all, head = '', spacedSign, signBefore, space, cents = ''] = gap
  const start = text.search(/\d/)
  const before = text.slice(0, start)
  const after = text.slice(gap.index + all.length)
  // The gap is in another number.
  if (!ONLY_DIGITS.test(text.slice(start, gap.index))) return { plain: text, isDoubtful: false }
  // A list.
  if (/[.,٫]\s/.test(text.slice(start, gap.index))) return { plain: text, isDoubtful: true }
  const isBare = !/[\p{L}\p{N}]/u.test(before + after)
  const isMoney =
    namesCurrency(/^\P{N}{0,12}/u.exec(after)?.[0] ?? '') ||
    (namesCurrency(before.slice(-12)) && !/[\p{L}\p{N}]/u.test(after))
  if (space !== undefined) {
    // `118 99 TL`: cents that were raised, most likely. Whoever has no cents has no such number.
    const hasCents =
      isMoney &&
      cents.length === 2 &&
      exponentOf(currency ?? '') === 2 &&
      !/[.,٫]/.test(text.slice(start, gap.index))
    if (!hasCents) return { plain: text, isDoubtful: false }
    return { plain: `${text.slice(0, gap.index)}${head}.${cents}${after}`, isDoubtful: true }
  }
  if (!isMoney && !isBare) return { plain: text, isDoubtful: spacedSign === undefined }
  const isWhole = !/[\p{L}\p{N}]/u.test(after.replace(/^\s*(?:\p{Sc}|\p{L}{1,4}\.?(?=\s|$))/u, ''))
  return {
    plain: `${text.slice(0, gap.index)}${head}${spacedSign ?? signBefore ?? ''}${cents}${after}`,
    isDoubtful: cents.length === 1 || (spacedSign === undefined && !isWhole),
  }
}

/** The second number is an amount and the greater one: `19.99 - 20 %` is no range, and neither is `2-1`. */
function isBelow(amount: string, after: string, options: Parameters<typeof readAmount>[1]): boolean {
  const between = RANGE.exec(after)
  const upper = between && readAmount(after.slice(between[0].length), options)
  return upper ? compareAmounts(amount, upper.amount) < 0 : false
}

interface Split {
  readonly whole: string
  readonly fraction: string
  readonly isAmbiguous: boolean
}

function splitNumber(
  number: string,
  { isData, currency }: { isData: boolean; currency: string | null },
): Split | null {
  const parts = number.split(/[^\d]/)
  const separators = number.replace(/\d/g, '')
  const last = separators.at(-1)
  const decimal = (isAmbiguous = false): Split => ({
    whole: parts.slice(0, -1).join(''),
    fraction: parts.at(-1) ?? '',
    isAmbiguous,
  })
  const grouped = (isAmbiguous = false): Split => ({ whole: parts.join(''), fraction: '', isAmbiguous })
  if (last === undefined) return grouped()
  const kinds = new Set(separators.replace(/[\s'’´٬]/g, "'"))
  if (last === '٫') return separators.indexOf('٫') === separators.length - 1 ? decimal() : null
  if (kinds.size > 1) {
    const isOnce = separators.indexOf(last) === separators.length - 1
    return isOnce && !isSpacer(last) && areGroups(parts.slice(0, -1), separators.charAt(0)) ? decimal() : null
  }
  if (isSpacer(last) || separators.length > 1) return areGroups(parts, last) ? grouped() : null
  const [head = '', tail = ''] = parts
  if (tail.length !== 3 || head.length > 3 || /^0*$/.test(head)) return decimal()
  return loneSeparator({ sign: last, isData, currency, decimal, grouped })
}

/** `1.234` or `1,234`: the currency knows, the place knows, or nobody does. */
function loneSeparator(of: {
  sign: string
  isData: boolean
  currency: string | null
  decimal: (isAmbiguous?: boolean) => Split
  grouped: (isAmbiguous?: boolean) => Split
}): Split {
  const { sign, isData, currency, decimal, grouped } = of
  const exponent = currency === null ? undefined : exponentOf(currency)
  if (exponent === 0) return grouped(isData && sign === '.')
  if (exponent === 3) return sign === '.' ? decimal() : decimal(true)
  if (isData && sign === '.') return decimal(true)
  const isSure = currency !== null && (sign === ',' ? COMMA_GROUPS : POINT_GROUPS).has(currency)
  return grouped(!isSure)
}

const isSpacer = (sign: string) => /[\s'’´٬]/.test(sign)

/** Thousands, or lakhs as in `1,23,456`. */
function areGroups(parts: readonly string[], sign: string): boolean {
  const [first = '', ...others] = parts
  if (others.length === 0) return true
  if (!/^\d{1,3}$/.test(first) || others.at(-1)?.length !== 3) return false
  if (others.every((part) => part.length === 3)) return true
  return sign === ',' && first.length <= 2 && others.slice(0, -1).every((part) => part.length === 2)
}

/** Digits of every script, and full-width forms, as ASCII. */
export const toAsciiDigits = (text: string): string =>
  /[\u0080-\uffff]/.test(text)
    ? text
        .replace(/\p{Nd}/gu, digitValue)
        .replace(/．/g, '.')
        .replace(/，/g, ',')
    : text

const IS_DIGIT = /^\p{Nd}$/u

function digitValue(digit: string): string {
  const code = digit.codePointAt(0) ?? 0
  if (code <= 0x39) return digit
  // Unicode keeps the ten digits of a script together; how many of them stand before this one is its value.
  let value = 0
  while (value < 9 && IS_DIGIT.test(String.fromCodePoint(code - value - 1))) value++
  return String(code >= 0x1d7ce && code <= 0x1d7ff ? (code - 0x1d7ce) % 10 : value)
}

/** Whole minor units; null where the amount has more decimals than the currency. */
export function toMinorUnits(amount: string, currency: string): string | null {
  const exponent = exponentOf(currency)
  const [whole = '0', fraction = ''] = amount.split('.')
  if (/[1-9]/.test(fraction.slice(exponent))) return null
  return BigInt(whole + fraction.slice(0, exponent).padEnd(exponent, '0')).toString()
}

/**
 * @param amount decimal digits with a point
 * @param raw as the page has it
 */
export function toMoney(amount: string, currency: string | null, raw: string): Money {
  return {
    amount,
    currency,
    minor_units: currency === null ? null : toMinorUnits(amount, currency),
    raw,
  }
}

/** Exact: as integers of the longer fraction. */
export function compareAmounts(a: string, b: string): number {
  const [wholeA = '0', fractionA = ''] = a.split('.')
  const [wholeB = '0', fractionB = ''] = b.split('.')
  const scale = Math.max(fractionA.length, fractionB.length)
  const [left, right] = [
    BigInt(wholeA + fractionA.padEnd(scale, '0')),
    BigInt(wholeB + fractionB.padEnd(scale, '0')),
  ]
  return left < right ? -1 : left > right ? 1 : 0
}

/** Whether a decimal amount is zero. */
export const isZero = (amount: string): boolean => /^[0.]*$/.test(amount)
