// Bytes that are written as numbers, each by itself: arrays, calls such as `Chr(97)`, the columns of a dump. The numbers of the secret
// itself are among the needles. This is for words that stand between them, for other ways to write them, and for numbers of something
// else that holds the secret, such as base64. And for lists that say the place of each entry before it.
import type { Budget } from './budget.ts'
import type { Content } from './containers.ts'
import {
  findNumberChains,
  KIND,
  MOST_BINARY_DIGITS,
  MOST_BYTES_BETWEEN,
  MOST_DIGITS,
  MOST_WORDS_BETWEEN,
  type Notation,
  OTHER,
  type Token,
} from './number-chains.ts'
import type { Region } from './squeeze.ts'

/** Between two runs of numbers: of no form, and no letter. */
const GAP = 0x01

/**
 * Writes the bytes that the token stands for.
 * @returns how many these are; 0 where it is no number of that kind
 */
type ReadNumber = (token: Token, out: Uint8Array) => number

/**
 * What the numbers of a text stand for, in each way to write a byte, and its lists without their indexes.
 * @param least bytes that have to follow one another
 * @throws {OverBudget}
 */
export function* readNumbers(bytes: Uint8Array, budget: Budget, least: number): Generator<Content> {
  budget.spend(bytes.length)
  const list = createList()
  const { regions, notations } = findNumberChains(bytes, least, list.take)
  // What is wrapped in a text may be many short texts, in which there is nothing to read.
  if (regions.length > 0) {
    const written = readRuns(bytes, { regions, notations, least }, budget)
    if (written.length > 0) yield { name: 'numbers', bytes: written }
  }
  const entries = list.end(bytes)
  if (entries.length > 0) yield { name: 'list', bytes: entries }
}

function readRuns(
  bytes: Uint8Array,
  {
    regions,
    notations,
    least,
  }: {
    readonly regions: readonly Region[]
    readonly notations: ReadonlySet<Notation>
    readonly least: number
  },
  budget: Budget,
): Uint8Array {
  const runs = READERS.filter(({ notation }) => notations.has(notation)).map(({ read }) =>
    createRun(read, least),
  )
  const token: Token = { bytes, start: 0, end: 0, index: 0 }
  for (const { start, end } of regions) {
    budget.spend((end - start) * 2)
    for (let at = start; at < end; at++) {
      let kinds = KIND[bytes[at] ?? 0] ?? 0
      if (kinds === 0) continue
      token.start = at
      for (let kind = kinds; kind !== 0; kind = KIND[bytes[++at] ?? 0] ?? 0) kinds |= kind
      token.end = at
      token.index++
      if (kinds >= OTHER) continue
      budget.spend(runs.length * TAKE_STEPS)
      for (const run of runs) run.take(token)
    }
  }
  const written = runs.map((run) => run.end())
  VALUE.fill(0)
  return Buffer.concat(written)
}

/** Grows, and keeps only what is followed by enough of its kind. */
function createWriter() {
  let held = new Uint8Array(0)
  let length = 0
  let kept = 0
  return {
    add(from: Uint8Array, start: number, end: number) {
      const size = end - start
      if (length + size + 1 > held.length) {
        const larger = new Uint8Array((length + size + 64) * 2)
        larger.set(held.subarray(0, length))
        held = larger
      }
      for (let at = start; at < end; at++) held[length++] = from[at] ?? 0
    },
    sinceKept: () => length - kept,
    keep() {
      held[length++] = GAP
      kept = length
    },
    drop() {
      length = kept
    },
    bytes: () => held.subarray(0, kept),
  }
}

/** Of one number; a part of the secret is in it for a moment. */
const VALUE = new Uint8Array(MOST_BINARY_DIGITS / 8)

function createRun(read: ReadNumber, least: number) {
  const writer = createWriter()
  let lastIndex = 0
  let lastEnd = 0
  const endRun = () => {
    if (writer.sinceKept() >= least) writer.keep()
    else writer.drop()
  }
  return {
    take(token: Token) {
      const size = read(token, VALUE)
      if (size === 0) return
      if (token.index - lastIndex - 1 > MOST_WORDS_BETWEEN || token.start - lastEnd > MOST_BYTES_BETWEEN)
        endRun()
      writer.add(VALUE, 0, size)
      lastIndex = token.index
      lastEnd = token.end
    },
    end() {
      endRun()
      return writer.bytes()
    },
  }
}

const hexDigit = (byte: number | undefined) => {
  if (byte === undefined) return -1
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const letter = byte | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1
}

const X = 0x78
const U = 0x75
const H = 0x68
const O = 0x6f
const B = 0x62
const ZERO = 0x30

/** `0x61`, `x61`, `U+0061`, `&H61`, `61h`: where the digits begin and end. */
function hexDigitsOf({ bytes, start, end }: Token): readonly [start: number, end: number] {
  const first = (bytes[start] ?? 0) | 0x20
  const second = (bytes[start + 1] ?? 0) | 0x20
  if (bytes[start] === ZERO && second === X) return [start + 2, end]
  if (first === X || first === U || first === H) return [start + 1, end]
  return [start, ((bytes[end - 1] ?? 0) | 0x20) === H ? end - 1 : end]
}

