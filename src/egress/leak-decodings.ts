// A body as it reads once its escapes and its line breaks are undone: percent, JSON and string literals, HTML,
// quoted-printable. Undoing covers every mixture of escaped and plain characters, which a list of encoded secrets could not.

import { isUtf8 } from 'node:buffer'

interface View {
  /** How it was made, outermost escape first; empty for the bytes as received. */
  readonly name: string
  readonly bytes: Uint8Array
}

/** Undoes what it understands; leaves alone what it does not. Undefined when nothing changed. */
type Decoder = (bytes: Uint8Array) => Buffer | undefined

/** Escapes within escapes, such as a JSON text in a JSON string. In binary bodies escapes are there by chance. */
const MAX_DEPTH = 2

/**
 * Looks through the bytes as received, then through every way of reading them that differs, each also without its line
 * breaks. Most texts have nothing to undo: for those it takes one look for each kind of escape.
 * @param find names what it finds
 * @returns that name, with how the bytes had to be read in front of it
 */
export function findInEveryReading(
  received: Uint8Array,
  find: (bytes: Uint8Array) => string | undefined,
): string | undefined {
  const first: View = { name: '', bytes: received }
  const found = findInView(first, find)
  if (found !== undefined) return found
  const views = [first]
  let parents = [first]
  for (let depth = 1; ; depth++) {
    const children: View[] = []
    for (const parent of parents)
      for (const { name, decode } of DECODERS) {
        const bytes = decode(parent.bytes)
        if (!bytes || isKnown(views, bytes)) continue
        const child = { name: join(parent.name, name), bytes }
        const foundInChild = findInView(child, find)
        if (foundInChild !== undefined) return foundInChild
        views.push(child)
        children.push(child)
      }
    if (children.length === 0 || depth === MAX_DEPTH || !isUtf8(received)) return undefined
    parents = children
  }
}

function findInView(
  { name, bytes }: View,
  find: (bytes: Uint8Array) => string | undefined,
): string | undefined {
  const found = find(bytes)
  if (found !== undefined) return join(name, found)
  const joined = joinLines(bytes)
  const foundInJoined = joined && find(joined)
  return foundInJoined === undefined ? undefined : join(join(name, 'lines'), foundInJoined)
}

const join = (outer: string, inner: string) => (outer === '' ? inner : `${outer}+${inner}`)

const isKnown = (views: readonly View[], bytes: Uint8Array) =>
  views.some((known) => known.bytes.length === bytes.length && Buffer.compare(known.bytes, bytes) === 0)

const LINE_FEED = 0x0a
const SPACE = 0x20
const isBlank = (byte: number) => byte === SPACE || byte === 0x0d || byte === 0x09

/**
 * Mail, PEM and command lines wrap base64 and hexadecimal at 64 or 76 characters; printers of JSON put every byte of a
 * list on a line. Line breaks go, with the blanks around them. Undefined when there are none.
 */
function joinLines(bytes: Uint8Array): Buffer | undefined {
  if (!bytes.includes(LINE_FEED)) return undefined
  const out = Buffer.allocUnsafe(bytes.length)
  let length = 0
  // Lines are short: byte by byte is faster than a native copy for each.
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!
    if (byte !== LINE_FEED) {
      out[length++] = byte
      continue
    }
    while (length > 0 && isBlank(out[length - 1]!)) length--
    while (at + 1 < bytes.length && isBlank(bytes[at + 1]!)) at++
  }
  return out.subarray(0, length)
}

const PERCENT = 0x25
const BACKSLASH = 0x5c
const AMPERSAND = 0x26
const EQUALS = 0x3d

const hexValue = new Int8Array(256).fill(-1)
for (const [value, char] of [...'0123456789abcdef'].entries()) {
  hexValue[char.charCodeAt(0)] = value
  hexValue[char.toUpperCase().charCodeAt(0)] = value
}

/** A number of `digits` hexadecimal digits at `at`, or -1. */
function readHex(bytes: Uint8Array, at: number, digits: number): number {
  if (at + digits > bytes.length) return -1
  let value = 0
  for (let i = 0; i < digits; i++) {
    const digit = hexValue[bytes[at + i]!]!
    if (digit < 0) return -1
    value = (value << 4) | digit
  }
  return value
}

/** What an escape stands for, and how many bytes it takes; code -1 stands for nothing at all. */
interface Escape {
  readonly code: number
  readonly length: number
  /** The code is a byte, not a character. */
  readonly isByte?: boolean
}

function decodeEscapes(marker: number, read: (bytes: Uint8Array, at: number) => Escape | undefined): Decoder {
  return (bytes) => {
    let at = bytes.indexOf(marker)
    if (at < 0) return undefined
    // No escape is shorter than what it stands for.
    const out = Buffer.allocUnsafe(bytes.length)
    let length = 0
    let from = 0
    let changed = false
    while (at >= 0) {
      const escape = read(bytes, at)
      if (escape) {
        length = copy(bytes, from, at, out, length)
        if (escape.code >= 0)
          length = escape.isByte
            ? writeByte(escape.code, out, length)
            : writeCharacter(escape.code, out, length)
        from = at + escape.length
        changed = true
        at = nextMarker(bytes, marker, from)
      } else at = nextMarker(bytes, marker, at + 1)
    }
    if (!changed) return undefined
    length = copy(bytes, from, bytes.length, out, length)
    return out.subarray(0, length)
  }
}

/** Escapes come in runs: look a few bytes ahead before calling into native code. */
function nextMarker(bytes: Uint8Array, marker: number, from: number): number {
  const near = Math.min(bytes.length, from + 16)
  for (let i = from; i < near; i++) if (bytes[i] === marker) return i
  return near === bytes.length ? -1 : bytes.indexOf(marker, near)
}

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
const decodePercent = decodeEscapes(PERCENT, (bytes, at) => {
  if (bytes[at + 1] === 0x75) {
    const code = readHex(bytes, at + 2, 4)
    return code < 0 ? undefined : { code, length: 6 }
  }
  const code = readHex(bytes, at + 1, 2)
  return code < 0 ? undefined : { code, length: 3, isByte: true }
})

const SHORT = new Map(
  [...'n\nr\rt\tb\bf\f'.matchAll(/(.)([^])/g)].map(([, name, char]) => [
    name!.charCodeAt(0),
    char!.charCodeAt(0),
  ]),
)

/** JSON, and the string literals of most languages: `\u0041`, `\x41`, `\n`, `\/`. */
const decodeBackslash = decodeEscapes(BACKSLASH, (bytes, at) => {
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

/** `&#65;`, `&#x41;`, `&amp;`; the semicolon may be missing, as browsers allow. */
const decodeHtml = decodeEscapes(AMPERSAND, (bytes, at) => {
  const text = Buffer.from(
    bytes.buffer,
    bytes.byteOffset + at + 1,
    Math.min(16, bytes.length - at - 1),
  ).toString('latin1')
  const match = /^(?:#x0*([\da-f]{1,5})|#0*(\d{1,6})|([A-Za-z]+));?/i.exec(text)
  if (!match) return undefined
  const [all, hex, decimal, name] = match
  const code =
    hex === undefined
      ? decimal === undefined
        ? namedCode(name!)
        : Number(decimal)
      : Number.parseInt(hex, 16)
  return code === undefined ? undefined : { code, length: 1 + all.length }
})

const namedCode = (name: string) => NAMED.get(name) ?? NAMED.get(name.toLowerCase())

/** `=41`, and the soft line break `=` before a line end. */
const decodeQuotedPrintable = decodeEscapes(EQUALS, (bytes, at) => {
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
