// Normalised text -> pieces of the size of a paragraph, each with the heading it stands under. Linear in the text.
import { collapseSpaces, cutText } from '../extract/text.ts'

/** UTF-16 offsets; nothing at the ends is white space. */
export interface Segment {
  readonly start: number
  readonly end: number
  readonly heading: string | null
}

export const MAX_SEGMENT = 700
/** Shorter neighbours are read together. */
const ENOUGH = 250
const MAX_HEADING = 300
/** A shorter piece is never cut off for the sake of a whole sentence. */
const MIN_PIECE = 200

/** @param headings texts that are headings where they stand as a block of their own */
export function segmentText(text: string, headings: readonly string[]): Segment[] {
  const known = new Set(headings)
  const blocks = [...blocksOf(text)]
  const segments: Segment[] = []
  let heading: string | null = null
  let open: { start: number; end: number } | undefined
  // Headings that no text followed yet.
  let bare: { start: number; end: number }[] = []

  const close = () => {
    if (open) segments.push({ ...open, heading })
    open = undefined
  }
  const add = (start: number, end: number) => {
    if (open && open.end - open.start < ENOUGH && end - open.start <= MAX_SEGMENT) open.end = end
    else {
      close()
      open = { start, end }
    }
  }
  const addBare = (listed: typeof bare) => {
    for (const { start, end } of listed) add(start, end)
    close()
  }

  for (const { start, end } of blocks) {
    const name = headingAt(text, start, end, known)
    if (name !== undefined) {
      if (bare.length === 0) close()
      bare.push({ start, end })
      continue
    }
    if (bare.length > 0) {
      // A title above the first section heads nothing itself; a list of headlines is content.
      const last = bare.pop()
      if (bare.length > 1) addBare(bare)
      bare = []
      heading = (last && headingAt(text, last.start, last.end, known)) ?? null
    }
    for (const piece of piecesOf(text, start, end)) add(piece.start, piece.end)
  }
  close()
  if (bare.length > 1 || segments.length === 0) addBare(bare)
  return segments
}

function headingAt(text: string, start: number, end: number, known: ReadonlySet<string>): string | undefined {
  if (known.size === 0 || end - start > MAX_HEADING * 2) return undefined
  const line = cutText(collapseSpaces(text.slice(start, end)), MAX_HEADING)
  return known.has(line) ? line : undefined
}

/** A paragraph stands between blank lines. */
function* blocksOf(text: string): Generator<{ start: number; end: number }> {
  for (let at = 0; at < text.length;) {
    const blank = text.indexOf('\n\n', at)
    const until = blank === -1 ? text.length : blank
    const trimmed = trim(text, at, until)
    if (trimmed) yield trimmed
    at = until + 2
  }
}

/** A block that is too long, at the ends of its sentences or at least of its words. */
function* piecesOf(text: string, start: number, end: number): Generator<{ start: number; end: number }> {
  let at = start
  while (end - at > MAX_SEGMENT) {
    const cut = findBreak(text, at, at + MAX_SEGMENT)
    const piece = trim(text, at, cut)
    if (piece) yield piece
    at = cut
  }
  const rest = trim(text, at, end)
  if (rest) yield rest
}

function trim(text: string, from: number, to: number): { start: number; end: number } | undefined {
  let [start, end] = [from, to]
  while (start < end && isSpace(text, start)) start++
  while (end > start && isSpace(text, end - 1)) end--
  return start < end ? { start, end } : undefined
}

const isSpace = (text: string, at: number) => /\s/.test(text.charAt(at))

/** The last good place to end a piece in (from + MIN_PIECE, to]. */
function findBreak(text: string, from: number, to: number): number {
  let space: number | undefined
  for (let at = to; at > from + MIN_PIECE; at--) {
    const before = text.charAt(at - 1)
    if (/[。！？｡]/.test(before)) return at
    if (!isSpace(text, at)) continue
    if (before === '\n' || text[at] === '\n' || /[.!?؟۔…।]["'”’»)\]]?$/.test(text.slice(at - 2, at)))
      return at
    space ??= at
  }
  return space ?? wholeCharacterBefore(text, from, to)
}

/** Neither between the halves of a surrogate pair nor before a mark that belongs to the character before it. */
function wholeCharacterBefore(text: string, from: number, to: number): number {
  for (let at = to; at > from + MIN_PIECE; at--)
    if (!/^(?:[\udc00-\udfff]|\p{M}|\u200d)/u.test(text.slice(at, at + 2)) && !isLowSurrogate(text, at))
      return at
  return isLowSurrogate(text, to) ? to - 1 : to
}

const isLowSurrogate = (text: string, at: number) => {
  const code = text.charCodeAt(at)
  return code >= 0xdc00 && code <= 0xdfff
}
