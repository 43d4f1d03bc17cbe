// Puts the lines of a page into reading order: columns one after the other between what spans them, rows from the top down
// everywhere else. A table looks like columns, but its cells are short.
import type { Segment } from './segments.ts'

/** Lines that are read from the top down: a column, or what stands above and below columns. */
export type Region = readonly Segment[]

const BINS = 200
const MAX_DEPTH = 3
const MIN_LINES = 4
/** Of all lines, so many may run across the gap between two columns: titles, captions, tables. */
const MAX_SPANNING = 0.4
/** Lines of a column fill it, and hold words. */
const MIN_FILL = 0.55
const MIN_LETTERS = 14

export function orderSegments(segments: readonly Segment[], depth = 0): Region[] {
  const gutter = depth < MAX_DEPTH ? findGutter(segments) : undefined
  if (gutter === undefined) return segments.length > 0 ? [segments] : []
  const regions: Region[] = []
  let left: Segment[] = []
  let right: Segment[] = []
  let across: Segment[] = []
  const flushColumns = () => {
    const isRtl = weigh([...left, ...right]) > 0
    const columns = isRtl ? [right, left] : [left, right]
    for (const column of columns) regions.push(...orderSegments(column, depth + 1))
    left = []
    right = []
  }
  const flushAcross = () => {
    if (across.length > 0) regions.push(across)
    across = []
  }
  for (const segment of segments.toSorted((a, b) => a.y - b.y)) {
    const side = sideOf(segment, gutter)
    if (side === 'across') {
      if (left.length + right.length > 0) flushColumns()
      across.push(segment)
      continue
    }
    flushAcross()
    ;(side === 'left' ? left : right).push(segment)
  }
  flushAcross()
  flushColumns()
  return regions
}

/** Letters from right to left count against those from left to right. */
const weigh = (segments: readonly Segment[]) =>
  segments.reduce((sum, { isRtl, letters }) => sum + (isRtl ? letters : -letters), 0)

function sideOf({ left, right, size }: Segment, gutter: number): 'left' | 'right' | 'across' {
  const slack = size * 0.3
  if (right <= gutter + slack) return 'left'
  return left >= gutter - slack ? 'right' : 'across'
}

/** The place between two columns of prose; undefined where there is none. Linear in the lines. */
function findGutter(segments: readonly Segment[]): number | undefined {
  if (segments.length < 2 * MIN_LINES) return undefined
  let from = Infinity
  let to = -Infinity
  for (const { left, right } of segments) {
    from = Math.min(from, left)
    to = Math.max(to, right)
  }
  const bin = (to - from) / BINS
  if (!(bin > 0)) return undefined
  const changes = new Int32Array(BINS + 2)
  for (const { left, right } of segments) {
    const first = Math.floor((left - from) / bin)
    const last = Math.max(first, Math.ceil((right - from) / bin) - 1)
    changes[first]! += 1
    changes[Math.min(last, BINS) + 1]! -= 1
  }
  // The emptiest place in the middle; of several that are as empty, the middle of the widest.
  let best = { covered: Infinity, length: 0, end: 0 }
  let run = { covered: -1, length: 0 }
  let covered = 0
  for (let i = 0; i < BINS; i++) {
    covered += changes[i] ?? 0
    if (i < BINS * 0.2 || i > BINS * 0.8) continue
    run = covered === run.covered ? { covered, length: run.length + 1 } : { covered, length: 1 }
    if (covered < best.covered || (covered === best.covered && run.length > best.length))
      best = { ...run, end: i }
  }
  const gutter = from + (best.end + 1 - best.length / 2) * bin
  const sides = { left: [] as Segment[], right: [] as Segment[], across: [] as Segment[] }
  for (const segment of segments) sides[sideOf(segment, gutter)].push(segment)
  const { left, right, across } = sides
  if (across.length > segments.length * MAX_SPANNING) return undefined
  if (!isColumn(left, gutter - from) || !isColumn(right, to - gutter)) return undefined
  return doOverlap(left, right) ? gutter : undefined
}

function isColumn(lines: readonly Segment[], width: number): boolean {
  if (lines.length < MIN_LINES) return false
  const widths = lines.map(({ left, right }) => right - left).toSorted((a, b) => a - b)
  const letters = lines.reduce((sum, line) => sum + line.letters, 0) / lines.length
  return (widths[Math.floor(widths.length / 2)] ?? 0) >= width * MIN_FILL && letters >= MIN_LETTERS
}

/** Columns stand beside each other. */
function doOverlap(one: readonly Segment[], other: readonly Segment[]): boolean {
  const [a, b] = [extentOf(one), extentOf(other)]
  const shared = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top)
  return shared >= 0.5 * Math.min(a.bottom - a.top, b.bottom - b.top)
}

function extentOf(lines: readonly Segment[]): { readonly top: number; readonly bottom: number } {
  let top = Infinity
  let bottom = -Infinity
  for (const { y } of lines) {
    top = Math.min(top, y)
    bottom = Math.max(bottom, y)
  }
  return { top, bottom }
}
