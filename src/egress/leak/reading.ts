// The ways in which one text is read: as it is, without everything but letters and digits, with its escapes undone, and what is
// wrapped in it, each of which is read in the same ways again. Ordinary texts have little to undo and cost two passes.
import { isUtf8 } from 'node:buffer'
import type { Budget } from './budget.ts'
import { readCompatibility } from './compatibility.ts'
import { type Content, decodeRuns, decompress, inflateWithin, readDump } from './containers.ts'
import { decodeEscapes, joinLines } from './escapes.ts'
import { joinRuns } from './wrapped.ts'
import { holdsMark, mayEmbed, openEmbedded } from './embedded.ts'
import { gather } from './gather.ts'
import { buildGramIndex, createGramIndex, type GramIndex, SHORTEST_STRETCH } from './gram-index.ts'
import { createMemory, type Memory } from './memory.ts'
import {
  bytesOf,
  type FormOfValue,
  gatheredNeedles,
  givesAway,
  onlyLetters,
  plainNeedles,
  squeezedNeedles,
} from './needles.ts'
import { arePieces, isPiece, longestPiece, type SoughtValue } from './pieces.ts'
import { LEAST_BYTES } from './number-chains.ts'
import { readMarkup } from './markup.ts'
import { readNumbers } from './numbers.ts'
import { MIN_RUN_CHARS, MIN_RUN_CHARS_OF_SHORT, squeeze, type Squeezed } from './squeeze.ts'

/** Levels of texts within texts, such as a JSON text in a JSON string in base64. */
const MAX_DEPTH = 4

/** Characters that a byte of the secret takes at most in a form that has escapes in it, with what separates them. */
const CHARS_PER_BYTE = 3
/** The same in an array of characters. */
const CHARS_PER_ENTRY = 6
const MOST_AROUND = 4096

/** Shorter parts occur by chance. */
export const SHORTEST_PART = SHORTEST_STRETCH[1]

export interface Reader {
  /** @param parts what was seen before of the same answer; parts of a value that are too short by themselves count together */
  readAnswer(budget: Budget, parts?: SeenParts): ReadPlace
}

/**
 * Reads one place of an answer.
 * @param encodings as the headers name them
 * @returns what was found, with how the text had to be read in front of it: `json+base64`; undefined where nothing was
 * @throws {OverBudget}
 */
export type ReadPlace = (bytes: Uint8Array, encodings: readonly string[]) => string | undefined

/** Of each value that a part was seen of, which of its bytes were shown. */
export type SeenParts = Map<SoughtValue, Uint8Array>

/**
 * @param values every secret in each of its byte forms
 * @returns step by step: of long values there are hundreds, of a millisecond or two each
 */
export function* buildReader(values: readonly SoughtValue[]): Generator<undefined, Reader> {
  const plainForms: FormOfValue[] = []
  for (const form of plainNeedles(values)) yield void plainForms.push(form)
  const squeezedForms: FormOfValue[] = []
  for (const form of squeezedNeedles(values)) yield void squeezedForms.push(form)
  const plain = yield* buildGramIndex(plainForms, 1)
  const shortest = Math.min(...squeezedForms.map(({ text }) => text.length))
  const squeezed = yield* buildGramIndex(squeezedForms, shortest < SHORTEST_STRETCH[2] ? 1 : 2)
  // Anything else has a piece of letters and digits.
  const ofSigns = values.filter(hasNoPieceOfLetters)
  const hasSigns = ofSigns.length > 0
  const gathered = createGramIndex([...gatheredNeedles(ofSigns)], 1)
  const leastBytes = Math.min(LEAST_BYTES, ...values.map(({ bytes }) => bytes.length))
  const charsPerByte = hasSigns ? CHARS_PER_ENTRY : CHARS_PER_BYTE
  const options = {
    around: Math.min(MOST_AROUND, charsPerByte * Math.max(0, ...values.map(longestPiece))),
    marksAll: hasSigns || values.some(holdsMemberName),
    minRunChars: leastBytes < LEAST_BYTES ? MIN_RUN_CHARS_OF_SHORT : MIN_RUN_CHARS,
  }
  const squeezedMemory = createMemory()
  const joinedMemory = createMemory()
  // A text that was decoded is read while those within it are decoded.
  const memories = Array.from({ length: MAX_DEPTH }, createMemory)
  const allMemories = [squeezedMemory, joinedMemory, ...memories]

  function read(
    bytes: Uint8Array,
    encodings: readonly string[],
    depth: number,
    budget: Budget,
    parts: SeenParts,
  ): string | undefined {
    const found = scanPlain(plain, bytes, budget, parts)
    if (found !== undefined) return found
    const { text, names, ...marks } = squeeze(bytes, options, squeezedMemory.take(bytes.length), budget)
    const form = scan(squeezed, text, budget) ?? scan(squeezed, names, budget)
    if (form !== undefined) return form
    if (hasSigns) {
      const found = scan(gathered, gather(bytes, budget, joinedMemory.take), budget)
      if (found !== undefined) return found
      const joined = joinLines(bytes, budget, joinedMemory.take)
      const foundInJoined = joined && scanPlain(plain, joined, budget, parts)
      if (foundInJoined !== undefined) return `lines+${foundInJoined}`
    }
    if (depth === MAX_DEPTH) return undefined
    for (const content of contentsOf(
      { bytes, encodings, ...marks, isDecoded: depth > 0, leastBytes },
      memories[depth] ?? createMemory(),
      budget,
    )) {
      const foundWithin = read(content.bytes, [], depth + 1, budget, parts)
      if (foundWithin !== undefined) return `${content.name}+${foundWithin}`
    }
    return undefined
  }

  return {
    readAnswer(budget, parts = new Map()) {
      return (bytes, encodings) => {
        try {
          return read(bytes, encodings, 0, budget, parts)
        } finally {
          for (const memory of allMemories) memory.clear()
        }
      }
    },
  }
}

