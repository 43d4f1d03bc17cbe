// A row as a line of text: the format of PostgreSQL's COPY (documentation of COPY, "Text Format"), so that PostgreSQL writes and reads it itself. Columns
// are parted by tabs, NULL is `\N`, bytes are hexadecimal behind `\x`, and no line of it is `\.`.
import type { SqlValue } from '../command.ts'

const NEWLINE = 10
const NULL = '\\N'
/** What ends the rows of a table in a stream. */
export const END_OF_ROWS = '\\.'

const ESCAPED = /[\\\b\f\n\r\t\v]/g
const LETTERS: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
}
const CHARACTERS = new Map(Object.entries(LETTERS).map(([character, letters]) => [letters[1], character]))

/** One value, without what parts it from the next. */
export function encodeValue(value: SqlValue): string {
  if (value === null) return NULL
  if (typeof value === 'number') return String(value)
  if (typeof value !== 'string') return `\\\\x${Buffer.from(value).toString('hex')}`
  return value.replace(ESCAPED, (character) => LETTERS[character] ?? character)
}

export type ColumnKind = 'text' | 'integer' | 'bytes'

/** @throws {RangeError} where the text is no value of the kind */
export function decodeValue(text: string, kind: ColumnKind): SqlValue {
  if (text === NULL) return null
  if (kind === 'integer') {
    const value = Number(text)
    if (text === '' || !Number.isSafeInteger(value)) throw new RangeError('not an integer')
    return value
  }
  const plain = text.includes('\\')
    ? text.replace(/\\([^])/g, (_, letter: string) => CHARACTERS.get(letter) ?? letter)
    : text
  if (kind === 'text') return plain
  if (!/^\\x(?:[0-9a-f]{2})*$/.test(plain)) throw new RangeError('not bytes')
  return Buffer.from(plain.slice(2), 'hex')
}

/** @throws {RangeError} where the line has another number of columns, or a value is not of its kind */
export function decodeRow(line: string, kinds: readonly ColumnKind[]): SqlValue[] {
  const cells = line.split('\t')
  if (cells.length !== kinds.length) throw new RangeError('another number of columns')
  return cells.map((cell, at) => decodeValue(cell, kinds[at] ?? 'text'))
}

/** The lines of a piece that holds whole lines, without their ends. */
export function* linesOf(piece: Buffer): Generator<Buffer> {
  for (let from = 0; from < piece.length;) {
    const to = piece.indexOf(NEWLINE, from)
    if (to < 0) throw new RangeError('a piece of rows ends within a row')
    yield piece.subarray(from, to)
    from = to + 1
  }
}

/** Joins pieces that end anywhere into pieces of whole lines. */
export async function* wholeLines(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let rest: Buffer[] = []
  for await (const piece of pieces) {
    const end = piece.lastIndexOf(NEWLINE) + 1
    if (end === 0) {
      if (piece.length > 0) rest.push(piece)
      continue
    }
    yield rest.length === 0 ? piece.subarray(0, end) : Buffer.concat([...rest, piece.subarray(0, end)])
    rest = end < piece.length ? [piece.subarray(end)] : []
  }
  if (rest.length > 0) throw new RangeError('the rows end within a row')
}
