// Card numbers and their verification codes. Little enough is in either to be guessed from a digest: what is told of a number
// are its last four digits, and of a code nothing.
import { isCodeName } from '../decode/names.ts'
import type { Text } from './texts.ts'

export interface CardFound {
  readonly kind: 'card_number' | 'card_verification_code'
  readonly text: Text
  /** Null of a code. */
  readonly last4: string | null
  /** Never to be shown. */
  readonly value: string
}

const MAX_FOUND = 64
const MIN_DIGITS = 13
/** Spaces and hyphens, those of typesetters too. A text that ends has none. */
const JOINTS = [' ', '-', '\u00a0', '\u2007', '\u2009', '\u2010', '\u2011', '\u2013', '\u202f']
const GROUP = 4
const isCode = (text: string): boolean => (text.length === 3 || text.length === 4) && /^\d+$/.test(text)

const CARD_NAME = /^(?:number|pan|card|ccnum)$|card_?(?:number|no|num|pan)|account_?number/i
/** Whole numbers that are long by nature. */
const LONG_NAME =
  /amount|value|price|total|nonce|deadline|timestamp|expir|valid|created|updated|chain|block|balance|supply|gas|^(?:min|max|iat|exp|nbf|t)$/i

export function findCards(texts: readonly Text[]): CardFound[] {
  const found: CardFound[] = []
  for (const text of texts) {
    if (found.length >= MAX_FOUND) break
    const { value, name, isName } = text
    if (value.length < MIN_DIGITS) {
      if (!isName && isCode(value) && isCodeName(name))
        found.push({ kind: 'card_verification_code', text, last4: null, value })
    } else if (holdsDigits(value) && !(LONG_NAME.test(name) && /^\d+$/.test(value))) {
      const number = findNumber(value, CARD_NAME.test(name))
      if (number !== undefined)
        found.push({ kind: 'card_number', text, last4: number.digits.slice(-4), value: number.written })
    }
  }
  return found
}

/**
 * Every way to write a card has 13 of its digits in a row, or two groups of four. Where one character in four is no digit, no
 * four lie around it.
 */
export function holdsDigits(text: string): boolean {
  for (let at = GROUP - 1; at < text.length; at += GROUP) {
    if (!isDigit(text, at)) continue
    let start = at
    while (isDigit(text, start - 1)) start--
    while (isDigit(text, at)) at++
    if (at - start >= MIN_DIGITS) return true
    if (at - start >= GROUP && isGroup(text, at + 1) && JOINTS.includes(text.charAt(at))) return true
  }
  return false
}

function isGroup(text: string, at: number): boolean {
  for (let i = 0; i < GROUP; i++) if (!isDigit(text, at + i)) return false
  return true
}

export interface CardNumber {
  readonly digits: string
  readonly written: string
}

/** The first card number in a text. One pass: groups of digits with one space or hyphen between them. */
export function findNumber(text: string, isCardField: boolean): CardNumber | undefined {
  // Where each group begins and ends, one after the other: a text may be nothing but groups.
  const bounds: number[] = []
  let index = 0
  while (index < text.length) {
    if (!isDigit(text, index)) {
      index++
      continue
    }
    const start = index
    bounds.length = 0
    for (;;) {
      const from = index
      while (isDigit(text, index)) index++
      bounds.push(from, index)
      const isJoined = isDigit(text, index + 1) && JOINTS.includes(text.charAt(index))
      if (!isJoined) break
      index++
    }
    if (isWordish(text, start - 1, -1) || isWordish(text, index, 1)) continue
    const number = judgeGroups(text, bounds, isCardField)
    if (number !== undefined) return number
  }
  return undefined
}

const isDigit = (text: string, index: number): boolean => {
  const code = text.charCodeAt(index)
  return code >= 48 && code <= 57
}

/** Part of a word, of hexadecimal or of a decimal fraction. */
function isWordish(text: string, index: number, direction: 1 | -1): boolean {
  const char = text[index]
  if (char === undefined) return false
  return /[A-Za-z_]/.test(char) || (char === '.' && isDigit(text, index + direction))
}

/** How cards are written in groups: 4-4-4-4(-3), 4-6-5 and 4-6-4. */
const SHAPES = [
  [4, 4, 4, 4, 3],
  [4, 4, 4, 4],
  [4, 6, 5],
  [4, 6, 4],
]

/** @param bounds where each group begins and ends */
function judgeGroups(text: string, bounds: readonly number[], isCardField: boolean): CardNumber | undefined {
  const groups = bounds.length / 2
  const sizeOf = (group: number) =>
    group < groups ? bounds[2 * group + 1]! - bounds[2 * group]! : Number.NaN
  const cut = (first: number, count: number): CardNumber => {
    const written = text.slice(bounds[2 * first], bounds[2 * (first + count) - 1])
    return { written, digits: written.replaceAll(/\D/g, '') }
  }
  for (let first = 0; first < groups; first++) {
    const size = sizeOf(first)
    if (size >= 13 && size <= 19) {
      const number = cut(first, 1)
      if (isCardNumber(number.digits, isCardField)) return number
    }
    // Every shape begins with four.
    if (size !== 4) continue
    for (const shape of SHAPES)
      if (shape.every((wanted, offset) => sizeOf(first + offset) === wanted)) {
        const number = cut(first, shape.length)
        if (isCardNumber(number.digits, true)) return number
      }
  }
  return undefined
}

/** Prefixes of the brands with the lengths of their numbers. */
const BRANDS: readonly { readonly prefix: RegExp; readonly lengths: readonly number[] }[] = [
  { prefix: /^4/, lengths: [13, 16, 19] },
  { prefix: /^(?:5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720|220[0-4])/, lengths: [16] },
  { prefix: /^3[47]/, lengths: [15] },
  { prefix: /^(?:6011|64[4-9]|65|62)/, lengths: [16, 17, 18, 19] },
  { prefix: /^35(?:2[89]|[3-8])/, lengths: [16, 17, 18, 19] },
  { prefix: /^(?:30[0-5]|36|38|39)/, lengths: [14, 16] },
  { prefix: /^(?:50[123][08]|5893|6304|6759|676[1-3])/, lengths: [13, 14, 15, 16, 17, 18, 19] },
]

/** Numbers of unusual lengths are as often ids: they count under the name of a card only. */
const isUsual = (digits: string) => digits.length >= 14 && digits.length <= 16

export function isCardNumber(digits: string, isCardField: boolean): boolean {
  return (
    (isCardField || isUsual(digits)) &&
    BRANDS.some(({ prefix, lengths }) => lengths.includes(digits.length) && prefix.test(digits)) &&
    passesLuhn(digits)
  )
}

export function passesLuhn(digits: string): boolean {
  let sum = 0
  for (let index = 0; index < digits.length; index++) {
    const digit = digits.charCodeAt(digits.length - 1 - index) - 48
    const doubled = index % 2 === 0 ? digit : digit * 2
    sum += doubled > 9 ? doubled - 9 : doubled
  }
  return sum % 10 === 0
}
