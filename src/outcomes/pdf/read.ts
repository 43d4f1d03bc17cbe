// Turns the bytes of a PDF into a normalised document, or says why they are nothing to sell.
import { digestText } from '../digest.ts'
import { detectLanguage } from '../extract/language.ts'
import { emptyDocument } from '../extract/empty.ts'
import { MAX_LABEL_CHARACTERS, PAGE_LIMITS } from '../extract/limits.ts'
import { resolveLink } from '../extract/links.ts'
import type { Block } from '../extract/blocks.ts'
import { textOfRuns } from '../extract/runs.ts'
import { collapseSpaces, countWords, cutText } from '../extract/text.ts'
import { findWarnings } from '../extract/warnings.ts'
import { startsBehind, writeDocument } from '../extract/written.ts'
import type { PageInput, PageReading, Reading } from '../reading.ts'
import { toBlocks } from './blocks.ts'
import { orderSegments } from './columns.ts'
import { type PageText, readFragments } from './fragments.ts'
import { type Line, linesOf } from './lines.ts'
import { readPdfMetadata } from './metadata.ts'
import { openPdf, type PDFDocumentProxy } from './open.ts'
import { type PdfReason, refusePdf } from './refusals.ts'
import { dropRunningHeads } from './running-heads.ts'
import { joinFragments } from './segments.ts'
import { isUnmapped } from './unmapped.ts'

/** Pages, and characters of them, that are read: what follows is named as cut, wherever the same PDF is read. */
const MAX_PAGES_READ = 300
const MAX_CHARACTERS = 1_000_000
/** Pieces of text of all pages: what each costs decides how long a PDF takes. */
const MAX_PIECES = 20_000
/** Looked through for what addresses a model. */
const MAX_HIDDEN_CHARACTERS = 100_000
/** A scan may have a stamp or a running head; a page of text has more words than that. */
const MIN_WORDS_A_PAGE = 5
export async function readPdf(input: PageInput): Promise<Reading<PageReading>> {
  // What a reader of PDF looks up first stands at the end.
  if (input.isCut) return refusePdf('pdf_truncated')
  const opened = await openPdf(input.body)
  if (!opened.ok) return opened
  const { pdf, lacksMap } = opened
  const { pages, isCut, hidden } = await readPages(pdf)
  if (pages.length === 0) return refusePdf('pdf_malformed')
  // A part of the text would be missing, and nobody could tell which.
  if (lacksMap()) return refusePdf('pdf_text_unmapped')
  const { pages: bare, left } = dropRunningHeads(pages)
  const blocks = toBlocks(bare.flat())
  const poor = judge(bare.flat(), blocks, pages.length)
  if (poor) return refusePdf(poor)
  const value = await write(pdf, blocks, input, { hidden, left, isCut })
  const behind = startsBehind(value.document)
  if (behind !== undefined) return { ok: false, reason: 'no_content', detail: behind }
  return { ok: true, format: 'pdf', charset: null, textSha256: digestText(value.document.text), value }
}

const textOf = (block: Block) => ('runs' in block ? textOfRuns(block.runs) : '')

async function readPages(pdf: PDFDocumentProxy) {
  const pages: Line[][] = []
  let isCut = false
  let hidden = ''
  let characters = 0
  let pieces = 0
  for (let number = 1; number <= pdf.numPages; number++) {
    if (pages.length >= MAX_PAGES_READ || characters > MAX_CHARACTERS || pieces >= MAX_PIECES) {
      isCut = true
      break
    }
    const text = await readOne(pdf, number, MAX_PIECES - pieces)
    if (!text) {
      isCut = true
      continue
    }
    isCut ||= text.isCut
    pieces += text.fragments.length
    if (hidden.length < MAX_HIDDEN_CHARACTERS) hidden += text.hidden.slice(0, MAX_HIDDEN_CHARACTERS)
    const lines = orderSegments(joinFragments(text.fragments)).flatMap((region) =>
      linesOf(region, number - 1),
    )
    for (const line of lines) characters += line.text.length
    pages.push(lines)
  }
  return { pages, isCut, hidden }
}

/** Undefined for a page that is damaged: the others are read. */
async function readOne(
  pdf: PDFDocumentProxy,
  number: number,
  maxPieces: number,
): Promise<PageText | undefined> {
  try {
    const page = await pdf.getPage(number)
    const text = await readFragments(page, maxPieces)
    page.cleanup()
    return text
  } catch {
    return undefined
  }
}

function judge(lines: readonly Line[], blocks: readonly Block[], pages: number): PdfReason | undefined {
  if (isUnmapped(lines.map(({ text }) => text).join('\n'))) return 'pdf_text_unmapped'
  const words = blocks.reduce((sum, block) => sum + countWords(textOf(block)), 0)
  return words === 0 || (pages > 1 && words < MIN_WORDS_A_PAGE * pages) ? 'pdf_without_text' : undefined
}

interface Around {
  /** Text that no reader sees. */
  readonly hidden: string
  /** Running heads and page numbers. */
  readonly left: string
  readonly isCut: boolean
}

async function write(
  pdf: PDFDocumentProxy,
  blocks: readonly Block[],
  { contentLanguage, start = 0 }: PageInput,
  { hidden, left, isCut }: Around,
): Promise<PageReading> {
  const written = writeDocument(
    blocks,
    { start, maxCharacters: PAGE_LIMITS.textCharacters },
    { resolve: (href) => resolveLink(href, undefined)?.url },
  )
  const { language, ...stated } = await readPdfMetadata(pdf)
  const { text } = written.document
  const headings = blocks.flatMap((block) =>
    block.kind === 'heading'
      ? [{ level: block.level, text: cutText(collapseSpaces(textOfRuns(block.runs)), MAX_LABEL_CHARACTERS) }]
      : [],
  )
  const links = linksOf(written.blocks)
  const words = countWords(text)
  const chrome = countWords(left)
  return {
    document: {
      ...emptyDocument(),
      ...stated,
      ...detectLanguage({
        declared: [
          [language, 'meta'],
          [contentLanguage, 'header'],
        ],
        text,
      }),
      title: stated.title ?? headings[0]?.text ?? null,
      headings: headings.slice(0, PAGE_LIMITS.headings),
      ...written.document,
      word_count: words,
      links: links.slice(0, PAGE_LIMITS.links),
    },
    cuts: written.cuts,
    mode: 'pdf',
    pages: pdf.numPages,
    quality: {
      mode: 'pdf',
      words,
      page_words: words + chrome,
      boilerplate: chrome > 0 ? [{ kind: 'chrome', words: chrome }] : [],
    },
    truncated: [
      ...written.truncated,
      ...(isCut ? ['pages'] : []),
      ...(headings.length > PAGE_LIMITS.headings ? ['headings'] : []),
      ...(links.length > PAGE_LIMITS.links ? ['links'] : []),
    ].sort(),
    warnings: findWarnings('', { hiddenText: hidden, comments: '' }, blocks.map(textOf).join('\n')),
  }
}

/** Every address once, in the order of the text. */
function linksOf(blocks: readonly Block[]) {
  const found = new Map<string, PageReading['document']['links'][number]>()
  for (const block of blocks)
    for (const { href, text } of 'runs' in block ? block.runs : []) {
      const link = href === undefined ? undefined : resolveLink(href, undefined)
      if (!link || found.has(link.url)) continue
      found.set(link.url, {
        ...link,
        text: cutText(collapseSpaces(text), MAX_LABEL_CHARACTERS),
        in_text: true,
      })
    }
  return [...found.values()]
}
