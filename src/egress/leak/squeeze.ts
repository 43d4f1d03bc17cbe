// One pass over a text that leaves only its letters and digits, folded: blanks, line breaks, quotes, commas and colons are
// what dumps, arrays and wrapped lines put between the pieces of a secret. It also notes what has to be decoded: escapes,
// runs of base64 or hexadecimal digits, and columns of a dump.
import type { Budget } from './budget.ts'

/** From `start` to before `end`. */
export interface Region {
  readonly start: number
  readonly end: number
}

export interface Squeezed {
  /** Letters and digits, folded, without the names of members in quotes: values that stand beside one another are one stretch. */
  readonly text: Uint8Array
  /** The names of those members. */
  readonly names: Uint8Array
  /** Where escapes are, with what is around them. */
  readonly escapes: readonly Region[]
  /** Long runs of digits of base64 or hexadecimal, line breaks within them included. */
  readonly runs: readonly Region[]
  /** A backslash stands before two hexadecimal digits: CSS reads it differently. */
  readonly hasCss: boolean
  /** A line begins as those of `xxd`, `hexdump` and `od` do. */
  readonly hasDump: boolean
}

export interface SqueezeOptions {
  /** How many bytes belong to an escape on either side. */
  readonly around: number
  /** Whether an escape of what is neither letter nor digit has to be undone, too: where little else is in a secret. */
  readonly marksAll: boolean
  /** How long a run of digits has to be. */
  readonly minRunChars?: number
}

/** Shorter runs hold nothing that could be found in them once decoded: twelve bytes in base64, twice; of a short secret eight. */
export const MIN_RUN_CHARS = 22
export const MIN_RUN_CHARS_OF_SHORT = 15

// What a byte is: nothing to look at (0), something to look at, or a letter or a digit, folded.
const LINE_FEED = 1
const COLON = 2
const ESCAPE = 3
const BACKSLASH = 4
const PLUS = 5
const FIRST_WRITTEN = 0x30
const KIND = new Uint8Array(256)
for (const byte of Buffer.from('abcdefghijklmnopqrstuvwxyz0123456789')) KIND[byte] = byte
for (const byte of Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZ')) KIND[byte] = byte + 0x20
for (const byte of Buffer.from('%&=\0')) KIND[byte] = ESCAPE
KIND[0x0a] = LINE_FEED
KIND[0x3a] = COLON
KIND[0x5c] = BACKSLASH
KIND[0x2b] = PLUS

const IS_WRITTEN = KIND.map((kind) => (kind >= FIRST_WRITTEN ? 1 : 0))

const RUN = IS_WRITTEN.slice()
for (const byte of Buffer.from('+/-_\r\n')) RUN[byte] = 1

// Two bytes are read at once, which takes half the time: of each pair of them this says what is written, and how much that is.
const PAIRS = new Int32Array(0x1_00_00)
const COUNT_SHIFT = 16
/** At least one of the two is something to look at. */
const LOOKED_AT = 1 << 24
for (let first = 0; first < 256; first++)
  for (let second = 0; second < 256; second++)
    PAIRS[first | (second << 8)] = describePair(KIND[first] ?? 0, KIND[second] ?? 0)

function describePair(first: number, second: number): number {
  const isLookedAt = (kind: number) => kind > 0 && kind < FIRST_WRITTEN
  if (isLookedAt(first) || isLookedAt(second)) return LOOKED_AT
  if (first === 0) return second === 0 ? 0 : second | (1 << COUNT_SHIFT)
  return second === 0 ? first | (1 << COUNT_SHIFT) : first | (second << 8) | (2 << COUNT_SHIFT)
}

const isAlphanumeric = (byte: number | undefined) => (KIND[byte ?? 0] ?? 0) >= FIRST_WRITTEN
const isHexDigit = (byte: number | undefined) =>
  byte !== undefined && ((byte >= 0x30 && byte <= 0x39) || ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x66))
const isOffsetEnd = (byte: number | undefined) => byte === 0x20 || byte === 0x3a || byte === 0x09

/**
 * @param scratch where text and names are written: at least a byte longer than the bytes
 * @throws {OverBudget}
 */
