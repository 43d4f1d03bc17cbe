// Decides whether a table holds data or only lays out a page, and reads it when it holds data.
import { isSetApart } from './apart.ts'
import { createRunCollector, type Run, textOfRuns } from './runs.ts'
import { collapseSpaces } from './text.ts'
import { attribute, type Element } from './tree.ts'

export interface TableCell {
  readonly text: string
  readonly runs: readonly Run[]
}

/** Rows are as wide as a reader sees them: a cell that spans several stands in each of them. */
export interface DataTable {
  readonly caption: string | null
  readonly header: readonly TableCell[]
  readonly rows: readonly (readonly TableCell[])[]
  /** Every cell once, line by line: the text of the table. */
  readonly lines: readonly (readonly string[])[]
}

// Elements that only a page layout puts into a cell. Seeing one ends the reading, so nested tables are scanned once, not
// once a level.
const LAYOUT_CONTENT = new Set('table h1 h2 h3 h4 h5 h6 article section main nav form pre'.split(' '))
// A line break or a paragraph inside a cell separates words.
const BREAKS = new Set('p div li dd dt ul ol blockquote tr'.split(' '))

// Wider than this no reader or model takes it for a table, and padding short rows would multiply the output.
const MAX_COLUMNS = 64
/** Copies of cells that span: so many, and for each cell that is written so many more. */
const MIN_COPIES = 256
const COPIES_PER_CELL = 3
/** A longer text is not written twice. */
const MAX_COPIED_CHARACTERS = 200
const EMPTY: TableCell = { text: '', runs: [] }

interface OpenCell {
  cell: TableCell
  readonly columns: number
  readonly rows: number
}
interface OpenRow {
  readonly cells: OpenCell[]
  isHeader: boolean
}

/** Undefined for a layout table: its cells are then read as ordinary blocks. */
export function readTable(table: Element): DataTable | undefined {
  const role = attribute(table.attributes, 'role')?.toLowerCase()
  if (role === 'presentation' || role === 'none') return undefined
  const collector = createRunCollector()
  const rows: OpenRow[] = []
  let caption: string | null = null
  let row: OpenRow | undefined
  let isReading = false
  let isHead = false

  const stack: (Element | string | (() => void))[] = table.children.toReversed()
  for (let step = stack.pop(); step !== undefined; step = stack.pop()) {
    if (typeof step === 'function') step()
    else if (typeof step === 'string') {
      if (isReading) collector.text(step)
    } else {
      if (LAYOUT_CONTENT.has(step.name)) return undefined
      if (step.name === 'noscript') continue
      const leave = enter(step)
      if (leave === 'done') continue
      if (leave) stack.push(leave)
      for (const child of step.children.toReversed()) stack.push(child)
    }
  }

  const filled = rows.filter(({ cells }) => cells.some(({ cell }) => cell.text !== ''))
  const written = filled.reduce((most, { cells }) => Math.max(most, cells.length), 0)
  const [first] = filled
  if (!first || filled.length < 2 || written < 2 || written > MAX_COLUMNS) return undefined
  const width = filled.reduce((most, { cells }) => Math.max(most, widthOf(cells)), 0)
  const grid = expand(filled, Math.min(width, MAX_COLUMNS))
  return {
    caption,
    header: first.isHeader ? (grid[0] ?? []) : [],
    rows: first.isHeader ? grid.slice(1) : grid,
    lines: filled.map(({ cells }) => cells.map(({ cell }) => cell.text)),
  }

  function enter(element: Element): (() => void) | 'done' | undefined {
    const { name } = element
    if (name === 'thead') {
      isHead = true
      return () => void (isHead = false)
    }
    if (name === 'tr') {
      row = startRow()
      return () => void (row = undefined)
    }
    if (name === 'td' || name === 'th') return enterCell(element)
    if (name === 'caption') {
      isReading = true
      return () => {
        caption = collapseSpaces(textOfRuns(collector.take({ keepsAside: true }))) || null
        isReading = false
      }
    }
    if (!isReading) return undefined
    if (BREAKS.has(name)) {
      collector.breakLine()
      return () => collector.breakLine()
    }
    if (isSetApart(element)) collector.text(' ')
    const entered = collector.enter(element, false)
    if (entered === 'done') return 'done'
    return entered === 'styled' ? () => collector.leave(element) : undefined
  }

  function enterCell({ name, attributes }: Element): () => void {
    // Closed later than it is seen, so that the place in the row is taken now.
    const target = (row ??= startRow())
    const open: OpenCell = {
      cell: EMPTY,
      columns: spanOf(attribute(attributes, 'colspan')),
      rows: spanOf(attribute(attributes, 'rowspan')),
    }
    target.cells.push(open)
    if (name === 'td' && !isHead) target.isHeader = false
    isReading = true
    return () => {
      const runs = collector.take({ keepsAside: true })
      open.cell = { runs, text: collapseSpaces(textOfRuns(runs)) }
      isReading = false
    }
  }

  function startRow(): OpenRow {
    const current: OpenRow = { cells: [], isHeader: true }
    rows.push(current)
    return current
  }
}

/** 0 stands for the rest of the table, and nothing else means more than a table is wide. */
function spanOf(written: string | undefined): number {
  if (written === undefined || !/^\s*\d{1,9}\s*$/.test(written)) return 1
  return Math.min(Number(written) || MAX_COLUMNS, MAX_COLUMNS)
}

/** The span of the last cell of a row only says that it fills the row. */
const widthOf = (cells: readonly OpenCell[]) =>
  cells.reduce((sum, { columns }, i) => sum + (i === cells.length - 1 ? 1 : columns), 0)

/** Puts every cell where a reader sees it. Bounded: spans make a table a few times as large as it is written, no more. */
function expand(rows: readonly OpenRow[], width: number): TableCell[][] {
  let copies = MIN_COPIES + COPIES_PER_CELL * rows.reduce((sum, { cells }) => sum + cells.length, 0)
  const copyOf = (cell: TableCell) =>
    cell.text.length <= MAX_COPIED_CHARACTERS && copies-- > 0 ? cell : EMPTY
  /** What hangs down from the rows above, by column. */
  const hanging: ({ cell: TableCell; left: number } | undefined)[] = []
  return rows.map(({ cells }) => {
    // A heading within the table: it stands once, over the others.
    const isAlone = cells.length === 1
    const line: TableCell[] = []
    const hang = () => {
      for (let above = hanging[line.length]; above && above.left > 0; above = hanging[line.length]) {
        above.left--
        line.push(copyOf(above.cell))
        if (line.length >= width) return
      }
    }
    for (const { cell, columns, rows: down } of cells) {
      hang()
      for (let i = 0; i < (isAlone ? 1 : columns) && line.length < width; i++) {
        if (down > 1) hanging[line.length] = { cell, left: down - 1 }
        line.push(i === 0 ? cell : copyOf(cell))
      }
    }
    if (line.length < width) hang()
    return line
  })
}
