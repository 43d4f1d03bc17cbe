// A secret in the encodings that turn every byte into something else. Encodings that leave some bytes as they are (percent,
// JSON, HTML …) have too many mixed forms to list: decodings.ts undoes those.
import type { Pattern } from './multi-search.ts'

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** A piece of a wrapped encoding that is shorter than this would be found by chance. */
const MIN_PIECE_CHARS = 12

/** @returns patterns for one value, to be searched without regard to case */
export function encodeEveryWay(value: Buffer): Pattern[] {
  const patterns: Pattern[] = [
    { name: 'raw', bytes: value },
    { name: 'reversed', bytes: Buffer.from(value.toReversed()) },
    ...wrapped({ name: 'hex', bytes: Buffer.from(value.toString('hex')) }),
    { name: 'rot13', bytes: value.map(rotate13) },
    // The zeros around the first and the last byte are left off, so that one form serves either byte order.
    { name: 'utf16', bytes: spread(value, 2) },
    { name: 'utf32', bytes: spread(value, 4) },
    ...listsOfBytes(value),
    ...inBase64('base64', value).flatMap(wrapped),
    ...inBase32('base32', value).flatMap(wrapped),
    ...inBase64('utf16_base64', Buffer.from(value.toString('latin1'), 'utf16le')),
  ]
  const text = value.toString('latin1')
  if (text.includes(' '))
    patterns.push({ name: 'form', bytes: Buffer.from(text.replaceAll(' ', '+'), 'latin1') })
  for (const { bytes } of inBase64('base64', value)) {
    const standard = bytes.toString('latin1')
    if (/[+/]/.test(standard))
      patterns.push({
        name: 'base64url',
        bytes: Buffer.from(standard.replaceAll('+', '-').replaceAll('/', '_'), 'latin1'),
      })
  }
  return patterns
}

interface Encoded extends Pattern {
  readonly bytes: Buffer
}

// The value may start anywhere within a group of bytes, so it has one form per alignment. The characters at either end
// that also depend on its neighbours are left off, which covers `scheme secret` and `user:secret` encoded as a whole.

function inBase64(name: string, value: Buffer): Encoded[] {
  return [0, 1, 2].map((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), value]).toString('base64')
    const [start, end] = ownChars(before, value.length, 6)
    return { name, bytes: Buffer.from(encoded.slice(start, end), 'latin1') }
  })
}

function inBase32(name: string, value: Buffer): Encoded[] {
  return [0, 1, 2, 3, 4].map((before) => {
    const [start, end] = ownChars(before, value.length, 5)
    const bytes = Buffer.alloc(end - start)
    for (let char = start; char < end; char++) {
      const bit = char * 5 - before * 8
      const [high = 0, low = 0] = value.subarray(bit >> 3, (bit >> 3) + 2)
      const pair = (high << 8) | low
      bytes[char - start] = BASE32.charCodeAt((pair >> (11 - (bit & 7))) & 31)
    }
    return { name, bytes }
  })
}

/** The first character that is wholly the value's, and the first after it that is not. */
function ownChars(before: number, length: number, bitsPerChar: number): [start: number, end: number] {
  return [Math.ceil((before * 8) / bitsPerChar), Math.floor(((before + length) * 8) / bitsPerChar)]
}

/** Adds the two halves: where an encoding is broken into lines, one half is still in one piece. */
function wrapped(encoded: Encoded): Encoded[] {
  const { name, bytes } = encoded
  const middle = bytes.length >> 1
  if (middle < MIN_PIECE_CHARS) return [encoded]
  const piece = `${name}_wrapped`
  return [
    encoded,
    { name: piece, bytes: bytes.subarray(0, middle) },
    { name: piece, bytes: bytes.subarray(middle) },
  ]
}

/** Dumps of bytes: `41 42`, `41:42`, `0x41, 0x42`, `65,66` and their like. */
function listsOfBytes(value: Buffer): Encoded[] {
  const hex = [...value].map((byte) => byte.toString(16).padStart(2, '0'))
  const lists: [name: string, text: string][] = [
    ...[' ', ':', '-'].map((separator): [string, string] => ['hex_dump', hex.join(separator)]),
    ...[',', ', '].flatMap((separator): [string, string][] => [
      ['hex_list', hex.map((byte) => `0x${byte}`).join(separator)],
      ['decimal_list', value.join(separator)],
    ]),
  ]
  return lists.map(([name, text]) => ({ name, bytes: Buffer.from(text) }))
}

function spread(value: Buffer, stride: number): Buffer {
  const bytes = Buffer.alloc(Math.max(0, (value.length - 1) * stride + 1))
  for (const [i, byte] of value.entries()) bytes[i * stride] = byte
  return bytes
}

function rotate13(byte: number): number {
  const base = byte >= 0x61 && byte <= 0x7a ? 0x61 : byte >= 0x41 && byte <= 0x5a ? 0x41 : undefined
  return base === undefined ? byte : ((byte - base + 13) % 26) + base
}
