// A body as it reads once its escapes and its line breaks are undone: percent, JSON and string literals, HTML,
// quoted-printable. Decoding covers every mixture of escaped and plain characters, which a list of encoded secrets could not.

import { isUtf8 } from 'node:buffer'
import type { Budget } from './budget.ts'

interface Decoding {
  /** The escapes that were undone, outermost first; empty for the bytes as received. */
  readonly name: string
  readonly bytes: Uint8Array
}

/** Undoes what it understands and leaves the rest alone. Undefined when nothing changed. */
type Decoder = (bytes: Uint8Array, budget: Budget) => Buffer | undefined

/** Names what it finds. */
type Find = (bytes: Uint8Array, budget: Budget) => string | undefined

/** Levels of escapes within escapes, such as a JSON text in a JSON string. */
const MAX_DEPTH = 2

/**
 * Searches the bytes as received, then every decoding of them that differs, each also without its line breaks. Most texts have
 * nothing to decode and cost one search for each kind of escape.
 * @returns the name of what is found, with how the bytes had to be decoded in front of it
 * @throws {OverBudget}
 */
export function findInEveryDecoding(received: Uint8Array, find: Find, budget: Budget): string | undefined {
  const first: Decoding = { name: '', bytes: received }
  const found = findInDecoding(first, find, budget)
  if (found !== undefined) return found
  const decodings = [first]
  let parents = [first]
  for (let depth = 1; ; depth++) {
    const children: Decoding[] = []
    for (const parent of parents)
      for (const { name, decode } of DECODERS) {
        const bytes = decode(parent.bytes, budget)
        if (!bytes || isKnown(decodings, bytes, budget)) continue
        const child = { name: join(parent.name, name), bytes }
        const foundInChild = findInDecoding(child, find, budget)
        if (foundInChild !== undefined) return foundInChild
        decodings.push(child)
        children.push(child)
      }
    // Escapes within escapes are there by chance in binary bodies.
    if (children.length === 0 || depth === MAX_DEPTH || !isUtf8(received)) return undefined
    parents = children
  }
}

function findInDecoding({ name, bytes }: Decoding, find: Find, budget: Budget): string | undefined {
  const found = find(bytes, budget)
  if (found !== undefined) return join(name, found)
  const joined = joinLines(bytes, budget)
  const foundInJoined = joined && find(joined, budget)
  return foundInJoined === undefined ? undefined : join(join(name, 'lines'), foundInJoined)
}

const join = (outer: string, inner: string) => (outer === '' ? inner : `${outer}+${inner}`)

function isKnown(decodings: readonly Decoding[], bytes: Uint8Array, budget: Budget): boolean {
  const alike = decodings.filter((known) => known.bytes.length === bytes.length)
  return alike.some((known) => {
    budget.spend(bytes.length)
    return Buffer.compare(known.bytes, bytes) === 0
  })
}

const LINE_FEED = 0x0a
const SPACE = 0x20
const isBlank = (byte: number | undefined) => byte === SPACE || byte === 0x0d || byte === 0x09

/**
 * Mail, PEM and command lines wrap base64 and hexadecimal at 64 or 76 characters; printers of JSON put every byte of a
 * list on a line. Line breaks go, with the blanks around them.
 * @returns undefined when there are none
 */
function joinLines(bytes: Uint8Array, budget: Budget): Buffer | undefined {
  if (!bytes.includes(LINE_FEED)) return undefined
  budget.spend(bytes.length * 2)
  const out = Buffer.allocUnsafe(bytes.length)
  let length = 0
  let isIndent = false
  // An index is used here: an iterator takes twice as long, which is 20 ms for the largest body.
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!
    if (byte === LINE_FEED) {
      while (length > 0 && isBlank(out[length - 1])) length--
      isIndent = true
    } else if (!isIndent || !isBlank(byte)) {
      out[length++] = byte
      isIndent = false
    }
  }
  return out.subarray(0, length)
}

const PERCENT = 0x25
const BACKSLASH = 0x5c
const AMPERSAND = 0x26
const EQUALS = 0x3d

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
    value = (value << 4) | digit
  }
  return value
}

/** The character an escape stands for (code -1: none at all) and how many bytes the escape takes. */
interface Escape {
  readonly code: number
  readonly length: number
  /** The code is a byte, not a character. */
  readonly isByte?: boolean
}

/**
 * @param read the escape that begins at a marker; undefined where none does
 * @param steps what a call of `read` costs
 */
function decodeEscapes(
  marker: number,
  steps: number,
  read: (bytes: Uint8Array, at: number) => Escape | undefined,
): Decoder {
  return (bytes, budget) => {
    let at = bytes.indexOf(marker)
    if (at < 0) return undefined
    budget.spend(bytes.length)
    // Every escape is longer than what it stands for.
    const out = Buffer.allocUnsafe(bytes.length)
    let length = 0
    let from = 0
    while (at >= 0) {
      budget.spend(steps)
      const escape = read(bytes, at)
      if (escape) {
        length = copy(bytes, from, at, out, length)
        if (escape.code >= 0)
          length = escape.isByte
            ? writeByte(escape.code, out, length)
            : writeCharacter(escape.code, out, length)
        from = at + escape.length
      }
      at = nextMarker(bytes, marker, escape ? from : at + 1)
    }
    if (from === 0) return undefined
    length = copy(bytes, from, bytes.length, out, length)
    return out.subarray(0, length)
  }
}

