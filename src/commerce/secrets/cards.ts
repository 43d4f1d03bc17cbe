// Card numbers and their verification codes. Little enough is in either to be guessed from a digest: what is told of a number
// are its last four digits, and of a code nothing.
import { isCodeName } from '../decode/names.ts'
import type { Text } from '../ports.ts'
import { type Label, labelAt } from './card-words.ts'

export interface CardFound {
  readonly kind: 'card_number' | 'card_verification_code'
  readonly text: Text
  /** Null of a code. */
  readonly last4: string | null
  /** Never to be shown. */
  readonly value: string
  /** What the text around it says that it is. */
  readonly says: Label | undefined
}

const MAX_FOUND = 64
/** Numbers whose words are looked at: some 15 µs each. */
const MAX_LOOKS = 512
const MIN_DIGITS = 13
/** Spaces and hyphens, those of typesetters too. */
const JOINT = String.raw`[ \-\u00a0\u2007\u2009\u2010\u2011\u2013\u202f]`
const JOINTS = new RegExp(JOINT)
/** Groups of digits with one joint between them. */
const GROUPS = new RegExp(String.raw`\d+(?:${JOINT}\d+)*`, 'g')
/** Every way to write a card has 13 of its digits in a row, or two groups of four. */
const HOLDS_DIGITS = new RegExp(String.raw`\d{13}|\d{4}${JOINT}\d{4}`)
const isCode = (text: string): boolean => /^\d{3,4}$/.test(text)

const CARD_NAME = /^(?:number|pan|card|ccnum)$|card_?(?:number|no|num|pan)|account_?number/i
/** Whole numbers that are long by nature. */
const LONG_NAME =
  /amount|value|price|total|nonce|deadline|timestamp|expir|valid|created|updated|chain|block|balance|supply|gas|^(?:min|max|iat|exp|nbf|t)$/i

/**
 * Finds at most 64 numbers and codes of what may be cards, and 64 more of those that are called that: no flood of numbers of orders
 * covers one.
 */
export function findCards(texts: readonly Text[]): CardFound[] {
  const found: CardFound[] = []
  let [said, unsaid, looks] = [0, 0, 0]
  const add = (card: CardFound, isSaid: boolean) => {
    if ((isSaid ? said : unsaid) >= MAX_FOUND) return
    if (isSaid) said++
    else unsaid++
    found.push(card)
  }
  for (const text of texts) {
    const { value, name, isName } = text
    if (value.length < MIN_DIGITS) {
      if (!isName && isCode(value) && isCodeName(name))
        add({ kind: 'card_verification_code', text, last4: null, value, says: undefined }, true)
    } else if (holdsDigits(value) && !(LONG_NAME.test(name) && /^\d+$/.test(value))) {
      const isCardField = CARD_NAME.test(name)
      for (const { digits, written, at } of findNumbers(value, isCardField)) {
        const says = labelAt(value, at, at + written.length)
        add(
          { kind: 'card_number', text, last4: digits.slice(-4), value: written, says },
          isCardField || says === 'card',
        )
        if (said >= MAX_FOUND || ++looks >= MAX_LOOKS) return found
      }
    }
  }
  return found
}

/** Whether a text may hold the number of a card at all. */
export const holdsDigits = (text: string): boolean => HOLDS_DIGITS.test(text)

export interface CardNumber {
  readonly digits: string
  readonly written: string
  /** Index in its text. */
  readonly at: number
}

/** The first card number in a text. */
export const findNumber = (text: string, isCardField: boolean): CardNumber | undefined =>
  holdsDigits(text) ? (findNumbers(text, isCardField).next().value ?? undefined) : undefined

/** The card numbers in a text, one of each row of digits. */
function* findNumbers(text: string, isCardField: boolean): Generator<CardNumber, undefined> {
  for (const match of text.matchAll(GROUPS)) {
    const [row] = match
    const end = match.index + row.length
    if (IS_WORDISH_BEFORE.test(text.slice(Math.max(0, match.index - 2), match.index))) continue
    if (IS_WORDISH_BEHIND.test(text.slice(end, end + 2))) continue
    const number = judgeGroups(row, isCardField)
    if (number !== undefined) yield { ...number, at: match.index + number.at }
  }
}

/** Part of a word, of hexadecimal or of a decimal fraction. */
const IS_WORDISH_BEFORE = /(?:[A-Za-z_]|\d\.)$/
const IS_WORDISH_BEHIND = /^(?:[A-Za-z_]|\.\d)/

/** How cards are written in groups: 4-4-4-4(-3), 4-6-5 and 4-6-4. */
const SHAPES = [
  [4, 4, 4, 4, 3],
  [4, 4, 4, 4],
  [4, 6, 5],
  [4, 6, 4],
]

/** @param row groups of digits with one joint between them */
function judgeGroups(row: string, isCardField: boolean): CardNumber | undefined {
  const groups = row.split(JOINTS)
  let start = 0
  for (const [first, group] of groups.entries()) {
    if (group.length >= 13 && group.length <= 19 && isCardNumber(group, isCardField))
      return { digits: group, written: group, at: start }
    for (const shape of SHAPES) {
      if (!shape.every((size, offset) => groups[first + offset]?.length === size)) continue
      const digits = groups.slice(first, first + shape.length).join('')
      const written = row.slice(start, start + digits.length + shape.length - 1)
      if (isCardNumber(digits, true)) return { digits, written, at: start }
    }
    start += group.length + 1
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

/** Whether digits have the prefix, the length and the check digit of a brand. */
export function isCardNumber(digits: string, isCardField: boolean): boolean {
  return (
    (isCardField || isUsual(digits)) &&
    BRANDS.some(({ prefix, lengths }) => lengths.includes(digits.length) && prefix.test(digits)) &&
    passesLuhn(digits)
  )
}

/** Whether the last digit is the check digit of the others (ISO/IEC 7812-1, annex B). */
export function passesLuhn(digits: string): boolean {
  let sum = 0
  for (let index = 0; index < digits.length; index++) {
    const digit = digits.charCodeAt(digits.length - 1 - index) - 48
    const doubled = index % 2 === 0 ? digit : digit * 2
    sum += doubled > 9 ? doubled - 9 : doubled
  }
  return sum % 10 === 0
}
