// Tables that fit the terminal. On a terminal the widest cells are shortened in their middle until a line fits, ids last of all, because
// people copy them; in a pipe every cell is whole, so that scripts read the same whatever window they run in.
import stringWidth from 'string-width'
import { formatValue, type Row } from './values.ts'

export interface TableOptions {
  /** Whole cells, however wide the terminal. */
  readonly wide?: boolean
  /** Columns in place of the usual ones. */
  readonly columns?: readonly string[]
}

const GAP = '  '
/** A cell that is shortened still shows three or four characters of both ends. */
const LEAST = 8
const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })

/** Cells of a terminal's line; undefined where stdout is none, or nobody wants lines cut. */
export const terminalWidth = (
  { wide }: TableOptions = {},
  out: { readonly isTTY?: boolean; readonly columns?: number } = process.stdout,
): number | undefined => (wide || !out.isTTY || !out.columns ? undefined : out.columns)

/** What the next command wants whole. */
const isCopied = (column: string) => /(^|_)(id|kid|transaction)$/.test(column)

/**
 * @param width cells that a line may take; undefined for as many as it needs
 * @returns columns as wide as their widest cell, two spaces apart; one field a line where ids leave no room for anything else
 */
export function formatTable(rows: readonly Row[], columns: readonly string[], width?: number): string {
  const heads = columns.map((column) => column.toUpperCase().replaceAll('_', ' '))
  const cells = [heads, ...rows.map((row) => columns.map((column) => formatValue(row[column])))]
  const natural = columns.map((_, at) => Math.max(...cells.map((row) => stringWidth(row[at] ?? ''))))
  const widths = width === undefined ? natural : fit(natural, columns, width)
  if (widths === undefined) return formatFields(rows, columns, width ?? 0)
  return cells
    .map((row) =>
      row
        .map((cell, at) => pad(shorten(cell, widths[at] ?? 0), widths[at] ?? 0))
        .join(GAP)
        .trimEnd(),
    )
    .join('\n')
}

/** Takes from the widest column that may be shortened, one cell at a time; undefined where that is not enough. */
function fit(natural: readonly number[], columns: readonly string[], width: number): number[] | undefined {
  const widths = [...natural]
  let over = sum(widths) + GAP.length * (widths.length - 1) - width
  while (over > 0) {
    let widest = -1
    for (const [at, column] of columns.entries())
      if (!isCopied(column) && (widths[at] ?? 0) > Math.max(LEAST, widths[widest] ?? 0)) widest = at
    if (widest < 0) return undefined
    widths[widest] = (widths[widest] ?? 0) - 1
    over--
  }
  return widths
}

function formatFields(rows: readonly Row[], columns: readonly string[], width: number): string {
  const names = Math.min(Math.max(...columns.map((column) => column.length)), Math.floor(width / 3))
  return rows
    .map((row) =>
      columns
        .map((column) => {
          const name = pad(shorten(column, names), names)
          return shorten(
            `${name}${GAP}${shorten(formatValue(row[column]), width - names - GAP.length)}`,
            width,
          )
        })
        .join('\n'),
    )
    .join('\n\n')
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0)
const pad = (text: string, width: number) => text + ' '.repeat(Math.max(0, width - stringWidth(text)))

/** `0x1234…abcd`: both ends, since what tells two apart may stand at either. */
export function shorten(text: string, width: number): string {
  if (stringWidth(text) <= width) return text
  if (width <= 1) return '…'.slice(0, Math.max(0, width))
  const parts = [...graphemes.segment(text)].map(({ segment }) => segment)
  const head = take(parts, Math.ceil((width - 1) / 2))
  const tail = take(parts.slice(head.length).toReversed(), width - 1 - stringWidth(head.join('')))
  const short = `${head.join('')}…${tail.toReversed().join('')}`
  // A joined emoji may be wider than its parts together.
  return stringWidth(short) <= width ? short : '…'
}

/** As many of the first as fit. */
function take(parts: readonly string[], width: number): string[] {
  const taken: string[] = []
  let left = width
  for (const part of parts) {
    left -= stringWidth(part)
    if (left < 0) break
    taken.push(part)
  }
  return taken
}

/** A line that leaves the last cell of the terminal free, so that the cursor stays in it. */
export const terminalLine = (text: string, columns = 80): string => shorten(text, Math.max(1, columns - 1))
