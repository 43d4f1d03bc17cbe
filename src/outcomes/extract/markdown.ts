// Blocks -> Markdown. Page text is escaped, so that nothing a page says turns into markup, HTML or a link of its own.
import type { Block, Figure } from './blocks.ts'
import { escapeLabel, escapeLineStarts, escapeText } from './escape.ts'
import type { Frame } from './frames.ts'
import type { Image } from './image.ts'
import { type Run, textOfRuns } from './runs.ts'
import type { TableCell } from './table.ts'

/** A block with text, or a figure between two of them. */
export type Piece = Block | Figure

export interface MarkdownOptions {
  /** The address of a link as it may be written out; undefined drops the link and keeps its text. */
  readonly resolve: (href: string) => string | undefined
  /** Ends behind what goes over it: the caller cuts. */
  readonly maxCharacters?: number
  /** Whether a line break in the text is one that its reader shall see. */
  readonly keepsBreaks?: boolean
  /** Told behind each piece how long the Markdown is by then. */
  readonly onEnd?: (piece: Piece, length: number) => void
}

type Writer = Required<MarkdownOptions>

/** Pieces apart by a blank line, items of a list by a line. */
export function toMarkdown(pieces: readonly Piece[], options: MarkdownOptions): string {
  const writer = { maxCharacters: Infinity, keepsBreaks: true, onEnd: () => {}, ...options }
  let markdown = ''
  let before: Piece | undefined
  let last = ''
  let isInList = false
  for (const piece of pieces) {
    if (markdown.length > writer.maxCharacters) break
    const written = writePiece(piece, writer, isInList)
    if (written === '') continue
    if (before) markdown += separator(before, piece, BARE_CALL_OUT.test(last.slice(-MAX_MARK_CHARACTERS)))
    markdown += written
    last = written
    writer.onEnd(piece, markdown.length)
    isInList = piece.kind === 'item' || (isInList && insetOf(piece) > 0)
    before = piece
  }
  return markdown
}

/** The kind of a call-out stands right above its text. */
const BARE_CALL_OUT = /> \[![A-Z]+\]$/
const MAX_MARK_CHARACTERS = 24

const isFigure = (piece: Piece): piece is Figure => piece.kind === 'image' || piece.kind === 'rule'
const frameOf = (piece: Piece): Frame | undefined => (isFigure(piece) ? undefined : piece.frame)
const insetOf = (piece: Piece) =>
  piece.kind === 'item' ? (piece.inset ?? 2 * piece.depth) : (frameOf(piece)?.inset ?? 0)

/** What begins every line of a piece: the quotes around the list, the columns of the list, the quotes inside it. */
function prefixOf(piece: Piece, isInList: boolean): string {
  const { quotes = 0, outerQuotes = 0 } = frameOf(piece) ?? {}
  // Without an item before it, an inset of four columns would be code.
  const inset = isInList ? insetOf(piece) : 0
  return '> '.repeat(outerQuotes) + ' '.repeat(inset) + '> '.repeat(Math.max(quotes - outerQuotes, 0))
}

function separator(before: Piece, piece: Piece, isBareCallOut: boolean): string {
  if (before.kind === 'item' && piece.kind === 'item') return '\n'
  const above = frameOf(before)
  const below = frameOf(piece)
  if (above?.role === 'term' && below?.role === 'definition') return '\n'
  const shared = Math.min(above?.outerQuotes ?? 0, (below?.outerQuotes ?? 0) - (below?.opensQuote ? 1 : 0))
  if (shared <= 0) return '\n\n'
  return isBareCallOut ? '\n' : `\n${'> '.repeat(shared).trimEnd()}\n`
}

function writePiece(piece: Piece, writer: Writer, isInList: boolean): string {
  const body = isFigure(piece) ? writeFigure(piece, writer) : writeBlock(piece, writer)
  if (body === '') return ''
  const prefix = prefixOf(piece, isInList)
  const callOut = frameOf(piece)?.callOut
  const lines =
    callOut === undefined ? body : body.toUpperCase() === callOut ? `[!${callOut}]` : `[!${callOut}]\n${body}`
  if (piece.kind !== 'item') return prefix === '' ? lines : lines.replace(/^/gm, prefix)
  const mark = `${piece.ordinal === null ? '-' : `${piece.ordinal}.`} `
  const task = piece.isDone === undefined ? '' : piece.isDone ? '[x] ' : '[ ] '
  return prefix + mark + task + lines.replaceAll('\n', `\n${prefix}${' '.repeat(mark.length)}`)
}