const readHex: ReadNumber = (token, out) => {
  const { bytes } = token
  const [start, end] = hexDigitsOf(token)
  const digits = end - start
  if (digits < 2 || digits > MOST_DIGITS || digits % 2 === 1) return 0
  for (let at = start; at < end; at += 2) {
    const [high, low] = [hexDigit(bytes[at]), hexDigit(bytes[at + 1])]
    if (high < 0 || low < 0) return 0
    out[(at - start) / 2] = high * 16 + low
  }
  return digits / 2
}

/** Words of a little-endian machine, as `hexdump` and debuggers write them (`x/4xw`). */
const readSwapped: ReadNumber = (token, out) => {
  const size = readHex(token, out)
  if (size !== 2 && size !== 4 && size !== 8) return 0
  out.subarray(0, size).reverse()
  return size
}

/** In any base, with no more digits than a byte takes. */
function readByte(bytes: Uint8Array, start: number, end: number, base: number, out: Uint8Array): number {
  let value = 0
  for (let at = start; at < end; at++) {
    const digit = hexDigit(bytes[at])
    if (digit < 0 || digit >= base) return 0
    value = value * base + digit
  }
  if (end === start || value > 0xff) return 0
  out[0] = value
  return 1
}

/** `97`, `097`, `97u8`, `97L`. */
const readDecimal: ReadNumber = ({ bytes, start, end }, out) => {
  let last = start
  while (last < end && (bytes[last] ?? 0) <= 0x39) last++
  return last - start > 3 || end - last > 2 ? 0 : readByte(bytes, start, last, 10, out)
}

/** `141`, `60`, `0141`, `0o141`. */
const readOctal: ReadNumber = ({ bytes, start, end }, out) => {
  const isMarked = bytes[start] === ZERO && ((bytes[start + 1] ?? 0) | 0x20) === O
  const first = isMarked ? start + 2 : start
  const digits = end - first
  const isByte = isMarked || digits === 2 || digits === 3 || (digits === 4 && bytes[first] === ZERO)
  return isByte && end - first <= 4 ? readByte(bytes, first, end, 8, out) : 0
}

/** `01100001`, `0b1100001`, and bytes without anything between them. */
const readBinary: ReadNumber = ({ bytes, start, end }, out) => {
  const isMarked = bytes[start] === ZERO && ((bytes[start + 1] ?? 0) | 0x20) === B
  if (isMarked) return end - start > 10 ? 0 : readByte(bytes, start + 2, end, 2, out)
  const digits = end - start
  if (digits % 8 !== 0 || digits > MOST_BINARY_DIGITS) return 0
  const value = new Uint8Array(1)
  for (let at = start; at < end; at += 8) {
    if (readByte(bytes, at, at + 8, 2, value) === 0) return 0
    out[(at - start) / 8] = value[0] ?? 0
  }
  return digits / 8
}

/** A token that may be a number is looked at in each of these ways. */
const TAKE_STEPS = 4
const READERS: readonly { readonly notation: Notation; readonly read: ReadNumber }[] = [
  { notation: 'hexadecimal', read: readHex },
  { notation: 'hexadecimal', read: readSwapped },
  { notation: 'decimal', read: readDecimal },
  { notation: 'decimal', read: readOctal },
  { notation: 'binary', read: readBinary },
]

const LONGEST_INDEX = 5
const LEAST_ENTRIES = 8
/** Entries that are longer are read where they stand. */
const LONGEST_ENTRY = 24

/** What stands between indexes that go up by one: `[0] => s`, `{0: 97, 1: 98}`, `map[0:97 1:98]`. */
function createList() {
  const writer = createWriter()
  let expected = 0
  let entries = 0
  let lastEnd = 0
  const endList = (bytes: Uint8Array) => {
    if (entries >= LEAST_ENTRIES) {
      writer.add(bytes, lastEnd, Math.min(bytes.length, lastEnd + LONGEST_ENTRY))
      writer.keep()
    } else writer.drop()
    entries = 0
  }
  return {
    take({ bytes, start, end }: Token) {
      if (end - start > LONGEST_INDEX) return
      const isNear = entries > 0 && start - lastEnd <= LONGEST_ENTRY
      // Most numbers neither follow an index nor are the first one.
      if (!isNear && (bytes[end - 1] ?? 0) > ZERO + 1) return
      let number = 0
      for (let at = start; at < end; at++) number = number * 10 + (bytes[at] ?? 0) - ZERO
      if (isNear && number === expected) writer.add(bytes, lastEnd, start)
      else if (!isNear && number <= 1) endList(bytes)
      else return
      expected = number + 1
      lastEnd = end
      entries++
    },
    end(bytes: Uint8Array) {
      endList(bytes)
      return writer.bytes()
    },
  }
}
