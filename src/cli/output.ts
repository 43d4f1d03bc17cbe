// Formats what commands print: tables and words for people, the gateway's own JSON for programs (--json).
import type { CommandFailure } from './exit.ts'

export type Row = Readonly<Record<string, unknown>>

/** Writes to stdout, where answers go; whatever a person alone needs goes to stderr. */
export const printLine = (line: string): void => void process.stdout.write(`${line}\n`)
/** Writes JSON with an indent of two to stdout. */
export const printJson = (value: unknown): void => printLine(JSON.stringify(value, null, 2))

/** Labels come from strangers: nothing in them may move the cursor, recolour the terminal or reverse the text. */
const harmless = (text: string) => text.replace(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/gu, '?')

/** A value in one line, with nothing in it that a terminal would act on. */
export function formatValue(value: unknown): string {
  if (value === null || value === undefined) return '-'
  if (Array.isArray(value)) return value.length === 0 ? '-' : value.map(formatValue).join(' ')
  if (typeof value === 'object') return harmless(JSON.stringify(value))
  return harmless(String(value)) || '-'
}

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

/** Columns as wide as their widest cell, two spaces apart. */
export function formatTable(rows: readonly Row[], columns: readonly string[]): string {
  const cells = [
    columns.map((column) => column.toUpperCase().replaceAll('_', ' ')),
    ...rows.map((row) => columns.map((column) => formatValue(row[column]))),
  ]
  const widths = columns.map((_, index) => Math.max(...cells.map((row) => row[index]?.length ?? 0)))
  return cells
    .map((row) =>
      row
        .map((cell, index) => cell.padEnd(widths[index] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

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

/** One page of a list; --json prints the answer of the gateway as it is. */
export function printPage(
  answer: { readonly next: string | null },
  rows: readonly Row[],
  columns: readonly string[],
  empty: string,
  { json }: { readonly json?: boolean },
): void {
  if (json) return printJson(answer)
  printLine(rows.length === 0 ? empty : formatTable(rows, columns))
  if (answer.next !== null) printLine(`\nmore: --before ${formatValue(answer.next)}`)
}
