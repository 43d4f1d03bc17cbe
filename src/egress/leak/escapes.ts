// Undoes the escapes of a text, all kinds at once: percent, JSON and string literals, CSS, HTML, quoted-printable, UTF-7, and
// the zeros of UTF-16. Decoding covers every mixture of escaped and plain characters, which a list of encoded secrets could not.
import type { Budget } from './budget.ts'
import type { Region } from './squeeze.ts'

/** What a backslash begins: `\41` is `!` to most languages and `A` to CSS. */
export type Dialect = 'literal' | 'css'

/** What an escape stands for, and how many bytes it takes. */
interface Escape {
  /** A character; -1 for none at all. Below 256 it is written as one byte: the values are sought in Latin-1, too. */
  readonly code: number
  readonly length: number
  /** In place of `code`: several characters. */
  readonly codes?: readonly number[]
}

type Reader = (bytes: Uint8Array, at: number) => Escape | undefined

/** A marker that is none costs little, an escape as much as the bytes that it is made of, in a string and an expression. */
const MARKER_STEPS = 12
const NAME_STEPS = 150

/** Between two regions that were not beside one another: of no form, and no letter. */
const GAP = 0x01

/**
 * @param regions of `bytes`, in their order; those without an escape are left out of what is returned
 * @param memoryFor at least so many bytes that nobody else reads, to write to
 * @returns undefined where there is nothing to undo
 * @throws {OverBudget}
 */
export function decodeEscapes(
  bytes: Uint8Array,
  regions: readonly Region[],
  dialect: Dialect,
  budget: Budget,
  memoryFor: (length: number) => Uint8Array = (length) => new Uint8Array(length),
): Uint8Array | undefined {
  const size = regions.reduce((sum, { start, end }) => sum + end - start + 1, 0)
  budget.spend(size * 2)
  // Every escape is longer than what it stands for.
  const out = memoryFor(size)
  let written = 0
  for (const { start, end } of regions) {
    const length = decodeRegion(
      bytes,
      { start, end: Math.min(end, bytes.length) },
      dialect,
      budget,
      out,
      written,
    )
    if (length === undefined) continue
    out[length] = GAP
    written = length + 1
  }
  return written === 0 ? undefined : out.subarray(0, written - 1)
}

/** @returns how much is written after it; undefined where nothing was undone, so that nothing counts as written */
function decodeRegion(
  bytes: Uint8Array,
  { start, end }: Region,
  dialect: Dialect,
  budget: Budget,
  out: Uint8Array,
  from: number,
): number | undefined {
  let written = from
  let isChanged = false
  for (let at = start; at < end;) {
    // Most of it is copied: this loop does nothing else.
    while (at < end && IS_MARKER[bytes[at] ?? 0] === 0) out[written++] = bytes[at++] ?? 0
    if (at === end) break
    budget.spend(bytes[at] === AMPERSAND ? NAME_STEPS : MARKER_STEPS)
    const escape = readEscape(bytes, at, dialect)
    if (escape && at + escape.length <= bytes.length) {
      if (escape.codes) for (const code of escape.codes) written = writeCharacter(code, out, written)
      else written = writeCharacter(escape.code, out, written)
      at += escape.length
      isChanged = true
    } else out[written++] = bytes[at++] ?? 0
  }
  return isChanged ? written : undefined
}

function readEscape(bytes: Uint8Array, at: number, dialect: Dialect): Escape | undefined {
  switch (bytes[at]) {
    case BACKSLASH:
      return dialect === 'css' ? readCss(bytes, at) : readLiteral(bytes, at)
    case PERCENT:
      return readPercent(bytes, at)
    case EQUALS:
      return readQuotedPrintable(bytes, at)
    case AMPERSAND:
      return readHtml(bytes, at)
    case PLUS:
      return readUtf7(bytes, at)
    default:
      // Half of UTF-16 is zeros, three quarters of UTF-32.
      return { code: -1, length: 1 }
  }
}

