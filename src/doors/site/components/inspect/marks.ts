// A text cut into lines, and the lines into pieces, so that what was found stands where it was found and what must not be shown is not.
import type { Range } from '../../../../lib/json-ranges.ts'

export interface Mark {
  readonly range: Range
  /** Number of the finding. */
  readonly finding: number
}

export interface Mask {
  readonly range: Range
  /** What stands there instead. */
  readonly words: string
}

export interface Piece {
  readonly text: string
  /** Findings about it, none for most. */
  readonly findings: readonly number[]
  /** Findings whose mark begins here. */
  readonly begins: readonly number[]
  readonly isMasked: boolean
}

export interface MarkedText {
  readonly lines: readonly (readonly Piece[])[]
  /** Lines that are not shown. */
  readonly left: number
}

const MAX_LINES = 1500
const MAX_PIECE_CHARS = 2000

/** Ranges may lie in each other and over each other. */
export function markText(text: string, marks: readonly Mark[], masks: readonly Mask[] = []): MarkedText {
  const hidden = unite(masks)
  const lines = text.split('\n')
  const shown: Piece[][] = []
  let from = 0
  for (const line of lines.slice(0, MAX_LINES)) {
    const to = from + line.length
    shown.push(
      piecesOf(
        text,
        { from, to },
        marks.filter(({ range }) => overlaps(range, { from, to })),
        hidden,
      ),
    )
    from = to + 1
  }
  return { lines: shown, left: Math.max(0, lines.length - MAX_LINES) }
}

/** Masks that lie over each other as one, with the words of the first. */
function unite(masks: readonly Mask[]): Mask[] {
  const united: Mask[] = []
  for (const mask of masks.toSorted((a, b) => a.range.from - b.range.from)) {
    const last = united.at(-1)
    if (!last || mask.range.from >= last.range.to) united.push(mask)
    else {
      const to = Math.max(last.range.to, mask.range.to)
      united[united.length - 1] = { ...last, range: { from: last.range.from, to } }
    }
  }
  return united
}

const overlaps = (a: Range, b: Range) => a.from < b.to && a.to > b.from

/** What hides the start of a range of a line, all of it: a mask is a piece of its own. */
function piecesOf(text: string, line: Range, marks: readonly Mark[], masks: readonly Mask[]): Piece[] {
  const here = masks.filter(({ range }) => overlaps(range, line))
  const isInMask = (at: number) => here.some(({ range }) => at > range.from && at < range.to)
  const cuts = [
    ...new Set(
      [line, ...here.map(({ range }) => range), ...marks.map(({ range }) => range)]
        .flatMap(({ from, to }) => [Math.max(from, line.from), Math.min(to, line.to)])
        .filter((at) => !isInMask(at)),
    ),
  ].toSorted((a, b) => a - b)
  return cuts.slice(0, -1).map((from, index) => {
    const to = cuts[index + 1] ?? line.to
    const mask = here.find(({ range }) => range.from <= from && range.to >= to)
    const about = marks.filter(({ range }) => overlaps(range, { from, to }))
    const slice = text.slice(from, to)
    return {
      text: mask ? (mask.range.from >= line.from ? mask.words : '') : cut(slice),
      findings: about.map(({ finding }) => finding),
      begins: about
        .filter(({ range }) => range.from >= from && range.from < to)
        .map(({ finding }) => finding),
      isMasked: mask !== undefined,
    }
  })
}

const cut = (text: string) => (text.length > MAX_PIECE_CHARS ? `${text.slice(0, MAX_PIECE_CHARS)}…` : text)
