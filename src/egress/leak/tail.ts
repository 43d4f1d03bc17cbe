// How much of the end of what has come may be the beginning of the secret, in whatever form: so much waits for what follows. The gate
// finds a part that is long enough to give the secret away; what is shorter than that, and goes on, must not be out by then.
import { FOLD } from './gram-index.ts'
import { listNeedles } from './needles.ts'
import type { Sought } from './search.ts'
import { listValues } from './values.ts'

/** @returns how many of the last bytes are held back, at most `most` */
export type HoldTail = (bytes: Buffer, most: number) => number

/** Longer runs of one stretch are no secret, or were found. */
const LONGEST_FORM = 4096
const NEWLINE = 0x0a

/**
 * Whatever ends in a line break is let go whole: no form has a line break between two parts that each are too short to be found, but
 * for those that somebody makes on purpose.
 */
export function createHoldTail({ secrets, scheme }: Sought): HoldTail {
  const needles = listNeedles(secrets.flatMap((secret) => secret.use((text) => listValues(text, scheme))))
  const plain = needles.plain.map(({ text }) => Buffer.from(text))
  const squeezed = needles.squeezed.map(({ text }) => Buffer.from(text))

  return (bytes, most) => {
    if (bytes.length === 0 || bytes.at(-1) === NEWLINE) return 0
    const end = bytes.subarray(-Math.min(most, LONGEST_FORM))
    const folded = Buffer.from(end.map((byte) => FOLD[byte] ?? byte))
    const letters = squeezeTail(folded)
    const inLetters = longestEnd(squeezed, letters.bytes)
    const held = Math.max(
      longestEnd(plain, folded),
      inLetters === 0 ? 0 : folded.length - (letters.places[letters.places.length - inLetters] ?? 0),
      escapedRun(end),
    )
    return Math.min(held, most)
  }
}

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
function squeezeTail(folded: Buffer): { readonly bytes: Buffer; readonly places: readonly number[] } {
  const places: number[] = []
  for (let at = 0; at < folded.length; at++) if (isAlphanumeric(folded[at] ?? 0)) places.push(at)
  return { bytes: Buffer.from(places.map((at) => folded[at] ?? 0)), places }
}

/** What escapes begin with: percent, JSON and C, HTML, quoted-printable. */
const INTRODUCES = new Set(Buffer.from('%\\&='))
/** What a run of escapes and letters ends at. */
const ENDS_RUN = new Set(Buffer.from(' \t\r\n"\'<>(){},'))
const BACKSLASH = 0x5c

/** Escapes have too many mixtures to be listed: a run that has one waits to its end. */
function escapedRun(bytes: Buffer): number {
  let hasEscape = false
  let at = bytes.length
  for (; at > 0; at--) {
    const byte = bytes[at - 1] ?? 0
    if (ENDS_RUN.has(byte) && bytes[at - 2] !== BACKSLASH) break
    hasEscape ||= INTRODUCES.has(byte)
  }
  return hasEscape ? bytes.length - at : 0
}
