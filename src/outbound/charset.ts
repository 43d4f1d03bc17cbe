// Bytes -> text, as browsers decide it: byte order mark, then the header, then what the document says in its first
// kilobyte or, later than that, in its head, then UTF-8 if it is that, else windows-1252.

export interface Decoded {
  readonly text: string
  readonly charset: {
    /** WHATWG name, lower case. */
    readonly name: string
    readonly from: 'bom' | 'header' | 'meta' | 'content'
    /** Characters that are U+FFFD because their bytes mean nothing in this charset. */
    readonly replaced: number
  }
}

type Source = Decoded['charset']['from']

const PRESCAN_BYTES = 1024
/** A parser that meets a declaration after it began starts again; further down nobody writes one. */
const LATE_BYTES = 64 * 1024
const MARKS: readonly (readonly [bytes: readonly number[], name: string])[] = [
  [[0xef, 0xbb, 0xbf], 'utf-8'],
  [[0xfe, 0xff], 'utf-16be'],
  [[0xff, 0xfe], 'utf-16le'],
]

/**
 * @param label charset of the Content-Type, as sent
 * @param options.isCut the end may be in the middle of a character, which is then left out
 * @param options.markup look for a declaration inside the document
 */
export function decodeText(
  body: Uint8Array,
  label: string | undefined,
  options: { isCut: boolean; markup: 'html' | 'xml' | undefined },
): Decoded {
  const mark = MARKS.find(([bytes]) => bytes.every((byte, at) => body[at] === byte))
  if (mark) return decode(body.subarray(mark[0].length), mark[1], 'bom', options.isCut)
  const fromHeader = nameOf(label)
  if (fromHeader !== undefined) return decode(body, fromHeader, 'header', options.isCut)
  const declared = options.markup === undefined ? undefined : nameOf(findDeclaration(body, options.markup))
  // A document that can be read as single bytes is not in sixteen bits, whatever it says (HTML, "prescan a byte stream").
  if (declared !== undefined)
    return decode(body, declared.startsWith('utf-16') ? 'utf-8' : declared, 'meta', options.isCut)
  return decode(body, isUtf8(body, options.isCut) ? 'utf-8' : 'windows-1252', 'content', options.isCut)
}

/** The bytes as text of a charset that somebody else found out; undefined for a label that nobody knows. */
export function decodeAs(body: Uint8Array, label: string, isCut: boolean): Decoded | undefined {
  const name = nameOf(label)
  return name === undefined ? undefined : decode(body, name, 'content', isCut)
}

/** Whether all of it is UTF-8; a cut may fall into the last character. */
export function isUtf8(body: Uint8Array, isCut: boolean): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(body, { stream: isCut })
    return true
  } catch {
    return false
  }
}

/** Canonical name of a label; undefined for one that nobody knows. */
function nameOf(label: string | undefined): string | undefined {
  if (label === undefined) return undefined
  try {
    return new TextDecoder(label).encoding
  } catch {
    return undefined
  }
}

function decode(body: Uint8Array, name: string, from: Source, isCut: boolean): Decoded {
  if (name === 'windows-1252') {
    const text = decodeWindows1252(body)
    return { text, charset: { name, from, replaced: 0 } }
  }
  const text = new TextDecoder(name, { ignoreBOM: true }).decode(body, { stream: isCut })
  return { text, charset: { name, from, replaced: countReplaced(text) - countWritten(body, name) } }
}

// Node's own decoder reads 0x80 to 0x9f as control characters on some lines. The five bytes that the standard leaves
// unassigned stay what they are, as browsers read them.
const UPPER_1252 =
  '\u20ac\u0081\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\u008d\u017d\u008f' +
  '\u0090\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\u009d\u017e\u0178'

const decodeWindows1252 = (body: Uint8Array): string =>
  Buffer.from(body)
    .toString('latin1')
    .replace(/[\u0080-\u009f]/g, (char) => UPPER_1252.charAt(char.charCodeAt(0) - 0x80))

function countReplaced(text: string): number {
  let count = 0
  for (let at = text.indexOf('\ufffd'); at >= 0; at = text.indexOf('\ufffd', at + 1)) count++
  return count
}

/** U+FFFD that the author wrote, in the one charset where that is likely to be seen. */
function countWritten(body: Uint8Array, name: string): number {
  if (name !== 'utf-8') return 0
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  let count = 0
  for (let at = bytes.indexOf('\ufffd'); at >= 0; at = bytes.indexOf('\ufffd', at + 3)) count++
  return count
}

function findDeclaration(body: Uint8Array, markup: 'html' | 'xml'): string | undefined {
  const head = Buffer.from(body.subarray(0, PRESCAN_BYTES)).toString('latin1')
  const xml = /^\s*<\?xml\s[^>]*?\bencoding\s*=\s*["']([\w.:-]{1,40})["']/i.exec(head)?.[1]
  if (markup === 'xml' || xml !== undefined) return xml
  // Comments first: what they hold is not a declaration.
  for (const [tag] of head.replace(/<!--[^]*?(?:-->|$)/g, '').matchAll(/<meta[\s/][^>]*>/gi)) {
    const charset = charsetIn(tag)
    if (charset !== undefined) return charset
  }
  return findLateDeclaration(body)
}

const charsetIn = (tag: string) => /[\s;"'/]charset\s*=\s*["']?\s*([\w.:-]{1,40})/i.exec(tag)?.[1]

/** What a script or a comment holds is no tag. Every alternative takes what it has seen, so that the search is linear. */
const LATE_TAGS =
  /<!--[^]*?(?:-->|$)|<(script|style|template|title|textarea)\b[^]*?(?:<\/\1\b|$)|<meta[\s/][^>]{0,1000}>/gi

/** HTML Standard, "change the encoding": a declaration behind a long head counts as well. */
function findLateDeclaration(body: Uint8Array): string | undefined {
  if (body.length <= PRESCAN_BYTES) return undefined
  const head = Buffer.from(body.subarray(0, LATE_BYTES)).toString('latin1')
  for (const [tag] of head.matchAll(LATE_TAGS)) {
    const charset = /^<meta/i.test(tag) ? charsetIn(tag) : undefined
    if (charset !== undefined) return charset
  }
  return undefined
}
