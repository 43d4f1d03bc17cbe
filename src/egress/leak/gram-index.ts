// Finds where bytes have a stretch in common with any of many needles, in one pass and without regard to ASCII case. A stretch
// of eleven bytes holds eight that begin at a multiple of four, wherever it lies: so only those are looked up, two words at a
// time, and what is found there is followed in both directions. Thousands of needle bytes cost what ten do: 64 KiB take 25 us.
import { finish } from '../../lib/in-turns.ts'
import type { Budget } from './budget.ts'

/** A form of a value that may occur in an answer. */
export interface Needle {
  readonly name: string
  /** Folded. */
  readonly text: Uint8Array
}

/** The shortest stretch that is surely found, with one word and with two. */
export const SHORTEST_STRETCH = { 1: 7, 2: 11 } as const

export interface GramIndex<N extends Needle> {
  /**
   * @param judge is given each longest common stretch, as the part of the needle that occurs; what it returns ends the search
   * @throws {OverBudget}
   */
  scan<T>(
    bytes: Uint8Array,
    budget: Budget,
    judge: (needle: N, start: number, end: number) => T | undefined,
  ): T | undefined
}

/** Upper case becomes lower case; everything else stays. */
export const FOLD = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte,
)

/** Folds four bytes at once. It also makes equal what differs; the comparison that follows does not. */
const CASE_BITS = 0x20_20_20_20

/** What repeats itself, as `aaaa`, would be followed from each of its places: from the first ones it is found as well. */
const PLACES_OF_A_REPETITION = 8
const LONGEST_PERIOD = 4

/** A candidate is looked up and compared, whatever comes of it. */
const CANDIDATE_STEPS = 12

/** See `buildGramIndex`, all steps at once. */
export const createGramIndex = <N extends Needle>(needles: readonly N[], words: 1 | 2): GramIndex<N> =>
  finish(buildGramIndex(needles, words))

/**
 * @param words of four bytes that are looked up at once: with 1 shorter stretches are found, with 2 there are fewer candidates
 * @returns step by step, one for each needle
 */
export function* buildGramIndex<N extends Needle>(
  needles: readonly N[],
  words: 1 | 2,
): Generator<undefined, GramIndex<N>> {
  const most = needles.reduce((sum, { text }) => sum + text.length, 0)
  const places = { needle: new Uint16Array(most), offset: new Uint32Array(most), next: new Int32Array(most) }
  const size = 2 ** Math.max(10, Math.ceil(Math.log2(most * 2 + 1)))
  const shift = 32 - Math.log2(size)
  const filter = new Int32Array(FILTER_WORDS)
  /** The last place of each bucket, one-based; `next` has the one before it. */
  const heads = new Int32Array(size)
  let last = 0
  for (const [index, { text }] of needles.entries()) {
    const grams = wordsOf(text)
    for (let offset = 0; offset + words * 4 <= text.length; offset++) {
      if (offset > PLACES_OF_A_REPETITION && isRepetition(grams, offset, words)) continue
      const hash =
        words === 2 ? hashTwo(grams[offset] ?? 0, grams[offset + 4] ?? 0) : hashOne(grams[offset] ?? 0)
      const bucket = hash >>> shift
      filter[wordOfFilter(hash)] = (filter[wordOfFilter(hash)] ?? 0) | (1 << bitOfFilter(hash))
      places.needle[last] = index
      places.offset[last] = offset
      places.next[last] = heads[bucket] ?? 0
      heads[bucket] = ++last
    }
    yield
  }

  return {
    scan(bytes, budget, judge) {
      const skipped = -bytes.byteOffset & 3
      const count = (bytes.length - skipped) >> 2
      if (count < words || last === 0) return undefined
      budget.spend(count)
      const view = new Int32Array(bytes.buffer, bytes.byteOffset + skipped, count)
      const find = words === 2 ? findTwo : findOne
      for (let at = words - 1; (at = find(view, at, filter)) < count; at++) {
        const bucket =
          (words === 2 ? hashTwo(view[at - 1] ?? 0, view[at] ?? 0) : hashOne(view[at] ?? 0)) >>> shift
        const found = follow(bytes, skipped + (at + 1 - words) * 4, heads[bucket] ?? 0, budget, judge)
        if (found !== undefined) return found
      }
      return undefined
    },
  }

  function follow<T>(
    bytes: Uint8Array,
    at: number,
    from: number,
    budget: Budget,
    judge: (needle: N, start: number, end: number) => T | undefined,
  ): T | undefined {
    for (let place = from; place !== 0; place = places.next[place - 1] ?? 0) {
      budget.spend(CANDIDATE_STEPS)
      const needle = needles[places.needle[place - 1] ?? 0]
      if (!needle) continue
      const [start, end] = stretch(bytes, at, needle.text, places.offset[place - 1] ?? 0)
      if (end - start < words * 4) continue
      budget.spend(end - start)
      const found = judge(needle, start, end)
      if (found !== undefined) return found
    }
    return undefined
  }
}