/** Escapes come in runs, so a few bytes ahead are searched before native code is called for the rest. */
function nextMarker(bytes: Uint8Array, marker: number, from: number): number {
  const near = Math.min(bytes.length, from + 16)
  for (let i = from; i < near; i++) if (bytes[i] === marker) return i
  return near === bytes.length ? -1 : bytes.indexOf(marker, near)
}

/** Pieces between escapes are short: byte by byte they take half as long as with a native copy for each. */
function copy(bytes: Uint8Array, from: number, to: number, out: Buffer, length: number): number {
  if (to - from < 32) {
    for (let i = from; i < to; i++) out[length++] = bytes[i]!
    return length
  }
  out.set(bytes.subarray(from, to), length)
  return length + to - from
}

function writeByte(byte: number, out: Buffer, length: number): number {
  out[length] = byte
  return length + 1
}

/** Secrets are Latin-1: two bytes of UTF-8 are all that is ever needed, the rest only has to differ. */
function writeCharacter(code: number, out: Buffer, length: number): number {
  if (code < 0x80) out[length++] = code
  else if (code < 0x800) {
    out[length++] = 0xc0 | (code >> 6)
    out[length++] = 0x80 | (code & 0x3f)
  } else out[length++] = 0xff
  return length
}

/** `%41`, and `%u0041` of old scripts. */
const decodePercent = decodeEscapes(PERCENT, 16, (bytes, at) => {
  if (bytes[at + 1] === 0x75) {
    const code = readHex(bytes, at + 2, 4)
    return code < 0 ? undefined : { code, length: 6 }
  }
  const code = readHex(bytes, at + 1, 2)
  return code < 0 ? undefined : { code, length: 3, isByte: true }
})

const SHORT = new Map(
  ['n\n', 'r\r', 't\t', 'b\b', 'f\f'].map((pair) => [pair.charCodeAt(0), pair.charCodeAt(1)]),
)

/** JSON, and the string literals of most languages: `\u0041`, `\x41`, `\n`, `\/`. */
const decodeBackslash = decodeEscapes(BACKSLASH, 16, (bytes, at) => {
  const next = bytes[at + 1]
  if (next === undefined) return undefined
  if (next === 0x75) {
    const code = readHex(bytes, at + 2, 4)
    if (code >= 0) return { code, length: 6 }
  }
  if (next === 0x78) {
    const code = readHex(bytes, at + 2, 2)
    if (code >= 0) return { code, length: 4 }
  }
  return { code: SHORT.get(next) ?? next, length: 2, isByte: true }
})

const NAMED = new Map(
  (
    'amp& lt< gt> quot" apos\' nbsp\u00a0 sol/ bsol\\ plus+ equals= num# excl! dollar$ percnt% lpar( rpar) ast* comma, ' +
    'period. colon: semi; quest? commat@ lsqb[ lbrack[ rsqb] rbrack] Hat^ lowbar_ UnderBar_ grave` lcub{ lbrace{ ' +
    'rcub} rbrace} verbar| vert| VerticalLine| hyphen- dash- tilde~ Tab\t NewLine\n'
  )
    .split(' ')
    .map((entry) => [entry.slice(0, -1), entry.charCodeAt(entry.length - 1)]),
)

/** A string is made of the bytes for each of them, and an expression tried. */
const HTML_STEPS = 250

/** `&#65;`, `&#x41;`, `&amp;`; the semicolon may be missing, as browsers allow. */
const decodeHtml = decodeEscapes(AMPERSAND, HTML_STEPS, (bytes, at) => {
  const text = Buffer.from(
    bytes.buffer,
    bytes.byteOffset + at + 1,
    Math.min(16, bytes.length - at - 1),
  ).toString('latin1')
  const match = /^(?:#x0*([\da-f]{1,5})|#0*(\d{1,6})|([A-Za-z]+));?/i.exec(text)
  if (!match) return undefined
  const [all, hex, decimal, name = ''] = match
  const code =
    hex !== undefined
      ? Number.parseInt(hex, 16)
      : decimal !== undefined
        ? Number(decimal)
        : (NAMED.get(name) ?? NAMED.get(name.toLowerCase()))
  return code === undefined ? undefined : { code, length: 1 + all.length }
})

/** `=41`, and the soft line break `=` before a line end. */
const decodeQuotedPrintable = decodeEscapes(EQUALS, 16, (bytes, at) => {
  if (bytes[at + 1] === 0x0a) return { code: -1, length: 2 }
  if (bytes[at + 1] === 0x0d && bytes[at + 2] === 0x0a) return { code: -1, length: 3 }
  const code = readHex(bytes, at + 1, 2)
  return code < 0 ? undefined : { code, length: 3, isByte: true }
})

const DECODERS: readonly { readonly name: string; readonly decode: Decoder }[] = [
  { name: 'json', decode: decodeBackslash },
  { name: 'percent', decode: decodePercent },
  { name: 'html', decode: decodeHtml },
  { name: 'quoted_printable', decode: decodeQuotedPrintable },
]