/** Line breaks go, with the blanks around them: folded headers, wrapped mail, a list with an entry on each line. */
export function joinLines(
  bytes: Uint8Array,
  budget: Budget,
  memoryFor: (length: number) => Uint8Array,
): Uint8Array | undefined {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  let end = view.indexOf(LINE_FEED)
  if (end < 0) return undefined
  budget.spend(bytes.length * 2)
  const out = memoryFor(bytes.length)
  let length = 0
  for (let start = 0; start <= bytes.length; end = view.indexOf(LINE_FEED, start)) {
    const next = end < 0 ? bytes.length : end
    if (start > 0) while (start < next && isBlank(bytes[start])) start++
    for (; start < next; start++) out[length++] = bytes[start] ?? 0
    if (end < 0) break
    while (length > 0 && isBlank(out[length - 1])) length--
    start = next + 1
  }
  return out.subarray(0, length)
}

const LINE_FEED = 0x0a
const isBlank = (byte: number | undefined) => byte === 0x20 || byte === 0x0d || byte === 0x09

const NUL = 0x00
const PERCENT = 0x25
const HASH = 0x23
const AMPERSAND = 0x26
const PLUS = 0x2b
const EQUALS = 0x3d
const BACKSLASH = 0x5c
const BRACE = 0x7b

