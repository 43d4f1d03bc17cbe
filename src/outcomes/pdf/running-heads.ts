// Leaves out what stands on every page and belongs to none: running heads, page numbers, the lines at the foot.
import type { Line } from './lines.ts'

/** Lines at the top and at the foot of a page that are looked at. */
const EDGE_LINES = 2
const MIN_PAGES = 3
const MAX_HEAD_CHARACTERS = 200
/** What stands apart is so far from the text, as a multiple of the size. */
const GAP = 1.5
/** The same line on so many of the pages is no part of the text. */
const SHARE = 0.5
const NUMBER =
  /^[-–—\s|·]*(?:(?:page|seite|p\.|صفحة)\s*)?(?:\d{1,4}|[ivxlc]{1,7})(?:\s*(?:\/|of|von|de|من)\s*\d{1,4})?[-–—\s|·.]*$/i

export interface Pages {
  readonly pages: readonly (readonly Line[])[]
  /** Words of what was left out. */
  readonly left: string
}

/** A number at the beginning or the end of a line. */
const PAGE_NUMBER = /^\s*(\d{1,4})\b|(?:^|\s|[-–—|·])(\d{1,4})[\s–—|·-]*$/

/** Numbers count as equal, so `Page 1` is the line `Page 2`. A number alone is one where a page is one of several. */
export function dropRunningHeads(pages: readonly (readonly Line[])[]): Pages {
  if (pages.length < MIN_PAGES) return { pages, left: '' }
  const counts = new Map<string, number>()
  for (const lines of pages)
    for (const key of new Set(edgesOf(lines).map(({ text }) => keyOf(text))))
      counts.set(key, (counts.get(key) ?? 0) + 1)
  const numbered = findNumbered(pages)
  let left = ''
  const kept = pages.map((lines) => {
    const edges = new Set(edgesOf(lines))
    return lines.filter((line) => {
      const isOne =
        numbered.has(line) ||
        (edges.has(line) &&
          (NUMBER.test(line.text.trim()) ||
            (counts.get(keyOf(line.text)) ?? 0) >= Math.max(MIN_PAGES, pages.length * SHARE)))
      if (isOne) left += `${line.text}\n`
      return !isOne
    })
  })
  return { pages: kept, left }
}

/** The first and the last lines of pages with a number that counts the pages: the head of a chapter changes, and its number goes on. */
function findNumbered(pages: readonly (readonly Line[])[]): Set<Line> {
  const byOffset = new Map<number, Line[]>()
  for (const [i, lines] of pages.entries()) {
    const byPlace = inPlace(lines)
    const usual = usualSize(lines)
    for (const line of new Set([...byPlace.slice(0, 1), ...byPlace.slice(-1)])) {
      // What is larger than the text is its heading, and counts something else.
      if (line.text.length > MAX_HEAD_CHARACTERS || line.size > usual * 1.1) continue
      const [, first, last] = PAGE_NUMBER.exec(line.text) ?? []
      if (first === undefined && last === undefined) continue
      const offset = Number(last ?? first) - i
      const alike = byOffset.get(offset)
      if (alike) alike.push(line)
      else byOffset.set(offset, [line])
    }
  }
  const [most = []] = [...byOffset.values()].toSorted((a, b) => b.length - a.length)
  return new Set(most.length >= Math.max(MIN_PAGES, pages.length * SHARE) ? most : [])
}

const inPlace = (lines: readonly Line[]) => lines.toSorted((a, b) => a.y - b.y)

const usualSize = (lines: readonly Line[]) =>
  lines.map(({ size }) => size).toSorted((a, b) => a - b)[Math.floor(lines.length / 2)] ?? 0

/** One or two lines at the top and at the foot, where a gap parts them from the text. */
function edgesOf(lines: readonly Line[]): Line[] {
  const byPlace = inPlace(lines)
  return [...beforeGap(byPlace), ...beforeGap(byPlace.toReversed())]
}

function beforeGap(lines: readonly Line[]): readonly Line[] {
  for (let i = 1; i <= EDGE_LINES; i++) {
    const [outer, inner] = [lines[i - 1], lines[i]]
    if (!outer || !inner) return []
    if (Math.abs(inner.y - outer.y) > GAP * Math.max(inner.size, outer.size)) return lines.slice(0, i)
  }
  return []
}

const keyOf = (text: string) => text.trim().toLowerCase().replace(/\d+/g, '0').replace(/\s+/g, ' ')
