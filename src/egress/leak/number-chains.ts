// Finds where enough numbers follow one another to be bytes that are written one by one. Ordinary texts are full of numbers, so that this
// decides what they cost: it walks over four bytes at a time, looks at tokens with a digit alone, and counts for each way to write a byte
// by itself. A date may be four bytes of hexadecimal, and three of them are no run of decimal bytes.
import type { Region } from './squeeze.ts'

/** A stretch of letters and digits. */
export interface Token {
  readonly bytes: Uint8Array
  start: number
  end: number
  /** How many there were before it. */
  index: number
}

const DIGIT = 1
/** Digits of hexadecimal, and what stands before or behind some: `0x61`, `u0061`, `0o141`, `97u8`, `97L`. */
const LETTER = 2
export const OTHER = 4
/** What a byte is in a token; 0 where it is in none. */
export const KIND = new Uint8Array(256)
for (const byte of Buffer.from('0123456789')) KIND[byte] = DIGIT
for (const byte of Buffer.from('abcdefhiloux')) KIND[byte] = KIND[byte - 0x20] = LETTER
for (const byte of Buffer.from('gjkmnpqrstvwyz')) KIND[byte] = KIND[byte - 0x20] = OTHER

/** Fewer bytes are no piece of a secret, unless all of it is shorter. */
export const LEAST_BYTES = 12
/** What may stand between two numbers: `Chr(97) & Chr(98)`, or one on each line. */
export const MOST_WORDS_BETWEEN = 2
export const MOST_BYTES_BETWEEN = 32
/** Of one number: what is longer is read as a run of digits (containers.ts). */
export const MOST_DIGITS = 16
export const MOST_BINARY_DIGITS = 4096

/** Ways to write a byte whose runs are found together. */
export type Notation = 'hexadecimal' | 'decimal' | 'binary'

interface NumberChains {
  /** In their order. Runs of numbers lie within them. */
  readonly regions: readonly Region[]
  readonly notations: ReadonlySet<Notation>
}

/** Hexadecimal numbers without a digit, as `ff`, may stand between two with one, and are not counted. */
const MOST_BETWEEN_DIGITS = MOST_BYTES_BETWEEN + 8
const MOST_WITHOUT_DIGITS = 4
const AROUND_CHAIN = 64

/** Most chains end before that, so that their words are not worth the look. */
const LEAST_TO_COUNT_WORDS = 4
/** Three words take five bytes, and separators on either side. */
const LEAST_BYTES_OF_WORDS = 7

interface Chain {
  readonly notation: Notation
  /** In bytes that are stood for. */
  readonly least: number
  readonly mostBetween: number
  size: number
  start: number
  end: number
}

const createChain = (notation: Notation, least: number, mostBetween: number): Chain => ({
  notation,
  least,
  mostBetween,
  size: 0,
  start: 0,
  end: -Infinity,
})

/**
 * @param least how many bytes are enough
 * @param takeNumber is given each token of digits alone, the same object each time
 */
export function findNumberChains(
  bytes: Uint8Array,
  least: number,
  takeNumber: (token: Token) => void,
): NumberChains {
  const regions: { start: number; end: number }[] = []
  const notations = new Set<Notation>()
  const hexadecimal = createChain('hexadecimal', least - MOST_WITHOUT_DIGITS, MOST_BETWEEN_DIGITS)
  const decimal = createChain('decimal', least, MOST_BYTES_BETWEEN)
  const binary = createChain('binary', least, MOST_BYTES_BETWEEN)
  const token: Token = { bytes, start: 0, end: 0, index: 0 }
  const skipped = Math.min(bytes.length, -bytes.byteOffset & 3)
  const words =
    bytes.length - skipped < 4
      ? NO_WORDS
      : new Int32Array(bytes.buffer, bytes.byteOffset + skipped, (bytes.length - skipped) >> 2)

  function extend(chain: Chain, size: number): void {
    const isFar = token.start - chain.end > chain.mostBetween
    if (isFar || (chain.size >= LEAST_TO_COUNT_WORDS && hasManyWords(chain, token))) {
      chain.size = 0
      chain.start = token.start
    }
    chain.size += size
    chain.end = token.end
    if (chain.size < chain.least) return
    notations.add(chain.notation)
    addRegion(regions, chain.start - AROUND_CHAIN, Math.min(bytes.length, chain.end + AROUND_CHAIN))
  }

  for (let at = 0; (at = findDigit(bytes, words, skipped, at)) < bytes.length;) {
    let start = at
    let kinds = 0
    while (start > token.end && KIND[bytes[start - 1] ?? 0] !== 0) kinds |= KIND[bytes[--start] ?? 0] ?? 0
    for (; at < bytes.length && KIND[bytes[at] ?? 0] !== 0; at++) kinds |= KIND[bytes[at] ?? 0] ?? 0
    token.start = start
    token.end = at
    if (kinds >= OTHER) continue
    const hasLetters = kinds !== DIGIT
    if (!hasLetters) takeNumber(token)
    const sizeInHex = mostHexadecimal(at - start, hasLetters)
    if (sizeInHex > 0) extend(hexadecimal, sizeInHex)
    if (mayBeDecimal(token, hasLetters)) extend(decimal, 1)
    const sizeInBinary = mostBinary(token, hasLetters)
    if (sizeInBinary > 0) extend(binary, sizeInBinary)
  }
  return { regions, notations }
}