function writeBlock(block: Block, writer: Writer): string {
  switch (block.kind) {
    case 'heading': {
      const runs = block.runs.map((run) => ({ ...run, strong: false }))
      return `${'#'.repeat(block.level)} ${writeRuns(runs, writer).replace(/ *\n/g, ' ')}`
    }
    case 'source':
      return block.text
    case 'code': {
      const fence = '`'.repeat(Math.max(3, longestRun(block.text, /`+/g) + 1))
      return `${fence}${block.language ?? ''}\n${block.text}\n${fence}`
    }
    case 'table': {
      const { caption, header, rows } = block.table
      const width = rows.reduce((most, row) => Math.max(most, row.length), header.length)
      const line = (cells: readonly TableCell[]) =>
        `| ${Array.from({ length: width }, (_, i) => writeCell(cells[i], writer)).join(' | ')} |`
      let table = `${caption === null ? '' : `${escapeLineStarts(escapeText(caption, { after: '\n' }))}\n\n`}${line(header)}\n|${' --- |'.repeat(width)}`
      for (const row of rows) {
        if (table.length > writer.maxCharacters) break
        table += `\n${line(row)}`
      }
      return table
    }
    default: {
      const role = block.frame?.role
      const isTitle = role === 'term' || role === 'summary'
      const runs = isTitle ? titleRuns(block) : block.runs
      const body = breakLines(escapeLineStarts(writeRuns(runs, writer)), writer)
      return role === 'definition' && block.kind === 'paragraph' ? `: ${body}` : body
    }
  }
}

/** What a page of documentation says how something is called is code; any other title is strong all through. */
function titleRuns({ at, runs }: Block & { readonly runs: readonly Run[] }): readonly Run[] {
  if (at?.name === 'dt' && SIGNATURE.test(at.attributes['class'] ?? ''))
    return [{ text: textOfRuns(runs), href: undefined, strong: true, emphasis: false, code: true }]
  return runs.map((run) => ({ ...run, strong: true, emphasis: false }))
}

const SIGNATURE = /(?:^|\s)(?:sig|signature|memproto)(?:\s|$)/

function writeFigure(figure: Figure, writer: Writer): string {
  if (figure.kind === 'rule') return '---'
  const image = writeImage(figure.image, writer)
  if (image === '') return ''
  const linked = writeLink(image, figure.href, writer)
  return figure.caption === '' ? linked : `${linked}\n\n*${escapeText(figure.caption)}*`
}

function writeImage({ src, alt }: Image, { resolve }: Writer): string {
  const url = resolve(src)
  return url !== undefined && /^(?:https?:|[^:]*$)/i.test(url)
    ? `![${escapeLabel(alt)}](${writeAddress(url)})`
    : ''
}

function writeLink(label: string, href: string | undefined, { resolve }: Writer): string {
  const url = href === undefined ? undefined : resolve(href)
  return url === undefined ? label : `[${label}](${writeAddress(url)})`
}

/** In angle brackets where a bracket or a space in it would end it. */
const writeAddress = (url: string) =>
  /^[^\s<>()\\]+$/.test(url) ? url : `<${url.replace(/[<>\s\\]/g, encodeURIComponent)}>`

/** Two spaces at the end of a line make a reader of Markdown break it there. */
const breakLines = (text: string, { keepsBreaks }: Writer) =>
  keepsBreaks ? text.replaceAll('\n', '  \n') : text

function writeCell(cell: TableCell | undefined, writer: Writer): string {
  if (!cell) return ''
  return writeRuns(cell.runs, writer)
    .replaceAll('|', '\\|')
    .trim()
    .replace(/\s*\n\s*/g, '<br>')
}

const isAlike = (one: Run, other: Run | undefined) =>
  one.strong === other?.strong &&
  one.emphasis === other.emphasis &&
  (one.deleted ?? false) === (other.deleted ?? false)

/** Runs of the same weight share their marks: `**a [b](c)**`. */
function writeRuns(runs: readonly Run[], writer: Writer): string {
  const hasFormulas = runs.some(({ formula }) => formula !== undefined)
  let written = ''
  for (let i = 0; i < runs.length && written.length <= writer.maxCharacters;) {
    const first = runs[i]!
    let body = ''
    for (; i < runs.length && isAlike(first, runs[i]) && body.length <= writer.maxCharacters; i++)
      body += writeRun(runs[i]!, { hasFormulas, after: startOf(runs, i + 1) }, writer)
    written += mark(body, first)
  }
  return written
}

function mark(body: string, { strong, emphasis, deleted }: Run): string {
  const sign = `${deleted ? '~~' : ''}${strong ? '**' : ''}${emphasis ? '*' : ''}`
  const inner = body.trim()
  if (sign === '' || inner === '') return body
  const start = body.indexOf(inner)
  const end = sign === '~~***' ? '***~~' : [...sign].toReversed().join('')
  return body.slice(0, start) + sign + inner + end + body.slice(start + inner.length)
}

/** The character that follows in the line; undefined where a mark, a link or code follows. */
function startOf(runs: readonly Run[], i: number): string | undefined {
  const [before, run] = [runs[i - 1], runs[i]]
  if (!run) return '\n'
  const isPlain =
    !run.image &&
    !run.formula &&
    !run.code &&
    run.href === undefined &&
    before !== undefined &&
    isAlike(before, run)
  return isPlain ? run.text[0] : undefined
}

function writeRun(
  run: Run,
  around: { hasFormulas: boolean; after: string | undefined },
  writer: Writer,
): string {
  if (run.image) return writeLink(writeImage(run.image, writer), run.href, writer)
  const body = run.text.trim()
  if (body === '') return run.text
  const url = run.href === undefined ? undefined : writer.resolve(run.href)
  let text: string
  if (run.formula) text = run.formula === 'block' ? `$$${body}$$` : `$${body}$`
  else if (run.code) text = codeSpan(body)
  else text = url === undefined ? escapeText(body, around) : escapeLabel(body)
  if (url !== undefined) text = `[${text.replaceAll('\n', ' ')}](${writeAddress(url)})`
  const start = run.text.indexOf(body)
  return run.text.slice(0, start) + text + run.text.slice(start + body.length)
}

function codeSpan(text: string): string {
  const fence = '`'.repeat(longestRun(text, /`+/g) + 1)
  const pad = text.startsWith('`') || text.endsWith('`') ? ' ' : ''
  return `${fence}${pad}${text.replaceAll('\n', ' ')}${pad}${fence}`
}

const longestRun = (text: string, pattern: RegExp) =>
  (text.match(pattern) ?? []).reduce((longest, run) => Math.max(longest, run.length), 0)
