// How much of the end of what has come may be the beginning of the secret, in whatever form: so much waits for what follows. The gate
// finds a part that is long enough to give the secret away; what is shorter than that, and goes on, must not be out by then.
import { FOLD } from './gram-index.ts'
import { plainNeedles, squeezedNeedles } from './needles.ts'
import type { Sought } from './search.ts'
import { listValues } from './values.ts'

/**
 * @param least letters or escapes that make it wait: where what waits is a whole message, two letters that stand in the secret are not to;
 * of a number, which may be two digits to the letter, twice as many
 * @returns how many of the last bytes are held back, at most `most`
 */
export type HoldTail = (bytes: Buffer, most: number, least?: number) => number

/** Of a form that has gone so far a part was found that gives the secret away; as much again stands between its letters. */
const LONGEST_END = 256
const NEWLINE = 0x0a

/**
 * Whatever ends in a line break is let go whole: no form has a line break between two parts that each are too short to be found, but
 * for those that somebody makes on purpose.
 * @returns step by step: of a long secret each takes a millisecond or two, and there are hundreds
 */
export function* buildHoldTail({ secrets, scheme }: Sought): Generator<undefined, HoldTail> {
  const values = secrets.flatMap((secret) => secret.use((text) => listValues(text, scheme)))
  const plain: Buffer[] = []
  for (const { text } of plainNeedles(values)) yield void plain.push(Buffer.from(text))
  const squeezed: Buffer[] = []
  for (const { text } of squeezedNeedles(values)) yield void squeezed.push(Buffer.from(text))
  const reach = Math.min(LONGEST_END, 2 * Math.max(...[...plain, ...squeezed].map(({ length }) => length)))
  const grams = { plain: yield* buildGrams(plain), squeezed: yield* buildGrams(squeezed) }

  return (bytes, most, least = 1) => {
    if (bytes.length === 0 || bytes.at(-1) === NEWLINE) return 0
    const end = bytes.subarray(-most)
    const near = end.subarray(-reach)
    const folded = Buffer.allocUnsafe(near.length)
    for (let at = 0; at < near.length; at++) folded[at] = FOLD[near[at] ?? 0] ?? 0
    const letters = squeezeTail(folded)
    const isGram = least >= GRAM_BYTES
    const inLetters = isGram && !grams.squeezed.has(letters.bytes) ? 0 : longestEnd(squeezed, letters.bytes)
    const inBytes = isGram && !grams.plain.has(folded) ? 0 : longestEnd(plain, folded)
    return Math.max(
      inBytes < needed(folded, inBytes, least) ? 0 : inBytes,
      inLetters < needed(letters.bytes, inLetters, least)
        ? 0
        : folded.length - (letters.places[letters.places.length - inLetters] ?? 0),
      escapedRun(end, least),
    )
  }
}

const GRAM_BYTES = 4
/** Three of four places stay empty, of a short secret many more. */
const LEAST_GRAM_BITS = 18

interface Grams {
  /** Whether the last four bytes may stand in one of the forms: where not, no longer end does, and nobody has to look. */
  has(bytes: Buffer): boolean
}

function* buildGrams(forms: readonly Buffer[]): Generator<undefined, Grams> {
  const sum = forms.reduce((sum, { length }) => sum + length, 1)
  const gramBits = Math.max(LEAST_GRAM_BITS, Math.ceil(Math.log2(sum)) + 2)
  const bits = new Uint8Array(1 << (gramBits - 3))
  const placeOf = (bytes: Buffer, at: number) =>
    Math.imul(bytes.readUInt32LE(at), 0x9e3779b1) >>> (32 - gramBits)
  for (const form of forms) {
    for (let at = 0; at + GRAM_BYTES <= form.length; at++) {
      const place = placeOf(form, at)
      bits[place >> 3] = (bits[place >> 3] ?? 0) | (1 << (place & 7))
    }
    yield
  }
  return {
    has(bytes) {
      if (bytes.length < GRAM_BYTES) return false
      const place = placeOf(bytes, bytes.length - GRAM_BYTES)
      return ((bits[place >> 3] ?? 0) & (1 << (place & 7))) !== 0
    },
  }
}

/** Whatever is no more than one letter of the secret waits where one is enough. */
const needed = (bytes: Buffer, length: number, least: number): number =>
  least > 1 && isHexadecimal(bytes.subarray(bytes.length - length)) ? 2 * least : least

const isHexadecimal = (bytes: Buffer): boolean =>
  bytes.every((byte) => (byte >= 0x30 && byte <= 0x39) || (byte >= 0x61 && byte <= 0x66))

/** @returns the length of the longest end of `bytes` that stands in one of the forms; the end of an end stands there, too */
function longestEnd(forms: readonly Buffer[], bytes: Buffer): number {
  let longest = 0
  for (const form of forms)
    while (longest < bytes.length && longest < form.length) {
      if (!form.includes(bytes.subarray(bytes.length - longest - 1))) break
      longest++
    }
  return longest
}

const isAlphanumeric = (byte: number) => (byte >= 0x30 && byte <= 0x39) || (byte >= 0x61 && byte <= 0x7a)

/** Letters and digits alone, and where each of them stands. */
function squeezeTail(folded: Buffer): { readonly bytes: Buffer; readonly places: Uint32Array } {
  const bytes = Buffer.allocUnsafe(folded.length)
  const places = new Uint32Array(folded.length)
  let count = 0
  for (let at = 0; at < folded.length; at++) {
    const byte = folded[at] ?? 0
    if (!isAlphanumeric(byte)) continue
    bytes[count] = byte
    places[count++] = at
  }
  return { bytes: bytes.subarray(0, count), places: places.subarray(0, count) }
}

/** Of each byte whether it is one of these: a run without an end is looked at for as far as anything is held. */
const tableOf = (characters: string) =>
  Uint8Array.from({ length: 256 }, (_, byte) => (characters.includes(String.fromCodePoint(byte)) ? 1 : 0))
/** What escapes begin with: percent, JSON and C, HTML, quoted-printable. */
const INTRODUCES = tableOf('%\\&=')
/** What a run of escapes and letters ends at. */
const ENDS_RUN = tableOf(' \t\r\n"\'<>(){},')
const BACKSLASH = 0x5c

/** Escapes have too many mixtures to be listed: a run that has one waits to its end. */
function escapedRun(bytes: Buffer, least: number): number {
  let escapes = 0
  let at = bytes.length
  for (; at > 0; at--) {
    const byte = bytes[at - 1] ?? 0
    if (ENDS_RUN[byte] === 1 && (at < 2 || bytes[at - 2] !== BACKSLASH)) break
    escapes += INTRODUCES[byte] ?? 0
  }
  return escapes >= least ? bytes.length - at : 0
}
