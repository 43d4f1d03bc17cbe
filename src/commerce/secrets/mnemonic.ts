// Seed phrases (BIP-39, English): twelve to twenty-four words of the list in a row, with the right checksum.
import { hash } from 'node:crypto'
import { WORD_STARTS } from '../../data/mnemonic-words.ts'

const WORD_CHARS = 4
const WORD_MIN_CHARS = 3
const WORD_MAX_CHARS = 8
const LENGTHS = [24, 21, 18, 15, 12]
/** A run of list words longer than any phrase is searched at its beginning only. */
const MAX_RUN = 48
/** Longer rows of letters are read in pieces. */
const MAX_LETTERS = 32

const LETTERS = 27

/** The first four letters tell every word of the list from every other: the list by three of them, and the fourth of each word. */
interface WordList {
  /** By three letters: the first word that begins with them, or -1. */
  readonly first: Int16Array
  readonly prefixes: Uint16Array
  readonly fourths: Uint8Array
}

let list: WordList | undefined

function readList(): WordList {
  const count = WORD_STARTS.length / WORD_CHARS
  const first = new Int16Array(LETTERS ** 3).fill(-1)
  const prefixes = new Uint16Array(count)
  const fourths = new Uint8Array(count)
  for (let index = 0; index < count; index++) {
    const codes = [0, 1, 2, 3].map((letter) => WORD_STARTS.charCodeAt(index * WORD_CHARS + letter) & 0x1f)
    const prefix = (codes[0]! * LETTERS + codes[1]!) * LETTERS + codes[2]!
    if (first[prefix] === -1) first[prefix] = index
    prefixes[index] = prefix
    fourths[index] = codes[3]!
  }
  return { first, prefixes, fourths }
}

/** No text is cut out for it: a message may be made of words. -1 where it is none of the list. */
function indexOf({ first, prefixes, fourths }: WordList, text: string, start: number, end: number): number {
  const length = end - start
  if (length < WORD_MIN_CHARS || length > WORD_MAX_CHARS) return -1
  const letter = (at: number) => text.charCodeAt(start + at) & 0x1f
  const prefix = (letter(0) * LETTERS + letter(1)) * LETTERS + letter(2)
  const fourth = length > 3 ? letter(3) : 0
  for (let index = first[prefix]!; index >= 0 && prefixes[index] === prefix; index++)
    if (fourths[index] === fourth) return index
  return -1
}

const GAP = /[\s,]/
const HOLDS_GAPS = /^(?:[^\s,]*[\s,]){11}/

/** @returns the phrase, where the text holds one */
export function findMnemonic(text: string): string | undefined {
  // Twelve words of three letters with their spaces. Most long texts are base64, which has none.
  if (text.length < 47 || !GAP.test(text) || !HOLDS_GAPS.test(text)) return undefined
  const words = (list ??= readList())
  const run: Run = { count: 0, indices: new Int16Array(MAX_RUN), bounds: new Int32Array(2 * MAX_RUN) }
  const { length } = text
  for (let at = 0; at < length;) {
    const start = at
    const kind = kindOf(text.charCodeAt(at++))
    if (kind === GAP_KIND) continue
    const end = kind === LETTER ? Math.min(length, start + MAX_LETTERS) : length
    while (at < end && kindOf(text.charCodeAt(at)) === kind) at++
    const index = kind === LETTER ? indexOf(words, text, start, at) : -1
    if (index >= 0) add(run, index, start, at)
    // Wallets number the words.
    else if (kind === LETTER || at - start > 3 || !/^\d{1,2}[.):]?$/.test(text.slice(start, at))) {
      const found = finish(run, text)
      if (found !== undefined) return found
    }
  }
  return finish(run, text)
}

const OTHER = 0
const LETTER = 1
const GAP_KIND = 2
const KINDS = new Uint8Array(128).fill(OTHER)
for (let code = 0; code < KINDS.length; code++) {
  const char = String.fromCharCode(code)
  if (/[A-Za-z]/.test(char)) KINDS[code] = LETTER
  if (GAP.test(char)) KINDS[code] = GAP_KIND
}

/** Letters, white space with commas, and everything else. */
const kindOf = (code: number): number =>
  code < KINDS.length ? KINDS[code]! : isWideSpace(code) ? GAP_KIND : OTHER

/** All white space beyond ASCII, in numbers: a text may be made of nothing else. */
const isWideSpace = (code: number): boolean =>
  code === 0xa0 ||
  code === 0x1680 ||
  (code >= 0x2000 && code <= 0x200a) ||
  code === 0x2028 ||
  code === 0x2029 ||
  code === 0x202f ||
  code === 0x205f ||
  code === 0x3000 ||
  code === 0xfeff

/** Words of the list in a row: which they are, and where each begins and ends. */
interface Run {
  count: number
  readonly indices: Int16Array
  readonly bounds: Int32Array
}

function add(run: Run, index: number, start: number, end: number): void {
  if (run.count === MAX_RUN) return
  run.indices[run.count] = index
  run.bounds[2 * run.count] = start
  run.bounds[2 * run.count + 1] = end
  run.count++
}

function finish(run: Run, text: string): string | undefined {
  const found = run.count >= 12 ? findPhrase(run, text) : undefined
  run.count = 0
  return found
}

function findPhrase({ count, indices, bounds }: Run, text: string): string | undefined {
  for (const length of LENGTHS)
    for (let start = 0; start + length <= count; start++)
      if (hasChecksum([...indices.subarray(start, start + length)]))
        return Array.from({ length }, (_, word) =>
          text.slice(bounds[2 * (start + word)], bounds[2 * (start + word) + 1]),
        ).join(' ')
  return undefined
}

function hasChecksum(indices: readonly number[]): boolean {
  const bits = indices.map((index) => index.toString(2).padStart(11, '0')).join('')
  const checksumBits = bits.length / 33
  const entropy = bits.slice(0, -checksumBits)
  const bytes = Buffer.from((entropy.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)))
  const first = hash('sha256', bytes, 'buffer')[0]!
  return first.toString(2).padStart(8, '0').slice(0, checksumBits) === bits.slice(-checksumBits)
}
