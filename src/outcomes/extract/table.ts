// Decides whether a table holds data or only lays out a page, and reads it when it holds data.
import { cleanText, collapseSpaces } from './text.ts'
import { attribute, type Element } from './tree.ts'

export interface DataTable {
  caption: string | null
  header: string[]
  rows: string[][]
}

// Elements that only a page layout puts into a cell. Seeing one ends the reading, so nested tables are scanned once, not
// once a level.
const LAYOUT_CONTENT = new Set([
  'table',
  'h1',
  'h2',
  'h3',
  'h4',
  'h5',
  'h6',
  'article',
  'section',
  'main',
  'nav',
  'form',
  'pre',
])

// Wider than this no reader or model takes it for a table, and padding short rows would multiply the output.
const MAX_COLUMNS = 64

/** Undefined for a layout table: its cells are then read as ordinary blocks. */
export function readTable(table: Element): DataTable | undefined {
  const role = attribute(table.attributes, 'role')?.toLowerCase()
  if (role === 'presentation' || role === 'none') return undefined
  const rows: { cells: string[]; isHeader: boolean }[] = []
  let caption: string[] | undefined
  let row: { cells: string[]; isHeader: boolean } | undefined
  let into: string[] | undefined

  const stack: (Element | string | (() => void))[] = table.children.toReversed()
  for (let step = stack.pop(); step !== undefined; step = stack.pop()) {
    if (typeof step === 'function') {
      step()
      continue
    }
    if (typeof step === 'string') {
      into?.push(step)
      continue
    }
    if (LAYOUT_CONTENT.has(step.name)) return undefined
    const leave = enter(step)
    if (leave) stack.push(leave)
    for (const child of step.children.toReversed()) stack.push(child)
  }

  const filled = rows.filter(({ cells }) => cells.some((cell) => cell !== ''))
  const width = filled.reduce((most, { cells }) => Math.max(most, cells.length), 0)
  const [first, ...others] = filled
  if (!first || others.length === 0 || width < 2 || width > MAX_COLUMNS) return undefined
  return {
    caption: caption === undefined ? null : oneLine(caption) || null,
    header: first.isHeader ? first.cells : [],
    rows: (first.isHeader ? others : filled).map(({ cells }) => cells),
  }

  function enter({ name }: Element): (() => void) | undefined {
    if (name === 'tr') {
      const current = { cells: [], isHeader: true }
      row = current
      rows.push(current)
      return () => void (row = undefined)
    }
    if (name === 'td' || name === 'th') {
      const pieces: string[] = []
      // Closed later than it is seen, so that the place in the row is taken now.
      const target = (row ??= startRow())
      const index = target.cells.push('') - 1
      if (name === 'td') target.isHeader = false
      into = pieces
      return () => {
        target.cells[index] = oneLine(pieces)
        into = undefined
      }
    }
    if (name === 'caption') {
      caption = into = []
      return () => void (into = undefined)
    }
    // A line break or a paragraph inside a cell separates words.
    if (name === 'br' || name === 'p' || name === 'div' || name === 'li') into?.push(' ')
    return undefined
  }

  function startRow() {
    const current: { cells: string[]; isHeader: boolean } = { cells: [], isHeader: true }
    rows.push(current)
    return current
  }
}

const oneLine = (pieces: readonly string[]) => collapseSpaces(cleanText(pieces.join('')))
