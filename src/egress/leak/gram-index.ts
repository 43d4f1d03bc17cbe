// Finds where bytes have a stretch in common with any of many needles, in one pass and without regard to ASCII case. A stretch
// of eleven bytes holds eight that begin at a multiple of four, wherever it lies: so only those are looked up, two words at a
// time, and what is found there is followed in both directions. Thousands of needle bytes cost what ten do: 64 KiB take 40 us.
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

/** @param words of four bytes that are looked up at once: with 1 shorter stretches are found, with 2 there are fewer candidates */
export function createGramIndex<N extends Needle>(needles: readonly N[], words: 1 | 2): GramIndex<N> {
  const most = needles.reduce((sum, { text }) => sum + text.length, 0)
  const places = { needle: new Uint16Array(most), offset: new Uint16Array(most), next: new Int32Array(most) }
  const size = 2 ** Math.max(10, Math.ceil(Math.log2(most + 1)))
  const shift = 32 - Math.log2(size)
  /** A bit for each hash that some place has, in little memory: of the grams that are nowhere, three in a hundred pass. */
  const filter = new Int32Array(size)
  /** The last place of each bucket, one-based; `next` has the one before it. */
  const heads = new Int32Array(size)
  let last = 0
  for (const [index, { text }] of needles.entries())
    for (let offset = 0; offset + words * 4 <= text.length; offset++) {
      if (offset > PLACES_OF_A_REPETITION && isRepetition(text, offset, words)) continue
      const hash = mix(wordAt(text, offset), words === 2 ? wordAt(text, offset + 4) : 0)
      const bucket = hash >>> shift
      filter[bucket] = (filter[bucket] ?? 0) | (1 << hash)
      places.needle[last] = index
      places.offset[last] = offset
      places.next[last] = heads[bucket] ?? 0
      heads[bucket] = ++last
    }

  return {
    scan(bytes, budget, judge) {
      const skipped = -bytes.byteOffset & 3
      const count = (bytes.length - skipped) >> 2
      if (count < words || last === 0) return undefined
      budget.spend(count)
      const view = new Int32Array(bytes.buffer, bytes.byteOffset + skipped, count)
      let first = (view[0] ?? 0) | CASE_BITS
      for (let at = 0; at <= count - words; at++) {
        const second = (view[at + 1] ?? 0) | CASE_BITS
        const hash = mix(first, words === 2 ? second : 0)
        first = second
        // The bits of a hash that name the bucket are not those that name the bit.
        if ((((filter[hash >>> shift] ?? 0) >>> hash) & 1) === 0) continue
        const place = heads[hash >>> shift] ?? 0
        const found = follow(bytes, skipped + at * 4, place, budget, judge)
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

function mix(first: number, second: number): number {
  const hash = Math.imul(first, 0x9e3779b1) ^ Math.imul(second, 0x85ebca77)
  return Math.imul(hash ^ (hash >>> 15), 0xc2b2ae3d)
}

/** As a view of four bytes has it on this machine, folded. */
function wordAt(bytes: Uint8Array, at: number): number {
  for (let i = 0; i < 4; i++) ONE_WORD_BYTES[i] = bytes[at + i] ?? 0
  return (ONE_WORD[0] ?? 0) | CASE_BITS
}
const ONE_WORD = new Int32Array(1)
const ONE_WORD_BYTES = new Uint8Array(ONE_WORD.buffer)

function isRepetition(text: Uint8Array, offset: number, words: number): boolean {
  for (let period = 1; period <= LONGEST_PERIOD; period++) {
    let same = 0
    while (same < words * 4 && text[offset + same] === text[offset + same - period]) same++
    if (same === words * 4) return true
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
