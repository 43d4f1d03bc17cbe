// What a secret looks like after the encodings that turn every byte into something else. Encodings that leave some
// bytes as they are (percent, JSON, HTML …) have too many mixed forms to list: those are undone by leak-views.ts.
import type { Pattern } from './multi-search.ts'

const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const BASE64URL = `${BASE64.slice(0, 62)}-_`
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
const BASE32HEX = '0123456789ABCDEFGHIJKLMNOPQRSTUV'

/** A skeleton shorter than this would be found by chance. */
const MIN_SKELETON_BYTES = 8

/** Patterns for one value; to be searched without regard to case. */
export function encodeEveryWay(value: Buffer): Pattern[] {
  const patterns: Pattern[] = [
    { name: 'raw', bytes: value },
    { name: 'reversed', bytes: Buffer.from(value.toReversed()) },
    { name: 'hex', bytes: Buffer.from(value.toString('hex')) },
    { name: 'rot13', bytes: value.map(rotate13) },
    // From the first byte to the last one without the zeros around them: the same for either byte order.
    { name: 'utf16', bytes: spread(value, 2) },
    { name: 'utf32', bytes: spread(value, 4) },
    ...atEveryAlignment('base64', value, BASE64),
    ...atEveryAlignment('base32', value, BASE32),
    ...atEveryAlignment('base32hex', value, BASE32HEX),
    ...atEveryAlignment('utf16_base64', Buffer.from(value.toString('latin1'), 'utf16le'), BASE64),
  ]
  const text = value.toString('latin1')
  if (text.includes(' '))
    patterns.push({ name: 'form', bytes: Buffer.from(text.replaceAll(' ', '+'), 'latin1') })
  for (const pattern of atEveryAlignment('base64url', value, BASE64URL))
    if (/[-_]/.test(Buffer.from(pattern.bytes).toString())) patterns.push(pattern)
  return patterns
}

/** Patterns for a body of which only letters and digits are left (`toSkeleton`): wrapped, spaced, listed forms. */
export function encodeSkeletons(value: Buffer): Pattern[] {
  const hex = [...value].map((byte) => byte.toString(16).padStart(2, '0'))
  const raw = toSkeleton(value)
  return [
    // A secret that is mostly punctuation leaves too little to be recognised by.
    { name: 'spaced', bytes: raw.length * 2 >= value.length ? raw : Buffer.alloc(0) },
    { name: 'spaced_hex', bytes: Buffer.from(hex.join('')) },
    { name: 'hex_list', bytes: Buffer.from(hex.map((byte) => `0x${byte}`).join('')) },
    { name: 'decimal_list', bytes: Buffer.from([...value].join('')) },
    ...atEveryAlignment('wrapped_base64', value, BASE64).map(({ name, bytes }) => ({
      name,
      bytes: toSkeleton(bytes),
    })),
    ...atEveryAlignment('wrapped_base32', value, BASE32),
  ].filter(({ bytes }) => bytes.length >= MIN_SKELETON_BYTES)
}

const isWord = new Uint8Array(256)
for (const char of BASE64.slice(0, 62)) isWord[char.charCodeAt(0)] = 1

/** Letters and digits only, so that line breaks, separators and quotes between the characters do not matter. */
export function toSkeleton(bytes: Uint8Array): Buffer {
  const kept = Buffer.allocUnsafe(bytes.length)
  let length = 0
  // The write position only moves past what is kept: no branch for the processor to guess wrong.
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i]!
    kept[length] = byte
    length += isWord[byte]!
  }
  return kept.subarray(0, length)
}

/**
 * The value in a base-2^n alphabet wherever it may start within a group, without the characters at either end that
 * also depend on its neighbours. Covers `scheme secret` and `user:secret` encoded as a whole.
 */
function atEveryAlignment(name: string, value: Uint8Array, alphabet: string): Pattern[] {
  const bitsPerChar = Math.log2(alphabet.length)
  const alignments = bitsPerChar === 6 ? 3 : 5
  return Array.from({ length: alignments }, (_, before) => {
    const firstBit = before * 8
    const lastBit = firstBit + value.length * 8
    const chars: number[] = []
    let held = 0
    let heldBits = 0
    const start = Math.ceil(firstBit / bitsPerChar)
    // Bits of the first character that is wholly the value's.
    let skip = start * bitsPerChar - firstBit
    for (const byte of value) {
      held = (held << 8) | byte
      heldBits += 8
      if (skip > 0) {
        const dropped = Math.min(skip, heldBits)
        heldBits -= dropped
        skip -= dropped
        held &= (1 << heldBits) - 1
      }
      for (; heldBits >= bitsPerChar; heldBits -= bitsPerChar) {
        chars.push(alphabet.charCodeAt((held >> (heldBits - bitsPerChar)) & (alphabet.length - 1)))
        held &= (1 << (heldBits - bitsPerChar)) - 1
      }
    }
    const expected = Math.floor(lastBit / bitsPerChar) - start
    return { name, bytes: Buffer.from(chars.slice(0, expected)) }
  })
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
