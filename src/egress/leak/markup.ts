// Texts that markup takes apart: `<wbr>` in a long token, a `<span>` for each word of highlighted code, the colours of a terminal. Only where
// the pieces are short: longer ones are read where they stand.
import type { Budget } from './budget.ts'
import { type Content, viewOf } from './containers.ts'

const LESS_THAN = 0x3c
const ESCAPE = 0x1b
const BRACKET = 0x5b

const LONGEST_PIECE = 24
const LONGEST_TAG = 256
/** Between two stretches that were not beside one another: of no form, and no letter. */
const GAP = 0x01
const LEAST_TAGS = 2
const NOTHING = new Uint8Array(0)
const TAG_STEPS = 40

/**
 * Texts without the tags or colours between their pieces.
 * @throws {OverBudget}
 */
export function* readMarkup(bytes: Uint8Array, budget: Budget): Generator<Content> {
  for (const mark of [LESS_THAN, ESCAPE]) {
    const pieces = withoutMarks(bytes, mark, budget)
    if (pieces.length > 0) yield { name: 'markup', bytes: pieces }
  }
}

function withoutMarks(bytes: Uint8Array, mark: number, budget: Budget): Uint8Array {
  // What has no marks is passed over many bytes at a time.
  budget.spend(bytes.length >> 3)
  const view = viewOf(bytes)
  let at = view.indexOf(mark)
  if (at < 0) return NOTHING
  let out = NOTHING
  let kept = 0
  let tags = 0
  let pieceStart = 0
  /** Where the pieces of this stretch begin and end, in turn: most stretches have a single tag, and are never written. */
  let pieces: number[] = []
  const endStretch = () => {
    if (tags >= LEAST_TAGS) {
      pieces.push(pieceStart, Math.min(bytes.length, pieceStart + LONGEST_PIECE))
      // The piece between two stretches may belong to both.
      if (out.length === 0) out = new Uint8Array(bytes.length * 2 + LONGEST_PIECE)
      for (let i = 0; i < pieces.length; i += 2)
        for (let place = pieces[i] ?? 0, end = pieces[i + 1] ?? 0; place < end; place++)
          out[kept++] = bytes[place] ?? 0
      out[kept++] = GAP
    }
    if (pieces.length > 0) pieces = []
    tags = 0
  }
  for (; at >= 0; at = view.indexOf(mark, at)) {
    budget.spend(TAG_STEPS)
    const end = endOfMark(bytes, at)
    if (end < 0) {
      at++
      continue
    }
    if (tags > 0 && at - pieceStart > LONGEST_PIECE) endStretch()
    // Of what stands before the first tag, and behind the last, only the part beside the tag counts.
    if (tags === 0) pieceStart = Math.max(pieceStart, at - LONGEST_PIECE)
    pieces.push(pieceStart, at)
    tags++
    pieceStart = at = end
  }
  endStretch()
  return out.subarray(0, kept)
}

/** @returns the place behind the tag or the colour that begins at `at`; -1 where none does */
function endOfMark(bytes: Uint8Array, at: number): number {
  const last = Math.min(bytes.length, at + LONGEST_TAG)
  if (bytes[at] === ESCAPE) {
    if (bytes[at + 1] !== BRACKET) return -1
    for (let end = at + 2; end < last; end++) if (isLetter(bytes[end])) return end + 1
    return -1
  }
  if (!isLetter(bytes[at + 1]) && bytes[at + 1] !== 0x2f && bytes[at + 1] !== 0x21) return -1
  for (let end = at + 1; end < last; end++) {
    if (bytes[end] === 0x3e) return end + 1
    if (bytes[end] === LESS_THAN) return -1
  }
  return -1
}

const isLetter = (byte: number | undefined) =>
  byte !== undefined && (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a
