// A row as a line: whatever is in it, the line is one line, and says the same again.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type ColumnKind,
  decodeRow,
  encodeValue,
  linesOf,
  wholeLines,
} from '../../../src/store/transfer/row-text.ts'
import { tallyOf } from '../../../src/store/transfer/tally.ts'

const KINDS: readonly ColumnKind[] = ['text', 'integer', 'bytes']
const anyRow = fc.tuple(
  fc.option(
    fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('\\N', '\\.', '', '\t', '\\x00', '\\\n')),
  ),
  fc.option(fc.maxSafeInteger()),
  fc.option(fc.uint8Array()),
)
const lineOf = (row: readonly (string | number | Uint8Array | null)[]) => row.map(encodeValue).join('\t')
const piecesOf = async function* (...texts: string[]) {
  for (const text of texts) yield Buffer.from(text)
}

describe('a row', () => {
  it('is the same after it was a line, and never the line that ends a table', () => {
    fc.assert(
      fc.property(anyRow, (row) => {
        const line = lineOf(row)
        expect(line).not.toMatch(/[\n\r]|^\\\.$/)
        expect(
          decodeRow(line, KINDS).map((value) => (value instanceof Uint8Array ? [...value] : value)),
        ).toEqual(row.map((value) => (value instanceof Uint8Array ? [...value] : value)))
      }),
    )
  })

  it.each([
    ['another number of columns', 'a\t1'],
    ['text where a number has to be', 'a\tx\t\\\\x00'],
    ['a number that is not exact', 'a\t9007199254740993\t\\\\x00'],
    ['bytes that are no hexadecimal', 'a\t1\t\\\\x0'],
  ])('is refused with %s', (_what, line) => {
    expect(() => decodeRow(line, KINDS)).toThrow(RangeError)
  })
})

describe('pieces', () => {
  it('hold whole lines, wherever the stream was cut', async () => {
    const text = 'one\ntwo\nthree\n'
    for (let at = 0; at <= text.length; at++) {
      const lines: string[] = []
      for await (const piece of wholeLines(piecesOf(text.slice(0, at), text.slice(at))))
        lines.push(...Array.from(linesOf(piece), String))
      expect(lines).toEqual(['one', 'two', 'three'])
    }
    await expect(tallyOf(wholeLines(piecesOf('one\ntw')))).rejects.toThrow(RangeError)
  })
})

describe('a tally', () => {
  it('knows nothing of order, and everything of rows', async () => {
    const tally = await tallyOf(piecesOf('a\nb\n', 'c\n'))
    expect(tally).toEqual({ rows: 3, checksum: expect.stringMatching(/^[0-9a-f]{16}$/) })
    expect(await tallyOf(piecesOf('c\na\nb\n'))).toEqual(tally)
    // A row that is there twice is not one that is there once, as it would be for a sum by XOR.
    for (const other of ['a\nb\n', 'a\nb\nd\n', 'a\nb\nc\nc\n', 'a\nb\nc\nc\nc\n'])
      expect(await tallyOf(piecesOf(other))).not.toEqual(tally)
  })
})