// The filter has a bit for each seventeen bits of a hash, set where some place has them: of the grams that are nowhere two in a hundred
// pass. They are nearly all there are, so it is read in loops that do nothing else: 64 KiB are 16,000 words and take 20 us, but 60 where
// candidates are followed in the same loop.
const FILTER_WORDS = 2 ** 12
const wordOfFilter = (hash: number) => hash >>> 20
/** Of a shift only the lowest five bits count. */
const bitOfFilter = (hash: number) => hash >>> 15
const mayBeSought = (filter: Int32Array, hash: number) =>
  (((filter[wordOfFilter(hash)] ?? 0) >>> bitOfFilter(hash)) & 1) === 1

const ODD = 0x9e3779b1

const hashOne = (word: number) => Math.imul(word | CASE_BITS, ODD)

/** The second product is turned, so that equal words do not undo one another. */
const hashTwo = (first: number, second: number) => hashOne(first) ^ turn(hashOne(second))
const turn = (product: number) => (product << 7) | (product >>> 25)

/** @returns the next place from `at` on whose word may be in a needle; the length where there is none */
function findOne(view: Int32Array, at: number, filter: Int32Array): number {
  for (let i = at; i < view.length; i++) if (mayBeSought(filter, hashOne(view[i] ?? 0))) return i
  return view.length
}

/** The same for a word together with the one before it. */
function findTwo(view: Int32Array, at: number, filter: Int32Array): number {
  let before = hashOne(view[at - 1] ?? 0)
  for (let i = at; i < view.length; i++) {
    const product = hashOne(view[i] ?? 0)
    if (mayBeSought(filter, before ^ turn(product))) return i
    before = product
  }
  return view.length
}

/** The four bytes at each place, folded, as a view of them has it on this machine: with the first of them lowest. */
function wordsOf(text: Uint8Array): Int32Array {
  const words = new Int32Array(Math.max(0, text.length - 3))
  let word = 0
  for (let at = 0; at < text.length; at++) {
    word = (word >>> 8) | ((text[at] ?? 0) << 24)
    if (at >= 3) words[at - 3] = word | CASE_BITS
  }
  return words
}

function isRepetition(grams: Int32Array, offset: number, words: number): boolean {
  for (let period = 1; period <= LONGEST_PERIOD; period++) {
    const isSame = grams[offset] === grams[offset - period]
    if (isSame && (words === 1 || grams[offset + 4] === grams[offset + 4 - period])) return true
  }
  return false
}

/** @returns the part of the needle that stands around `at`, where its `offset` is; empty where the two only looked alike */
function stretch(
  bytes: Uint8Array,
  at: number,
  text: Uint8Array,
  offset: number,
): readonly [start: number, end: number] {
  let end = 0
  while (
    offset + end < text.length &&
    at + end < bytes.length &&
    FOLD[bytes[at + end] ?? 0] === text[offset + end]
  )
    end++
  if (end === 0) return [0, 0]
  let start = 0
  while (
    offset + start > 0 &&
    at + start > 0 &&
    FOLD[bytes[at + start - 1] ?? 0] === text[offset + start - 1]
  )
    start--
  return [offset + start, offset + end]
}