interface Marked extends Omit<Squeezed, 'text' | 'names'> {
  readonly bytes: Uint8Array
  readonly encodings: readonly string[]
  readonly isDecoded: boolean
  /** Of what has to be read in a text of numbers to be found. */
  readonly leastBytes: number
}

/** What a text holds that reads differently, as soon as it is asked for. */
function* contentsOf(
  { bytes, encodings, escapes, runs, hasCss, hasDump, isDecoded, leastBytes }: Marked,
  memory: Memory,
  budget: Budget,
): Generator<Content> {
  const isText = isUtf8(bytes)
  // Brotli and raw deflate have no mark of their own: an answer that is no text may be one of them.
  const mayBePacked = !isText && !isDecoded && encodings.length === 0
  const unpacked = decompress(bytes, mayBePacked ? ['br'] : encodings, budget)
  if (unpacked) yield unpacked
  if (mayBePacked && (!unpacked || unpacked.name === 'brotli')) {
    const inflated = inflateWithin(bytes, budget)
    if (inflated && inflated.length > 0) yield { name: 'deflate', bytes: inflated }
  }

  const literal = decodeEscapes(bytes, escapes, 'literal', budget, memory.take)
  const isMarkEscaped = isText && literal !== undefined && holdsMark(literal)
  if (literal) yield { name: 'escaped', bytes: literal }
  const css = hasCss && decodeEscapes(bytes, escapes, 'css', budget, memory.take)
  if (css) yield { name: 'css', bytes: css }
  // A generator that gives nothing costs as much as a pass over a short text, and of most texts there are two.
  if (runs.length > 0) yield* decodeRuns(bytes, runs, budget)
  if (runs.length > 1) yield* joinRuns(bytes, runs, budget)
  if (hasDump) yield readDump(bytes, budget)
  const compatible = readCompatibility(bytes, isText, budget)
  if (compatible) yield compatible
  yield* readNumbers(bytes, budget, leastBytes)
  yield* readMarkup(bytes, budget)
  const marked = { bytes, runs, isText, isMarkEscaped }
  if (mayEmbed(marked)) yield* openEmbedded(marked, budget)
}

function scan(index: GramIndex<FormOfValue>, bytes: Uint8Array, budget: Budget): string | undefined {
  return index.scan(bytes, budget, (form, start, end) =>
    givesAway(form, start, end) ? form.name : undefined,
  )
}

/** Also notes the parts of a secret that are too short by themselves: masks, and fields that hold a part each. */
function scanPlain(
  index: GramIndex<FormOfValue>,
  bytes: Uint8Array,
  budget: Budget,
  parts: SeenParts,
): string | undefined {
  const noted = new Set<SoughtValue>()
  const found = index.scan(bytes, budget, (form, start, end) => {
    if (givesAway(form, start, end)) return form.name
    if (form.isPlain && end - start >= SHORTEST_PART) {
      const { value } = form
      const isShown = parts.get(value) ?? new Uint8Array(value.bytes.length)
      const part = bytesOf(form, start, end)
      parts.set(value, isShown.fill(1, part.start, part.end))
      noted.add(value)
    }
    return undefined
  })
  if (found !== undefined) return found
  for (const value of noted) if (arePieces(value, parts.get(value) ?? new Uint8Array())) return 'parts'
  return undefined
}

/** Whether every piece of the value that is found without its separators would be too short. */
function hasNoPieceOfLetters(value: SoughtValue): boolean {
  const letters = onlyLetters(value)
  return !isPiece(letters, 0, letters.bytes.length)
}

/** Where squeezing takes a part of the value itself for the name of a member, only undoing every escape shows it as it is. */
const holdsMemberName = ({ bytes }: SoughtValue) =>
  /(["'])[^]*\1 ?:/.test(Buffer.from(bytes).toString('latin1'))
