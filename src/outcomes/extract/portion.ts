// Takes the part of a document that an answer has room for: from an offset on, up to the end of a block, and says where the
// rest begins. Text and Markdown are of the same blocks.
import { type Block, separatorBetween, textOfBlock } from './blocks.ts'
import type { Run } from './runs.ts'
import { countCharacters } from './text.ts'
import { type Cut, MIN_SHARE } from '../text/cut.ts'

export interface Portion {
  readonly blocks: readonly Block[]
  readonly text: string
  /** Of the whole text. */
  readonly characters: number
  /** The end of each block in `text`, and where the next one begins in the whole text. */
  readonly ends: readonly Omit<Cut, 'markdown'>[]
  /** Null where nothing follows. */
  readonly next: number | null
}

/**
 * @param start offset in the whole text, in Unicode characters
 * @param maxCharacters of the text, in UTF-16 units
 */
export function takePortion(blocks: readonly Block[], start: number, maxCharacters: number): Portion {
  const taken: Block[] = []
  const ends: { text: number; next: number }[] = []
  let text = ''
  let next: number | null = null
  let characters = 0
  let before: Block | undefined
  for (const block of blocks) {
    const piece = textOfBlock(block)
    if (piece === '') continue
    const begin = characters + (before ? separatorBetween(before, block).length : 0)
    characters = begin + countCharacters(piece)
    before = block
    if (next !== null || characters <= start) continue
    const last = ends.at(-1)
    if (last) last.next = begin
    const from = start > begin ? unitsOf(piece, start - begin) : 0
    const between = taken.length === 0 ? '' : separatorBetween(taken.at(-1)!, block)
    const room = maxCharacters - text.length - between.length
    if (piece.length - from > room && text.length > maxCharacters * MIN_SHARE) {
      next = begin
      continue
    }
    const to = piece.length - from > room ? endWithin(piece, from, from + room) : piece.length
    const part = piece.slice(from, to)
    taken.push(from === 0 && to === piece.length ? block : sliceBlock(block, piece, from, to))
    text += between + part
    if (to < piece.length) next = begin + countCharacters(piece.slice(0, to))
    ends.push({ text: text.length, next: next ?? characters })
  }
  return { blocks: taken, text, characters, ends, next }
}

/** UTF-16 units of so many characters. */
function unitsOf(text: string, characters: number): number {
  let units = 0
  for (let left = characters; left > 0 && units < text.length; left--)
    units += (text.codePointAt(units) ?? 0) > 0xffff ? 2 : 1
  return units
}

/** Behind a line, else behind a word, where that costs little; never through a character. */
function endWithin(text: string, from: number, most: number): number {
  for (const sign of ['\n', ' ']) {
    const at = text.lastIndexOf(sign, most - 1)
    if (at > from + (most - from) * 0.8) return at + 1
  }
  const code = text.charCodeAt(most - 1)
  return code >= 0xd800 && code <= 0xdbff && most - from > 1 ? most - 1 : most
}

/** A part of one block, of the same kind. */
function sliceBlock(block: Block, text: string, from: number, to: number): Block {
  const part = text.slice(from, to)
  if (block.kind === 'code' || block.kind === 'source') return { ...block, text: part }
  if (block.kind === 'table') return sliceTable(block, text, from, to)
  const runs: Run[] = []
  let at = 0
  for (const run of block.runs) {
    const cut = run.text.slice(Math.max(from - at, 0), Math.max(to - at, 0))
    if (cut !== '') runs.push({ ...run, text: cut })
    at += run.text.length
  }
  return { ...block, runs }
}

/** Whole rows stay rows under the same head; anything else is read as bare text. */
function sliceTable(block: Block & { kind: 'table' }, text: string, from: number, to: number): Block {
  const { caption, header, rows, lines } = block.table
  const first = text.slice(0, from).split('\n').length - 1
  const isWhole = (at: number) => at === 0 || at === text.length || text[at - 1] === '\n'
  if (!isWhole(from) || !isWhole(to)) return { kind: 'code', text: text.slice(from, to) }
  const count = text.slice(from, to).replace(/\n$/, '').split('\n').length
  const above = caption === null ? 0 : 1
  const head = header.length > 0 ? 1 : 0
  const rowAt = (line: number) => Math.max(line - above - head, 0)
  return {
    ...block,
    table: {
      caption: first === 0 ? caption : null,
      header,
      rows: rows.slice(rowAt(first), rowAt(first + count)),
      lines: lines.slice(Math.max(first - above, 0), Math.max(first + count - above, 0)),
    },
  }
}
