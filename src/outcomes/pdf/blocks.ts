// Paragraphs to the blocks that every document is made of: headings by the size of their letters, items by their bullets, and a
// rule in Markdown where a page ends.
import type { Block, Figure } from '../extract/blocks.ts'
import type { Run } from '../extract/runs.ts'
import { cleanText, collapseSpaces } from '../extract/text.ts'
import { createJoiner, type Joiner } from './hyphens.ts'
import type { Line } from './lines.ts'
import { bulletOf, type Paragraph, splitParagraphs } from './paragraphs.ts'

/** A heading is so much larger than the text, and short. */
const LARGER = 1.15
const MAX_HEADING_CHARACTERS = 200
const MAX_HEADING_LINES = 3
/** Where more of the letters stand in large type, the size says nothing: slides, posters. */
const MAX_HEADING_SHARE = 0.3
const MAX_LEVEL = 6

/** @param lines of all pages, in reading order */
export function toBlocks(lines: readonly Line[]): Block[] {
  const paragraphs = splitParagraphs(lines)
  const levelOf = rankSizes(lines, paragraphs)
  const join = createJoiner(lines.map(({ text }) => text))
  const breaks: Figure[] = []
  const blocks: Block[] = []
  let page = lines[0]?.column.page ?? 0
  for (const paragraph of paragraphs) {
    const [first] = paragraph
    for (; page < first.column.page; page++) breaks.push({ kind: 'rule' })
    const runs = writeRuns(paragraph, join)
    if (runs.every(({ text }) => text.trim() === '')) continue
    const figures = { all: breaks, before: breaks.length, block: blocks.length }
    const level = levelOf(paragraph)
    const bullet = level === undefined ? bulletOf(runs[0]?.text ?? '') : undefined
    if (level !== undefined) blocks.push({ kind: 'heading', level, runs, figures })
    else if (bullet !== undefined && runs[0] && hasWords(runs, bullet))
      blocks.push({
        kind: 'item',
        depth: 0,
        ordinal: null,
        runs: [{ ...runs[0], text: runs[0].text.slice(bullet.length) }, ...runs.slice(1)],
        figures,
      })
    else blocks.push({ kind: 'paragraph', runs, figures })
  }
  return blocks
}

const hasWords = (runs: readonly Run[], bullet: string) =>
  runs.map(({ text }) => text).join('').length > bullet.length

function writeRuns(paragraph: Paragraph, join: Joiner): Run[] {
  const runs: Run[] = []
  for (const [i, line] of paragraph.entries())
    for (const [j, { text, href }] of line.words.entries()) {
      const clean = cleanText(text).replace(/\s+/g, ' ')
      const last = runs.at(-1)
      // Only the seam of two lines may take something away from what stands before it.
      const seam = i > 0 && j === 0 && last ? seamOf(last.text, clean.trimStart(), join) : undefined
      if (seam !== undefined && last) last.text = seam
      const added = seam === undefined ? clean : clean.trimStart()
      if (last && last.href === href) last.text += added
      else runs.push({ text: added, href, strong: false, emphasis: false, code: false })
    }
  const first = runs[0]
  const end = runs.at(-1)
  if (first) first.text = first.text.trimStart()
  if (end) end.text = end.text.trimEnd()
  return runs.filter(({ text }) => text !== '')
}

/** The text before the seam as it is when the text behind it follows. */
function seamOf(before: string, after: string, join: Joiner): string {
  const trimmed = before.trimEnd()
  // Of a long paragraph only its end is looked at.
  const head = trimmed.slice(0, -64)
  const joined = join(trimmed.slice(-64), after)
  return head + joined.slice(0, joined.length - after.length)
}

/** The level of what is plainly a heading, by its size among the sizes of all headings. */
function rankSizes(lines: readonly Line[], paragraphs: readonly Paragraph[]) {
  const body = sizeOfBody(lines)
  const found = paragraphs.filter((paragraph) => looksLikeHeading(paragraph, body))
  const lettersOf = (some: readonly Paragraph[]) =>
    some.reduce((sum, paragraph) => sum + paragraph.reduce((length, { text }) => length + text.length, 0), 0)
  if (lettersOf(found) > lettersOf(paragraphs) * MAX_HEADING_SHARE) return () => undefined
  const headings = new Set(found)
  const sizes = [...new Set(found.map(([{ size }]) => roundSize(size)))].toSorted((a, b) => b - a)
  return (paragraph: Paragraph): number | undefined =>
    headings.has(paragraph) ? Math.min(sizes.indexOf(roundSize(paragraph[0].size)) + 1, MAX_LEVEL) : undefined
}

const roundSize = (size: number) => Math.round(size * 2) / 2

/** The size that most letters have. */
function sizeOfBody(lines: readonly Line[]): number {
  const letters = new Map<number, number>()
  for (const { size, text } of lines)
    letters.set(roundSize(size), (letters.get(roundSize(size)) ?? 0) + text.length)
  let body = { size: 0, count: 0 }
  for (const [size, count] of letters) if (count > body.count) body = { size, count }
  return body.size
}

function looksLikeHeading(paragraph: Paragraph, body: number): boolean {
  if (paragraph[0].size < body * LARGER || paragraph.length > MAX_HEADING_LINES) return false
  const text = collapseSpaces(paragraph.map((line) => line.text).join(' '))
  return text.length <= MAX_HEADING_CHARACTERS && /\p{L}/u.test(text) && !/[.;,]$/.test(text)
}