const isLetter = (byte: number | undefined) =>
  byte !== undefined && (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a

/** @returns the value of a hexadecimal digit; -1 for anything else, the end of the bytes included */
function hexDigit(byte: number | undefined): number {
  if (byte === undefined) return -1
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const letter = byte | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1
}

/** @returns the number of `digits` hexadecimal digits at `at`, or -1 */
function readHex(bytes: Uint8Array, at: number, digits: number): number {
  let value = 0
  for (let i = at; i < at + digits; i++) {
    const digit = hexDigit(bytes[i])
    if (digit < 0) return -1
    value = value * 16 + digit
  }
  return value
}

/** The longest number of at most `most` digits. */
function readDigits(bytes: Uint8Array, at: number, base: 8 | 10 | 16, most: number): Escape | undefined {
  let code = 0
  let length = 0
  while (length < most) {
    const digit = hexDigit(bytes[at + length])
    if (digit < 0 || digit >= base) break
    code = code * base + digit
    length++
  }
  return length === 0 ? undefined : { code, length }
}

/** The value of a UTF-8 secret as bytes or as characters is sought either way; half a character is written as it is. */
function writeCharacter(code: number, out: Uint8Array, length: number): number {
  if (code < 0) return length
  if (code < 0x100) out[length++] = code
  else if (code < 0x800) {
    out[length++] = 0xc0 | (code >> 6)
    out[length++] = 0x80 | (code & 0x3f)
  } else if (code < 0x1_00_00) {
    out[length++] = 0xe0 | (code >> 12)
    out[length++] = 0x80 | ((code >> 6) & 0x3f)
    out[length++] = 0x80 | (code & 0x3f)
  } else if (code < 0x11_00_00) {
    out[length++] = 0xf0 | (code >> 18)
    out[length++] = 0x80 | ((code >> 12) & 0x3f)
    out[length++] = 0x80 | ((code >> 6) & 0x3f)
    out[length++] = 0x80 | (code & 0x3f)
  } else out[length++] = 0xff
  return length
}

/** `%41`, and `%u0041` of old scripts. */
const readPercent: Reader = (bytes, at) => {
  if (bytes[at + 1] === 0x75) return utf16Unit(bytes, at, '%u')
  const code = readHex(bytes, at + 1, 2)
  return code < 0 ? undefined : { code, length: 3 }
}

/** Four digits after a mark of two characters; with its second half where the character has one. */
function utf16Unit(bytes: Uint8Array, at: number, mark: string): Escape | undefined {
  const code = readHex(bytes, at + 2, 4)
  if (code < 0) return undefined
  const isFirstHalf = code >= 0xd8_00 && code < 0xdc_00
  if (isFirstHalf && bytes[at + 6] === mark.charCodeAt(0) && bytes[at + 7] === mark.charCodeAt(1)) {
    const second = readHex(bytes, at + 8, 4)
    if (second >= 0xdc_00 && second < 0xe0_00)
      return { code: 0x1_00_00 + ((code & 0x3ff) << 10) + (second & 0x3ff), length: 12 }
  }
  return { code, length: 6 }
}

const SHORT = new Map(
  ['n\n', 'r\r', 't\t', 'b\b', 'f\f', 'v\v', 'e\u001b', 'a\u0007'].map((pair) => [
    pair.charCodeAt(0),
    pair.charCodeAt(1),
  ]),
)

/** `{41}` after a mark of two characters. */
function inBraces(bytes: Uint8Array, at: number): Escape | undefined {
  if (bytes[at + 2] !== BRACE) return undefined
  const digits = readDigits(bytes, at + 3, 16, 8)
  return digits && bytes[at + 3 + digits.length] === 0x7d
    ? { code: digits.code, length: digits.length + 4 }
    : undefined
}

/** JSON, and the string literals of most languages: `\u0041`, `\u{41}`, `\U00000041`, `\x41`, `\101`, `\n`, `\/`. */
const readLiteral: Reader = (bytes, at) => {
  const next = bytes[at + 1]
  // Before a zero of UTF-16 it is a character of its own, and escapes only once the zeros are gone.
  if (next === undefined || next === NUL) return undefined
  if (next === 0x75 || next === 0x78) {
    const braced = inBraces(bytes, at)
    if (braced) return braced
  }
  if (next === 0x75) {
    const unit = utf16Unit(bytes, at, '\\u')
    if (unit) return unit
  }
  if (next === 0x55) {
    const code = readHex(bytes, at + 2, 8)
    if (code >= 0) return { code, length: 10 }
  }
  if (next === 0x78) {
    const code = readHex(bytes, at + 2, 2)
    if (code >= 0) return { code, length: 4 }
  }
  const octal = readDigits(bytes, at + 1, 8, 3)
  if (octal) return { code: octal.code & 0xff, length: octal.length + 1 }
  // A line that goes on in the next.
  if (next === LINE_FEED) return { code: -1, length: 2 }
  return { code: SHORT.get(next) ?? next, length: 2 }
}

/** `\41 ` and `\000041`: up to six digits, and a blank that ends them. */
const readCss: Reader = (bytes, at) => {
  const digits = readDigits(bytes, at + 1, 16, 6)
  if (!digits) return readLiteral(bytes, at)
  const hasEnd = isBlank(bytes[at + 1 + digits.length]) || bytes[at + 1 + digits.length] === LINE_FEED
  return { code: digits.code, length: digits.length + (hasEnd ? 2 : 1) }
}

/** Of U+00A0 to U+00FF, in their order. */
const LATIN =
  'nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro para middot ' +
  'cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml ' +
  'Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig ' +
  'agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ' +
  'ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml'
const ASCII =
  'amp& AMP& lt< LT< gt> GT> quot" QUOT" apos\' sol/ bsol\\ plus+ equals= num# excl! dollar$ percnt% lpar( rpar) ast* midast* ' +
  'comma, period. colon: semi; quest? commat@ lsqb[ lbrack[ rsqb] rbrack] Hat^ lowbar_ UnderBar_ grave` DiacriticalGrave` ' +
  'lcub{ lbrace{ rcub} rbrace} verbar| vert| VerticalLine| hyphen- dash- tilde~ Tab\t NewLine\n'
const NAMED = new Map([
  ...ASCII.split(' ').map((entry): [string, number] => [
    entry.slice(0, -1),
    entry.charCodeAt(entry.length - 1),
  ]),
  ...LATIN.split(' ').map((name, i): [string, number] => [name, 0xa0 + i]),
])

const LONGEST_NAME = 16

/** With how many letters names begin, by the first of them: a bit for each number. */
const LETTERS_OF_NAMES = new Int32Array(256)
for (const name of NAMED.keys()) {
  const letters = name.replace(/\d+$/, '')
  for (const first of [letters.toLowerCase(), letters.toUpperCase()].map((text) => text.charCodeAt(0)))
    LETTERS_OF_NAMES[first] = (LETTERS_OF_NAMES[first] ?? 0) | (1 << letters.length)
}

/** Whether what follows looks like a name at all. The members of a query hardly ever do, and ordinary answers are full of them. */
function mayBeNamed(bytes: Uint8Array, start: number): boolean {
  let length = 0
  while (length < LONGEST_NAME && isLetter(bytes[start + length])) length++
  return (((LETTERS_OF_NAMES[bytes[start] ?? 0] ?? 0) >> length) & 1) === 1
}

/** `&#65;`, `&#x41;`, `&amp;`; the semicolon may be missing, as browsers allow. */
const readHtml: Reader = (bytes, at) => {
  if (bytes[at + 1] !== HASH && !mayBeNamed(bytes, at + 1)) return undefined
  const text = Buffer.from(
    bytes.buffer,
    bytes.byteOffset + at + 1,
    Math.min(20, bytes.length - at - 1),
  ).toString('latin1')
  const match = /^(?:#x0*([\da-f]{1,6})|#0*(\d{1,7})|([A-Za-z]{2,16}[1-4]{0,2}));?/i.exec(text)
  if (!match) return undefined
  const [all, hex, decimal, name = ''] = match
  const code =
    hex !== undefined
      ? Number.parseInt(hex, 16)
      : decimal !== undefined
        ? Number(decimal)
        : (NAMED.get(name) ?? NAMED.get(name.toLowerCase()))
  return code === undefined ? undefined : { code, length: 1 + all.length }
}

/** `=41`, and the soft line break `=` before a line end. */
const readQuotedPrintable: Reader = (bytes, at) => {
  if (bytes[at + 1] === LINE_FEED) return { code: -1, length: 2 }
  if (bytes[at + 1] === 0x0d && bytes[at + 2] === LINE_FEED) return { code: -1, length: 3 }
  const code = readHex(bytes, at + 1, 2)
  return code < 0 ? undefined : { code, length: 3 }
}

const MOST_UTF7_CHARS = 256

/** `+AF8-`: base64 of UTF-16 between a plus and whatever is none; `+-` is a plus (RFC 2152). */
const readUtf7: Reader = (bytes, at) => {
  const codes: number[] = []
  let end = at + 1
  let bits = 0
  let unit = 0
  while (end - at < MOST_UTF7_CHARS) {
    const value = SIX_BITS[bytes[end] ?? 0] ?? NO_DIGIT
    if (value === NO_DIGIT) break
    end++
    unit = (unit << 6) | value
    bits += 6
    if (bits < 16) continue
    bits -= 16
    const code = unit >> bits
    // Anything else that begins with a plus, as a part of base64 does, is not of one alphabet.
    if (code === 0 || code >= 0x2_50) return undefined
    codes.push(code)
    unit &= (1 << bits) - 1
  }
  const hasMinus = bytes[end] === 0x2d
  const length = end - at + (hasMinus ? 1 : 0)
  if (end === at + 1) return hasMinus ? { code: PLUS, length } : undefined
  return codes.length === 0 ? undefined : { code: -1, length, codes }
}

const NO_DIGIT = 64
const SIX_BITS = new Uint8Array(256).fill(NO_DIGIT)
for (const [value, byte] of Buffer.from(
  'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/',
).entries())
  SIX_BITS[byte] = value

const IS_MARKER = new Uint8Array(256)
for (const marker of [NUL, PERCENT, AMPERSAND, PLUS, EQUALS, BACKSLASH]) IS_MARKER[marker] = 1
