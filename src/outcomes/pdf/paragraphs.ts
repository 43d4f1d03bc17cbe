// Lines to paragraphs: a new one begins where the page shows it by distance, size, indent, a bullet or a line that ends early.
import type { Line } from './lines.ts'

export type Paragraph = readonly [Line, ...Line[]]

/** As multiples of the leading or of the size of the letters. */
const MORE_THAN_LEADING = 1.3
const MIN_INDENT = 0.8
const OTHER_SIZE = 0.08
/** Dots that lead to a number: a line of a table of contents. */
const LEADERS = /(?:[.…]\s?){4,}\s*[\divxlc]{1,5}\s*$/

const BULLET = /^\s*[•◦▪▫■□●○‣⁃∙·►➢➤✓✔]\s*/u
const MARKED = /^\s*(?:[•◦▪▫■□●○‣⁃∙·►➢➤✓✔]|[-–—*]\s|\(?(?:\d{1,3}|[a-z])[.)]\s)/u
const SENTENCE_END = /[.!?:;؟۔。！？…]["'”’»)\]]*\s*$/u

export const bulletOf = (text: string): string | undefined => BULLET.exec(text.slice(0, 20))?.[0]

/** @param lines of all pages, in reading order */
export function splitParagraphs(lines: readonly Line[]): Paragraph[] {
  const paragraphs: [Line, ...Line[]][] = []
  for (const line of lines) {
    const open = paragraphs.at(-1)
    const before = open?.at(-1)
    if (open && before && goesOn(open[0], before, line)) open.push(line)
    else paragraphs.push([line])
  }
  return paragraphs
}

function goesOn(first: Line, before: Line, line: Line): boolean {
  const size = Math.max(before.size, line.size)
  if (Math.abs(before.size - line.size) > OTHER_SIZE * size || before.isRtl !== line.isRtl) return false
  const isMarked = MARKED.test(line.text.slice(0, 20))
  if (isMarked && (bulletOf(line.text) !== undefined || isListed(first))) return false
  if (LEADERS.test(before.text.slice(-40))) return false
  const endsEarly = isEarly(before, line)
  const endsSentence = SENTENCE_END.test(before.text.slice(-20))
  if (before.column !== line.column)
    // Over the edge of a column or a page only what plainly stopped in the middle of a sentence goes on.
    return !endsEarly && !endsSentence && !isMarked && indentOf(line) < MIN_INDENT
  const distance = line.y - before.y
  if (distance > line.column.leading * MORE_THAN_LEADING * size || distance <= 0) return false
  // Beside a picture every line is short, and ends where the one before it does.
  const isEdge = Math.abs(edgeOf(before) - edgeOf(line)) < size
  if (endsEarly && !isCentred(before, line) && (endsSentence || isMarked || !isEdge)) return false
  // The text of an item stands under itself; elsewhere a line that steps in begins a paragraph.
  const stepsIn = indentOf(line) - indentOf(before) > MIN_INDENT
  return !stepsIn || isListed(first)
}

const isListed = ({ text }: Line) => MARKED.test(text.slice(0, 20))

/** How far a line begins from the edge of its column, in letters. */
const indentOf = ({ isRtl, left, right, column, size }: Line) =>
  (isRtl ? column.right - right : left - column.left) / Math.max(size, 1)

/** Where a line ends. */
const edgeOf = ({ isRtl, left, right }: Line) => (isRtl ? left : right)

const isCentred = (one: Line, other: Line) =>
  Math.abs(one.left + one.right - other.left - other.right) < one.size &&
  Math.abs(one.left - other.left) > one.size

/** The first word of the next line would have had room: the writer ended this one. */
function isEarly(before: Line, line: Line): boolean {
  const { isRtl, left, right, column, size, text } = before
  const room = isRtl ? left - column.left : column.right - right
  const word = /^\s*\S+/.exec(line.text.slice(0, 60))?.[0].length ?? 0
  return room > (word + 1) * ((right - left) / Math.max(text.length, 1)) + size * 0.5
}
