// Joins pieces that the file draws one behind the other on one line: a line of text, of a column, or a cell of a table.
import type { Fragment } from './fragments.ts'

export interface Words {
  text: string
  readonly href: string | undefined
}

export interface Segment {
  readonly words: readonly Words[]
  readonly left: number
  readonly right: number
  /** The base line of most of its letters. */
  readonly y: number
  /** The size of most of its letters. */
  readonly size: number
  readonly letters: number
  readonly isRtl: boolean
}

/** Gaps as multiples of the size: a wider one separates columns and cells, one as wide as a letter separates words. */
const COLUMN_GAP = 1.2
const WORD_GAP = 0.2
/** Raised and lowered signs are off the line by less. */
const MAX_SHIFT = 0.6

interface Open {
  words: Words[]
  left: number
  right: number
  y: number
  size: number
  /** Letters of the largest piece so far, which decides on size and base line. */
  most: number
  letters: number
  rtlLetters: number
}

/** Linear: every piece is compared with the one before. */
export function joinFragments(fragments: readonly Fragment[]): Segment[] {
  const segments: Segment[] = []
  let open: Open | undefined
  for (const fragment of fragments) {
    const gap = open && follows(open, fragment)
    if (!open || gap === undefined) {
      if (open) segments.push(close(open))
      open = begin(fragment)
    } else append(open, fragment, gap)
  }
  if (open) segments.push(close(open))
  return segments
}

/** The gap where a piece goes on with the line before it, in reading direction; undefined where it begins another. */
function follows(open: Open, { x, y, width, size, isRtl }: Fragment): number | undefined {
  const larger = Math.max(open.size, size)
  const isLevel =
    Math.abs(open.y - y) <= (Math.abs(open.size - size) > 0.15 * larger ? MAX_SHIFT : 0.2) * larger
  if (!isLevel) return undefined
  const isOpenRtl = open.rtlLetters * 2 > open.letters
  const forward = x - open.right
  const backward = open.left - (x + width)
  const gap = isRtl || isOpenRtl ? Math.max(forward, backward) : forward
  return gap > COLUMN_GAP * larger || gap < -0.5 * larger ? undefined : gap
}

function begin({ text, x, y, width, size, isRtl, href }: Fragment): Open {
  const letters = text.trim().length
  return {
    words: [{ text, href }],
    left: x,
    right: x + width,
    y,
    size,
    most: letters,
    letters,
    rtlLetters: isRtl ? letters : 0,
  }
}

function append(open: Open, { text, x, y, width, size, isRtl, href }: Fragment, gap: number): void {
  const letters = text.trim().length
  const last = open.words.at(-1)
  const isApart =
    gap > WORD_GAP * Math.max(open.size, size) && !/^\s/.test(text) && !/\s$/.test(last?.text ?? '')
  if (last && last.href === href) last.text += isApart ? ` ${text}` : text
  else {
    if (isApart && last) last.text += ' '
    open.words.push({ text, href })
  }
  open.left = Math.min(open.left, x)
  open.right = Math.max(open.right, x + width)
  open.letters += letters
  if (isRtl) open.rtlLetters += letters
  if (letters > open.most) Object.assign(open, { most: letters, size, y })
}

const close = ({ words, left, right, y, size, letters, rtlLetters }: Open): Segment => ({
  words,
  left,
  right,
  y,
  size,
  letters,
  isRtl: rtlLetters * 2 > letters,
})