const NO_WORDS = new Int32Array(0)

/** Whether more words stand between the chain and the token than between two numbers: members of JSON that have a number each. */
function hasManyWords({ notation, end }: Chain, { bytes, start }: Token): boolean {
  if (start - end < LEAST_BYTES_OF_WORDS) return false
  let words = 0
  for (let at = end; at < start; at++) {
    if (KIND[bytes[at] ?? 0] === 0) continue
    const first = at
    let isHex = notation === 'hexadecimal'
    for (; at < start && KIND[bytes[at] ?? 0] !== 0; at++) isHex &&= IS_OF_HEX[bytes[at] ?? 0] === 1
    // `ff` is a number without a digit.
    if (isHex && at - first > 1) words = 0
    else if (++words > MOST_WORDS_BETWEEN) return true
  }
  return false
}

const IS_OF_HEX = new Uint8Array(256)
for (const byte of Buffer.from('abcdefABCDEFxXuUhH')) IS_OF_HEX[byte] = 1

/** Chains of different notations end in their order, but may begin before one another. */
function addRegion(regions: { start: number; end: number }[], start: number, end: number): void {
  let first = Math.max(0, start)
  for (let last = regions.at(-1); last && last.end >= first; last = regions.at(-1)) {
    if (last.start <= first) {
      last.end = end
      return
    }
    first = Math.min(first, last.start)
    regions.pop()
  }
  regions.push({ start: first, end })
}

/** How many bytes so many characters can stand for, with what stands before or behind the digits. */
function mostHexadecimal(characters: number, hasLetters: boolean): number {
  if (hasLetters) return characters <= MOST_DIGITS + 2 ? characters >> 1 : 0
  return characters <= MOST_DIGITS && characters % 2 === 0 ? characters >> 1 : 0
}

/** A byte in octal, too: of no more than five characters, which is `0o141` and `255u8`. */
function mayBeDecimal({ bytes, start, end }: Token, hasLetters: boolean): boolean {
  return end - start <= (hasLetters ? 5 : 4) && KIND[bytes[start] ?? 0] === DIGIT
}

function mostBinary({ bytes, start, end }: Token, hasLetters: boolean): number {
  const characters = end - start
  if (hasLetters)
    return characters <= 10 && bytes[start] === ZERO && ((bytes[start + 1] ?? 0) | 0x20) === B ? 1 : 0
  const isBinary = characters % 8 === 0 && characters <= MOST_BINARY_DIGITS && (bytes[start] ?? 0) <= ZERO + 1
  return isBinary && (bytes[end - 1] ?? 0) <= ZERO + 1 ? characters >> 3 : 0
}

const ZERO = 0x30
const B = 0x62

/** @returns the first place from `at` on where a digit is; the length where there is none */
function findDigit(bytes: Uint8Array, words: Int32Array, skipped: number, at: number): number {
  // What is before the next word is looked at byte by byte, and so are the bytes of a word that has a digit.
  for (; ((at - skipped) & 3) !== 0; at++) if (at >= bytes.length || KIND[bytes[at] ?? 0] === DIGIT) return at
  let word = (at - skipped) >> 2
  while (word < words.length && !hasDigit(words[word] ?? 0)) word++
  at = skipped + word * 4
  while (at < bytes.length && KIND[bytes[at] ?? 0] !== DIGIT) at++
  return at
}

/** Digits become 0 to 9, and less than ten what borrows when ten is subtracted. */
function hasDigit(word: number): boolean {
  const digits = word ^ 0x30_30_30_30
  return ((digits - 0x0a_0a_0a_0a) & ~digits & 0x80_80_80_80) !== 0
}
