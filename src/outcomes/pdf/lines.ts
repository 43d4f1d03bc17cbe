// Regions to lines: what stands on one base line is one line, its parts in reading direction.
import type { Region } from './columns.ts'
import type { Segment, Words } from './segments.ts'

export interface Line {
  readonly words: readonly Words[]
  readonly text: string
  readonly left: number
  readonly right: number
  readonly y: number
  readonly size: number
  readonly isRtl: boolean
  /** What the page looks like around it; lines of one column share it. */
  readonly column: Column
}

export interface Column {
  /** Counted from 0. */
  readonly page: number
  readonly left: number
  readonly right: number
  /** From one line to the next, where they are closest. */
  readonly leading: number
}

/** Parts of one row are off its base line by less, as a multiple of the size. */
const SAME_ROW = 0.35

export function linesOf(region: Region, page: number): Line[] {
  const rows: Segment[][] = []
  for (const segment of region.toSorted((a, b) => a.y - b.y || a.left - b.left)) {
    const row = rows.at(-1)
    const first = row?.[0]
    if (row && first && segment.y - first.y <= SAME_ROW * Math.max(first.size, segment.size))
      row.push(segment)
    else rows.push([segment])
  }
  const parts = rows.map(joinRow)
  const column: Column = {
    page,
    left: percentile(
      parts.map(({ left }) => left),
      0.1,
    ),
    right: percentile(
      parts.map(({ right }) => right),
      0.9,
    ),
    leading: leadingOf(parts),
  }
  return parts.map((part) => ({ ...part, column }))
}

function joinRow(row: readonly Segment[]): Omit<Line, 'column'> {
  const letters = row.reduce((sum, each) => sum + each.letters, 0)
  const isRtl = row.reduce((sum, each) => sum + (each.isRtl ? each.letters : 0), 0) * 2 > letters
  const inOrder = row.toSorted((a, b) => (isRtl ? b.right - a.right : a.left - b.left))
  const words = inOrder.flatMap((segment, i) =>
    i === 0 ? segment.words : [{ text: ' ', href: undefined }, ...segment.words],
  )
  const main = row.reduce((most, each) => (each.letters > most.letters ? each : most))
  return {
    words,
    text: words.map(({ text }) => text).join(''),
    left: row.reduce((least, each) => Math.min(least, each.left), Infinity),
    right: row.reduce((most, each) => Math.max(most, each.right), -Infinity),
    y: main.y,
    size: main.size,
    isRtl,
  }
}

const percentile = (values: readonly number[], at: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * at)] ?? 0

/** The lower quarter of the distances: blank lines are above it, however many there are. */
function leadingOf(lines: readonly Omit<Line, 'column'>[]): number {
  const distances: number[] = []
  for (const [i, line] of lines.entries()) {
    const before = lines[i - 1]
    if (before) distances.push((line.y - before.y) / Math.max(line.size, 1))
  }
  const leading = percentile(distances, 0.25)
  return Math.min(Math.max(leading || 1.2, 1), 2.2)
}
