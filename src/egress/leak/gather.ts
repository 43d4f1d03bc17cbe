// A text without what lists and strings put between characters: for secrets of which letters and digits alone are too few to be told from
// chance, such as a password with many signs. The signs that it drops are dropped from the secret, too; all others stay.
import type { Budget } from './budget.ts'
import { createValue, onlyPlaces, type SoughtValue } from './pieces.ts'

/** What a byte is: kept (0), dropped, or something to look at: the marker of a list, the first byte of a character that may be unseen. */
const DROPPED = 1
const LOOKED_AT = 2
const KIND = new Uint8Array(256)
for (const byte of Buffer.from(' \t\r\n"\'`,;:[]{}()+\\=>')) KIND[byte] = DROPPED
for (const byte of [0x2d, 0x2a, 0xc2, 0xe2, 0xef]) KIND[byte] = LOOKED_AT

/** Fewer, or what says less, would be found by chance where everything between them is overlooked. */
const LEAST_BYTES = 8
const LEAST_BITS = 30

/** The value as it is found in a gathered text; undefined where too little is left of it. */
export function gatherValue(value: SoughtValue): SoughtValue | undefined {
  const left = onlyPlaces(value, (byte) => KIND[byte] !== DROPPED)
  // A public beginning counts here: it is the whole that is found.
  const said = createValue(left.bytes).bits.at(-1) ?? 0
  return left.bytes.length >= LEAST_BYTES && said >= LEAST_BITS ? left : undefined
}

/**
 * @param memoryFor at least so many bytes that nobody else reads, to write to
 * @throws {OverBudget}
 */
export function gather(
  bytes: Uint8Array,
  budget: Budget,
  memoryFor: (length: number) => Uint8Array,
): Uint8Array {
  budget.spend(bytes.length * 2)
  const out = memoryFor(bytes.length)
  let length = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0
    const kind = KIND[byte]
    if (kind === DROPPED) continue
    if (kind === LOOKED_AT) {
      const unseen = byte < 0x80 ? countMarker(bytes, at) : countUnseen(bytes, at)
      if (unseen > 0) {
        at += unseen - 1
        continue
      }
    }
    out[length++] = byte
  }
  return out.subarray(0, length)
}

const LINE_FEED = 0x0a
const isBlank = (byte: number | undefined) => byte === 0x20 || byte === 0x09

/** @returns 1 for the dash or star of a list entry: the first of its line, with a blank behind it */
function countMarker(bytes: Uint8Array, at: number): number {
  if (!isBlank(bytes[at + 1])) return 0
  let before = at - 1
  while (isBlank(bytes[before])) before--
  return before < 0 || bytes[before] === LINE_FEED ? 1 : 0
}

/** @returns how many bytes a character takes that nobody sees: a soft hyphen, spaces and joiners without a width, the mark of byte order */
function countUnseen(bytes: Uint8Array, at: number): number {
  const [first = 0, second = 0, third = 0] = bytes.subarray(at, at + 3)
  if (first === 0xc2) return second === 0xad ? 2 : 0
  if (first === 0xe2)
    return (second === 0x80 && third >= 0x8b && third <= 0x8f) || (second === 0x81 && third === 0xa0) ? 3 : 0
  return first === 0xef && second === 0xbb && third === 0xbf ? 3 : 0
}
