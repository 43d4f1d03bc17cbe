// Decodes the bytes of a source: guesses the charset where nothing declares one, and says where the text seems to be misread.
// Runs in the child process only: the tables of the guess are loaded with this file.
import { analyse } from 'chardet'
import { type Decoded, decodeAs, decodeText } from '../../outbound/charset.ts'
import type { Charset } from '../reading.ts'

/** A guess is no better over more text, and takes longer. */
const MAX_SAMPLE_BYTES = 16 * 1024
const BEFORE_BYTES = 40
const AFTER_BYTES = 400
/** Below it the text is too short to say, and what nobody declares is windows-1252 more often than anything else. */
const MIN_CONFIDENCE = 0.2

/** The text of a source, and how it was decoded. */
export function decodeSource(
  body: Uint8Array,
  label: string | undefined,
  options: { isCut: boolean; markup: 'html' | 'xml' | undefined },
): { readonly text: string; readonly charset: Charset } {
  const decoded = decodeText(body, label, options)
  const { name, from } = decoded.charset
  if (from === 'content' && name === 'windows-1252') return guess(body, options.isCut) ?? decoded
  return isMisread(body, decoded)
    ? { text: decoded.text, charset: { ...decoded.charset, warning: 'mojibake' } }
    : decoded
}

function guess(body: Uint8Array, isCut: boolean): ReturnType<typeof decodeSource> | undefined {
  const found = detectCharset(body)
  const decoded = found && decodeAs(body, found.name, isCut)
  return (
    decoded && {
      text: decoded.text,
      charset: { ...decoded.charset, from: 'detected', confidence: found.confidence },
    }
  )
}

/** The most likely charset of bytes that are not UTF-8 throughout; undefined where nothing can be said. */
function detectCharset(body: Uint8Array): { name: string; confidence: number } | undefined {
  const sample = sampleOf(body)
  for (const { name, confidence } of analyse(sample)) {
    if (confidence < MIN_CONFIDENCE * 100) break
    const chosen = windowsNameOf(name, sample)
    // The pieces of the sample may be cut inside a character; more than that is another charset.
    const read = decodeAs(sample, chosen, true)
    if (read && read.charset.replaced * 50 <= countBeyondAscii(read.text))
      return { name: chosen, confidence: confidence / 100 }
  }
  return undefined
}

/** What stands around characters beyond ASCII, without tags: what is in every page says nothing about this one. */
function sampleOf(body: Uint8Array): Uint8Array {
  const pieces: Uint8Array[] = []
  let size = 0
  let at = 0
  while (at < body.length && size < MAX_SAMPLE_BYTES) {
    const found = nextBeyondAscii(body, at)
    if (found === undefined) break
    const piece = body.subarray(Math.max(at, found - BEFORE_BYTES), found + AFTER_BYTES)
    pieces.push(piece)
    size += piece.length
    at = found + AFTER_BYTES
  }
  const text = Buffer.concat(pieces).toString('latin1')
  return Buffer.from(text.replace(/<[^<>]*>/g, ' ').slice(0, MAX_SAMPLE_BYTES), 'latin1')
}

function nextBeyondAscii(body: Uint8Array, from: number): number | undefined {
  for (let at = from; at < body.length; at++) if ((body[at] ?? 0) > 0x7f) return at
  return undefined
}

/**
 * Names of ISO stand for the Windows charsets that extend them where the bytes between 0x80 and 0x9F are used: in ISO those are controls.
 * The letters of Ukrainian are lines of tables in KOI8-R.
 */
function windowsNameOf(name: string, sample: Uint8Array): string {
  const uses = (from: number, to: number) => sample.some((byte) => byte >= from && byte <= to)
  if (name === 'ISO-8859-6' && uses(0x80, 0x9f)) return 'windows-1256'
  if (name === 'KOI8-R' && [0xa4, 0xa6, 0xa7, 0xad].some((byte) => uses(byte, byte))) return 'koi8-u'
  return name
}

const MIN_SIGNS = 3
/** The bytes that UTF-8 goes on with, as windows-1252 shows them. */
const GOES_ON =
  '[\u0080-\u00bf\u0152\u0153\u0160\u0161\u0178\u017d\u017e\u0192\u02c6\u02dc\u2013\u2014\u2018-\u201e\u2020-\u2022\u2026\u2030\u2039\u203a\u20ac\u2122]'
/** Without U+00DF: a word that ends in it may stand before a quotation mark. */
const MISREAD_UTF8 = new RegExp(
  `[\\u00c2-\\u00de]${GOES_ON}|[\\u00e0-\\u00ef]${GOES_ON}{2}|[\\u00f0-\\u00f4]${GOES_ON}{3}`,
  'g',
)
/** Text that is misread is so from its beginning. */
const MAX_JUDGED_CHARACTERS = 256 * 1024

/** Whether the text looks like one that was decoded, here or before it was sent, as something that it is not. */
function isMisread(body: Uint8Array, { text, charset }: Decoded): boolean {
  const isUnicode = charset.name.startsWith('utf-')
  // Nobody writes three characters of several bytes by chance, and nothing beside them that is not UTF-8.
  if (!isUnicode && countWhole(body) >= MIN_SIGNS) return true
  if (charset.replaced >= MIN_SIGNS && charset.replaced * 5 >= countBeyondAscii(text)) return true
  if (!isUnicode) return false
  const judged = text.slice(0, MAX_JUDGED_CHARACTERS)
  let signs = 0
  for (const [pair] of judged.matchAll(MISREAD_UTF8)) signs += pair.length
  return signs >= 2 * MIN_SIGNS && signs * 2 >= countBeyondAscii(judged)
}

/** Characters beyond ASCII of bytes that are UTF-8 throughout; 0 where they are not. */
function countWhole(body: Uint8Array): number {
  try {
    return countBeyondAscii(new TextDecoder('utf-8', { fatal: true }).decode(body, { stream: true }))
  } catch {
    return 0
  }
}

function countBeyondAscii(text: string): number {
  let count = 0
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 0x7f) count++
  return count
}
