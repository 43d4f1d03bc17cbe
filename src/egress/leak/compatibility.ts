// Letters and digits that Unicode has a second time, for width, style or a frame: a full-width `Ａ`, a mathematical `𝐀`, a circled `Ⓐ`.
// Compatibility normalization (NFKC) makes them what they stand for. Only texts that hold some are looked at further.
import { isAscii } from 'node:buffer'
import type { Budget } from './budget.ts'
import { type Content, viewOf } from './containers.ts'

// In UTF-8, as Latin-1 reads its bytes: letters and digits in a frame, raised or lowered, letterlike symbols, and mathematical ones.
const STYLED =
  '\\xe2(?:[\\x91-\\x93][^]|\\x84[^]|\\x81[\\xb0-\\xbf]|\\x82[\\x80-\\x9c])|\\xf0(?:\\x9d[\\x90-\\x9f]|\\x9f[\\x84\\x85])[^]'
const FULL_WIDTH_LETTER = '\\xef(?:\\xbc[\\x90-\\x99\\xa1-\\xba]|\\xbd[\\x81-\\x9a])'
/** Marks and blanks, too: every text in Chinese or Japanese has some, so that they alone are not looked at. */
const FULL_WIDTH = '\\xef(?:\\xbc[\\x81-\\xbf]|\\xbd[\\x80-\\x9e])|\\xe3\\x80\\x80'

const LETTER = new RegExp(`${FULL_WIDTH_LETTER}|${STYLED}`)
const RUN = new RegExp(`(?:${FULL_WIDTH}|${STYLED})+`, 'g')
/** Among bytes that are no text one is found by chance. */
const SEVERAL = new RegExp(`(?:${FULL_WIDTH}|${STYLED}){4}`)

/**
 * Whether four of them may stand side by side: each begins with one of four bytes, and has three or four. Of the twelve bytes that they take
 * at least one that begins one is in every other word, and of bytes that are no text few words have such a byte.
 */
function mayHoldSeveral(bytes: Uint8Array): boolean {
  const words = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  for (let at = 0; at + 4 <= bytes.length; at += 8) {
    const word = words.getInt32(at, true)
    // The three highest bits of a byte are set in each of the four. Of words of random bytes four in ten have such a byte, and one in sixteen
    // one of the four.
    const mayBegin = (word & (word << 1) & (word << 2) & 0x80_80_80_80) !== 0
    if (mayBegin && holdsBeginning(bytes, at) && isAmongSeveral(bytes, at)) return true
  }
  return false
}
const holdsBeginning = (bytes: Uint8Array, word: number) =>
  ((BEGINS[bytes[word] ?? 0] ?? 0) |
    (BEGINS[bytes[word + 1] ?? 0] ?? 0) |
    (BEGINS[bytes[word + 2] ?? 0] ?? 0) |
    (BEGINS[bytes[word + 3] ?? 0] ?? 0)) ===
  1
function isAmongSeveral(bytes: Uint8Array, word: number): boolean {
  for (let first = Math.max(0, word - 12); first < word + 4; first++)
    if (BEGINS[bytes[first] ?? 0] === 1 && isFollowed(bytes, first, 3)) return true
  return false
}
const isFollowed = (bytes: Uint8Array, at: number, times: number): boolean =>
  times === 0 ||
  (BEGINS[bytes[at + 3] ?? 0] === 1 && isFollowed(bytes, at + 3, times - 1)) ||
  (BEGINS[bytes[at + 4] ?? 0] === 1 && isFollowed(bytes, at + 4, times - 1))
const BEGINS = new Uint8Array(256)
for (const byte of [0xe2, 0xe3, 0xef, 0xf0]) BEGINS[byte] = 1

/** A run is normalized at once; one of a single character costs as much as a long one. */
const NORMALIZE_STEPS = 40

/**
 * @param isText valid UTF-8
 * @returns the text with those characters as what they stand for; undefined where there are none
 * @throws {OverBudget}
 */
export function readCompatibility(bytes: Uint8Array, isText: boolean, budget: Budget): Content | undefined {
  const view = viewOf(bytes)
  budget.spend(bytes.length >> 3)
  if (isAscii(view)) return undefined
  budget.spend(bytes.length)
  if (!isText && !mayHoldSeveral(bytes)) return undefined
  const text = view.toString('latin1')
  if (!(isText ? LETTER : SEVERAL).test(text)) return undefined
  budget.spend(bytes.length * NORMALIZE_STEPS)
  const normalized = text.replaceAll(RUN, (run) =>
    Buffer.from(Buffer.from(run, 'latin1').toString('utf8').normalize('NFKC')).toString('latin1'),
  )
  return { name: 'compatibility', bytes: Buffer.from(normalized, 'latin1') }
}
