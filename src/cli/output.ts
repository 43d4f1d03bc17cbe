// Formats what commands print: tables and words for people, the gateway's own JSON for programs (--json).
import { CommandFailure, Exit } from './exit.ts'
import { formatTable, type TableOptions, terminalWidth } from './table.ts'
import { formatValue, type Row } from './values.ts'

export { formatTable } from './table.ts'
export { formatValue, type Row } from './values.ts'

/** Writes to stdout, where answers go; whatever a person alone needs goes to stderr. */
export const printLine = (line: string): void => void process.stdout.write(`${line}\n`)
/** Writes JSON with an indent of two to stdout. */
export const printJson = (value: unknown): void => printLine(JSON.stringify(value, null, 2))

/**
 * Several lines that somebody decides by. Nothing in them is left out or looks like something else: what would not be
 * seen, or would move what is seen, is written as its code point.
 */
export const showText = (text: string): string =>
  text
    .split('\n')
    .map((line) => line.replace(UNSEEN, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`))
    .join('\n')

/** Control, format (zero width, direction), private use, lone surrogates, fillers, blanks other than the common one. */
const UNSEEN = /(?!\t)[\p{C}\p{Zl}\p{Zp}\p{DI}\u2800]|(?! )\p{Zs}/gu

/** One field a line, names aligned. */
export function formatRecord(record: Row): string {
  const width = Math.max(0, ...Object.keys(record).map((name) => name.length))
  return Object.entries(record)
    .map(([name, value]) => `${name.padEnd(width)}  ${formatValue(value)}`)
    .join('\n')
}

/** @returns what a person reads of a problem document: what, why, what next, and the id to quote */
export function describeProblem(problem: Row): string {
  const lines = [
    `${formatValue(problem['title'])} (${formatValue(problem['code'])}, ${formatValue(problem['status'])})`,
  ]
  if (problem['detail'] !== undefined) lines.push(`  ${formatValue(problem['detail'])}`)
  if (Array.isArray(problem['fields']))
    for (const field of problem['fields'] as Row[])
      lines.push(`  ${formatValue(field['pointer'])}: ${formatValue(field['message'])}`)
  if (problem['retry_after_seconds'] !== undefined)
    lines.push(`  try again in ${formatValue(problem['retry_after_seconds'])} s`)
  if (problem['request_id'] !== undefined) lines.push(`  request id ${formatValue(problem['request_id'])}`)
  return lines.join('\n')
}

/** Writes to stderr, so that a pipe behind a failed command gets nothing it would take for an answer. */
export function printFailure(failure: CommandFailure, json: boolean): void {
  process.stderr.write(
    json
      ? `${JSON.stringify(failure.problem ?? { error: failure.message, exit_code: failure.exitCode }, null, 2)}\n`
      : `agent-gateway: ${failure.message}\n`,
  )
}

/** One record, for people or for programs. */
export function printRecord(record: Row, { json }: { readonly json?: boolean }): void {
  if (json) printJson(record)
  else printLine(formatRecord(record))
}

/** A table as wide as the terminal, or its words where it has no rows. */
export function printTable(
  rows: readonly Row[],
  columns: readonly string[],
  empty: string,
  options: TableOptions = {},
): void {
  if (rows.length === 0) return printLine(empty)
  printLine(formatTable(rows, chosenColumns(rows, columns, options), terminalWidth(options)))
}

/** @throws {CommandFailure} for a column that is not there */
function chosenColumns(
  rows: readonly Row[],
  usual: readonly string[],
  { columns }: TableOptions,
): readonly string[] {
  if (columns === undefined) return usual
  const known = new Set([...usual, ...rows.flatMap((row) => Object.keys(row))])
  const unknown = columns.find((column) => !known.has(column))
  if (unknown === undefined) return columns
  throw new CommandFailure(
    Exit.usage,
    `There is no column ${formatValue(unknown)}. Those that are there: ${[...known].join(', ')}.`,
  )
}

/** One page of a list; --json prints the answer of the gateway as it is. */
export function printPage(
  answer: { readonly next: string | null },
  rows: readonly Row[],
  columns: readonly string[],
  empty: string,
  options: TableOptions & { readonly json?: boolean },
): void {
  if (options.json) return printJson(answer)
  printTable(rows, columns, empty, options)
  if (answer.next !== null) printLine(`\nmore: --before ${formatValue(answer.next)}`)
}
