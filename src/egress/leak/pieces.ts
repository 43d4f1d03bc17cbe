// Which part of a secret gives it away: long enough, and not what could stand in any text. Words, years, repetitions and what
// everybody knows of a key (`sk_live_`, the header of a token) count for little or nothing.

/** Shorter parts occur by chance. */
export const MIN_PIECE_BYTES = 12

/** A random piece of twelve characters has more: 42 in hexadecimal, 50 in letters and digits. Twelve letters of words have 30. */
const MIN_PIECE_BITS = 38

/** Words have 2.3, random digits 2.7, hexadecimal 3.5. */
const MIN_BITS_PER_BYTE = 2.6

/** One text to look for, in one byte form. */
export interface SoughtValue {
  readonly bytes: Uint8Array
  /** How much the first n bytes say, in bits, at index n: one entry more than there are bytes. */
  readonly bits: Float64Array
}

/** @param publicBytes how many of the first bytes are no secret */
export function createValue(bytes: Uint8Array, publicBytes = 0): SoughtValue {
  const bits = new Float64Array(bytes.length + 1)
  const perSymbol = bytes.every(isDigit) ? DIGIT_AMONG_DIGITS : DIGIT
  let sum = 0
  for (let at = 0; at < bytes.length; at++) {
    if (at >= publicBytes) sum += isForeseeable(bytes, at) ? FORESEEN : estimate(bytes, at, perSymbol)
    bits[at + 1] = sum
  }
  return { bytes, bits }
}

/** The same bytes in another order, or fewer of them, saying what they said before. */
export function selectBytes(value: SoughtValue, places: readonly number[]): SoughtValue {
  const bytes = new Uint8Array(places.length)
  const bits = new Float64Array(places.length + 1)
  for (const [i, place] of places.entries()) {
    bytes[i] = value.bytes[place] ?? 0
    bits[i + 1] = (bits[i] ?? 0) + bitsBetween(value, place, place + 1)
  }
  return { bytes, bits }
}

/** The value without the bytes that are not wanted. */
export const onlyPlaces = (value: SoughtValue, isWanted: (byte: number) => boolean): SoughtValue =>
  selectBytes(
    value,
    [...value.bytes.keys()].filter((at) => isWanted(value.bytes[at] ?? 0)),
  )

export const bitsBetween = ({ bits }: SoughtValue, start: number, end: number) =>
  (bits[end] ?? 0) - (bits[start] ?? 0)

/**
 * Whether the bytes from `start` to before `end` give the value away. What is made of words has to be more than half of it: texts
 * about the same thing use the same words.
 */
export function isPiece(value: SoughtValue, start: number, end: number): boolean {
  const bits = bitsBetween(value, start, end)
  const length = end - start
  if (length < MIN_PIECE_BYTES || bits < MIN_PIECE_BITS) return false
  return bits >= length * MIN_BITS_PER_BYTE || length * 2 > value.bytes.length
}

/** Whether parts that stand apart, as around a mask, give the value away together: more than half of it, and as much as a piece. */
export function arePieces(value: SoughtValue, isShown: Uint8Array): boolean {
  let shown = 0
  let bits = 0
  for (let at = 0; at < isShown.length; at++) {
    if (isShown[at] === 0) continue
    shown++
    bits += bitsBetween(value, at, at + 1)
  }
  return (
    shown >= MIN_PIECE_BYTES &&
    shown * 2 > value.bytes.length &&
    bits >= MIN_PIECE_BITS &&
    bits >= shown * MIN_BITS_PER_BYTE
  )
}

/** @returns how many bytes the longest of the shortest pieces has: what it takes to be sure that a piece is seen whole */
export function longestPiece(value: SoughtValue): number {
  const { length } = value.bytes
  let longest = Math.min(length, MIN_PIECE_BYTES)
  let end = 0
  for (let start = 0; start < length; start++) {
    while (end < length && !isPiece(value, start, end)) end++
    longest = Math.max(longest, end - start)
  }
  return longest
}

const FORESEEN = 0.5
const LETTER = 4.7
const LETTER_OF_WORD = 2
const DIGIT = 3.4
/** Numbers are everywhere, so a secret of digits alone has to show more of them. */
const DIGIT_AMONG_DIGITS = 2.7
const SEPARATOR = 2
const OTHER = 5

function estimate(bytes: Uint8Array, at: number, digit: number): number {
  const byte = bytes[at] ?? 0
  if (isDigit(byte)) return digit
  const letter = letterOf(byte)
  if (letter < 0) return SEPARATORS.has(byte) ? SEPARATOR : OTHER
  const before = letterOf(bytes[at - 1] ?? 0)
  return before >= 0 && PAIRS_OF_WORDS.has(before * 26 + letter) ? LETTER_OF_WORD : LETTER
}

/** It goes on as it began: `aaaa`, `abab`, `abcabc`, `1234`. */
function isForeseeable(bytes: Uint8Array, at: number): boolean {
  for (let period = 1; period <= 4; period++)
    if (at > period && bytes[at] === bytes[at - period] && bytes[at - 1] === bytes[at - 1 - period])
      return true
  if (at < 2) return false
  const [third = 0, second = 0, first = 0] = [bytes[at], bytes[at - 1], bytes[at - 2]]
  return Math.abs(third - second) === 1 && third - second === second - first
}

const isDigit = (byte: number) => byte >= 0x30 && byte <= 0x39

/** @returns 0 for `a` and `A`; -1 for what is no letter */
function letterOf(byte: number): number {
  const lower = byte | 0x20
  return lower >= 0x61 && lower <= 0x7a ? lower - 0x61 : -1
}

const SEPARATORS = new Set(Buffer.from(' -_./:,@+=&'))

/** The pairs that make up three quarters of English and of identifiers, out of 676. */
const PAIRS_OF_WORDS = new Set(
  (
    'th he in er an re on at en nd ti es or te of ed is it al ar st to nt ng se ha as ou io le ve co me de hi ri ro ic ne ea ' +
    'ra ce li ch ll be ma si om ur ca el ta la ns di fo ho pe ec pr no ct us ac ot il tr ly nc et ut ss so rs un lo wa ge ie ' +
    'wh ee wi em ad ol rt po we na ul ni ts mo ow pa im mi ai sh ir su id os iv ia am fi ci vi pl ig tu ev ld ry mp fe bl ab ' +
    'gh ty op wo sa ay ex ke fr oo av ag if ap gr od bo sp rd do uc bu ei ov by rm ep tt oc fa ef cu rn sc gi da rr ck ey'
  )
    .split(' ')
    .map((pair) => (pair.charCodeAt(0) - 0x61) * 26 + pair.charCodeAt(1) - 0x61),
)