export function squeeze(
  bytes: Uint8Array,
  { around, marksAll, minRunChars = MIN_RUN_CHARS }: SqueezeOptions,
  scratch: Uint8Array,
  budget: Budget,
): Squeezed {
  const { length } = bytes
  budget.spend(length * 2)
  const from = new DataView(bytes.buffer, bytes.byteOffset, length)
  const to = new DataView(scratch.buffer, scratch.byteOffset, scratch.length)
  // Names are written from the end of the same memory backwards: together they are no longer than the bytes.
  let written = 0
  let named = scratch.length
  const escapes: { start: number; end: number }[] = []
  let region = { start: 0, end: -1 }
  let lastSkipped = -1
  /** Where the last name was closed. */
  let lastName = -1
  let hasCss = false
  let hasDump = looksLikeOffset(bytes, 0)
  for (let at = 0; at < length; at++) {
    // This loop does nothing else, and never reads past the end, which arrays are slower for ever after.
    for (const last = length - 1; at < last; at += 2) {
      const pair = PAIRS[from.getUint16(at, true)] ?? 0
      if (pair >= LOOKED_AT) break
      to.setUint16(written, pair, true)
      written += pair >> COUNT_SHIFT
    }
    if (at >= length) break
    let kind = KIND[bytes[at] ?? 0] ?? 0
    // It is the second of the pair that is looked at.
    if (kind === 0 || kind >= FIRST_WRITTEN) {
      if (kind >= FIRST_WRITTEN) scratch[written++] = kind
      if (++at === length) break
      kind = KIND[bytes[at] ?? 0] ?? 0
    }
    if (kind === LINE_FEED) {
      if (!hasDump) hasDump = looksLikeOffset(bytes, at + 1)
      continue
    }
    if (kind === COLON) {
      // `"a":` of JSON; `"a" :` of others that write it, `'a':` of Python.
      const close = bytes[at - 1] === BLANK ? at - 2 : at - 1
      const quote = bytes[close]
      if (quote !== QUOTE && quote !== APOSTROPHE) continue
      // What was written since the quote before it is the name: as many letters are moved to the end.
      const last = Math.max(0, at - LONGEST_MEMBER_NAME)
      let start = close - 1
      let letters = 0
      for (; start >= last && bytes[start] !== quote; start--) letters += IS_WRITTEN[bytes[start] ?? 0] ?? 0
      // What has two kinds of quotes may look like a name in a name, whose letters were moved already.
      if (start < last || start < lastName) continue
      lastName = close
      if (lastSkipped > start) letters -= countSkipped(bytes, start, at)
      if (letters > written) continue
      while (letters-- > 0) scratch[--named] = scratch[--written] ?? 0
      continue
    }
    if (kind === BACKSLASH) {
      const skipped = marksAll ? 0 : countPlain(bytes, at)
      at += skipped
      if (skipped > 0) lastSkipped = at
      if (skipped > 0 || !(marksAll || isAlphanumeric(bytes[at + 1]) || bytes[at + 1] === 0x5c)) continue
      hasCss ||= isHexDigit(bytes[at + 1]) && isHexDigit(bytes[at + 2])
    } else if (kind === PLUS ? !isUtf7(bytes, at) : !mayEscape(bytes, at)) continue
    if (at <= region.end) region.end = at + around
    else escapes.push((region = { start: Math.max(0, at - 1 - around), end: at + around }))
  }
  const runs = listRuns(bytes, minRunChars)
  return {
    text: scratch.subarray(0, written),
    names: scratch.subarray(named),
    escapes,
    runs,
    hasCss,
    hasDump,
  }
}

const QUOTE = 0x22
const APOSTROPHE = 0x27
const BLANK = 0x20
const LONGEST_MEMBER_NAME = 256

/** Looked for from the last byte that a run would have to have: whatever is none lets all before it be passed over. */
function listRuns(bytes: Uint8Array, minChars: number): Region[] {
  const { length } = bytes
  const runs: Region[] = []
  for (let start = 0; start + minChars <= length;) {
    let last = start + minChars - 1
    while (last >= start && RUN[bytes[last] ?? 0] === 1) last--
    if (last >= start) {
      start = last + 1
      continue
    }
    let end = start + minChars
    while (end < length && RUN[bytes[end] ?? 0] === 1) end++
    runs.push({ start, end })
    start = end + 1
  }
  return runs
}

/**
 * @returns how many characters after a backslash are an escape that squeezing overlooks, as it does what they stand for: a line
 * break, a tab, a quote, a slash, a backslash unless it may begin another escape
 */
function countPlain(bytes: Uint8Array, at: number): number {
  const next = bytes[at + 1]
  if (next === 0x6e || next === 0x72 || next === 0x74 || next === 0x22 || next === 0x2f) return 1
  return next === 0x5c && !isAlphanumeric(bytes[at + 2]) && bytes[at + 2] !== 0x5c ? 1 : 0
}

/** @returns how many letters from `start` to before `end` were overlooked as a part of an escape */
function countSkipped(bytes: Uint8Array, start: number, end: number): number {
  let count = 0
  for (let at = start; at + 1 < end; at++)
    if (bytes[at] === 0x5c && countPlain(bytes, at) === 1 && isAlphanumeric(bytes[at + 1])) count++
  return count
}

/** `00000010: ` and its like, of six hexadecimal digits at least. */
function looksLikeOffset(bytes: Uint8Array, at: number): boolean {
  let digits = 0
  while (digits < 17 && isHexDigit(bytes[at + digits])) digits++
  return digits >= 6 && digits <= 16 && isOffsetEnd(bytes[at + digits])
}

/** Base64 of UTF-16 begins so for every character below U+0100. */
const isUtf7 = (bytes: Uint8Array, at: number) => bytes[at + 1] === 0x41 || bytes[at + 1] === 0x2d

const LONGEST_NAME = 12

/** Whether an escape could begin here. Decoding says whether one does. */
function mayEscape(bytes: Uint8Array, at: number): boolean {
  const byte = bytes[at]
  const next = bytes[at + 1]
  if (byte === 0) return true
  if (byte === 0x25) return next === 0x75 || (isHexDigit(next) && isHexDigit(bytes[at + 2]))
  if (byte === 0x3d) return next === 0x0d || next === 0x0a || (isHexDigit(next) && isHexDigit(bytes[at + 2]))
  if (next === 0x23) return true
  for (let end = at + 1; end < at + LONGEST_NAME; end++) {
    if (bytes[end] === 0x3b) return end > at + 2
    if (!isAlphanumeric(bytes[end])) break
  }
  // The oldest names need no semicolon: amp, lt, gt, quot.
  return next === 0x61 || next === 0x6c || next === 0x67 || next === 0x71
}
