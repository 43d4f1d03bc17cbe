// Turns a parsed page into a normalised document. Pure: the same HTML and base give the same bytes, whoever asks and
// whenever.
import type { ContentWarning, DocumentQuality, ExtractedDocument } from '../../../schemas/document.ts'
import type { Cut } from '../text/cut.ts'
import type { Block } from './blocks.ts'
import { createBoilerplateRules } from './boilerplate.ts'
import { chooseBlocks, type ExtractionMode } from './choose.ts'
import { readHints } from './hints.ts'
import { allTypes, parseJsonLd } from '../structured/json-ld.ts'
import { summariseProducts } from '../products/summary.ts'
import { type ExtractionLimits, MAX_LABEL_CHARACTERS } from './limits.ts'
import { baseOf, resolveLink } from './links.ts'
import { readMetadata } from './metadata.ts'
import { readLinks } from './page-links.ts'
import { findPoor } from './poor/judge.ts'
import { isEdge } from './poor/remnant.ts'
import type { PoorReason } from './poor/reasons.ts'
import { measureQuality } from './quality.ts'
import { textOfRuns } from './runs.ts'
import { collapseSpaces, countWords, cutText } from './text.ts'
import { estimateWords, parsePage, textOf } from './tree.ts'
import { findWarnings } from './warnings.ts'
import { writeDocument } from './written.ts'

export interface Extraction {
  readonly document: ExtractedDocument
  /** Where text and Markdown may be cut together. */
  readonly cuts: readonly Cut[]
  readonly mode: ExtractionMode
  readonly baseUrl: string | undefined
  readonly elements: number
  readonly skippedElements: number
  /** Names of what reached a limit. */
  readonly truncated: readonly string[]
  readonly warnings: readonly ContentWarning[]
  readonly quality: DocumentQuality
  /** Why the page is nothing to sell. */
  readonly poor: PoorReason | undefined
}

/** @param requestedBase what relative links are resolved against, unless the page names a base of its own */
export function extractDocument(
  html: string,
  requestedBase: string | undefined,
  limits: ExtractionLimits,
  { contentLanguage = null, start = 0 }: { contentLanguage?: string | null; start?: number | undefined } = {},
): Extraction {
  const page = parsePage(html)
  const baseUrl = baseOf(page, requestedBase)
  const jsonLd = parseJsonLd(page.jsonLd)
  const hints = readHints(page, jsonLd, requestedBase)
  const rules = createBoilerplateRules(page.root, hints)
  const { blocks, mode } = chooseBlocks(page, hints, rules)
  const truncated = new Set<string>()
  if (page.truncated) truncated.add('elements')
  const capped = <T>(what: string, items: readonly T[], max: number): T[] => {
    if (items.length > max) truncated.add(what)
    return items.slice(0, max)
  }
  const headings = blocks.flatMap((block) =>
    block.kind === 'heading'
      ? [{ level: block.level, text: cutText(collapseSpaces(textOfRuns(block.runs)), MAX_LABEL_CHARACTERS) }]
      : [],
  )
  // In Markdown an address stays with its words, also one for which the list of links has no room.
  const written = writeDocument(
    blocks,
    { start, maxCharacters: limits.textCharacters },
    { resolve: remember((href) => resolveLink(href, baseUrl)?.url) },
  )
  for (const what of written.truncated) truncated.add(what)
  const { text } = written.document
  const found = readLinks(page, written.blocks, baseUrl, limits)
  const links = capped(
    'links',
    [...found.inText, ...capped('links', found.elsewhere, limits.linksElsewhere)],
    limits.links,
  )
  if (jsonLd.truncated) truncated.add('structured_data')
  // The end of a long page is short, and nothing poor: what is judged is the whole.
  const words = start > 0 ? blocks.reduce((sum, block) => sum + (block.words ?? 0), 0) : estimateWords(text)

  const document: ExtractedDocument = {
    ...readMetadata(page, jsonLd, {
      url: requestedBase,
      base: baseUrl,
      firstHeading: headings[0]?.text,
      contentLanguage,
      text,
    }),
    headings: capped('headings', headings, limits.headings),
    ...written.document,
    word_count: countWords(text),
    links,
    tables: capped('tables', readTables(written.blocks, limits.cells, truncated), limits.tables),
    structured_data: {
      types: allTypes(jsonLd),
      products: summariseProducts(html, baseUrl, { jsonLd, page }),
      invalid_scripts: jsonLd.invalidScripts,
      ...(jsonLd.repaired.length > 0 ? { repaired: [...jsonLd.repaired] } : {}),
    },
  }
  return {
    document,
    cuts: written.cuts,
    mode,
    baseUrl,
    elements: page.elements,
    skippedElements: page.skippedElements,
    truncated: [...truncated].sort(),
    quality: measureQuality(page, { mode, words: start > 0 ? words : document.word_count, rules }),
    // Text that structured data carries is there, whatever the page shows.
    poor:
      mode === 'json-ld' || mode === 'noscript'
        ? undefined
        : (findPoor(html, { words, page, url: requestedBase }) ??
          (isEdge(blocks, page.root) ? 'remnant' : undefined)),
    warnings: findWarnings(html, page, `${textOf(page.root, '\n')}\n${document.description ?? ''}`),
  }
}

/** Pages link to the same few places over and over. */
function remember(resolve: (href: string) => string | undefined): (href: string) => string | undefined {
  const known = new Map<string, string | undefined>()
  return (href) => {
    if (!known.has(href)) known.set(href, resolve(href))
    return known.get(href)
  }
}

function readTables(
  blocks: readonly Block[],
  maxCells: number,
  truncated: Set<string>,
): ExtractedDocument['tables'] {
  let cells = 0
  const tables: ExtractedDocument['tables'] = []
  for (const block of blocks) {
    if (block.kind !== 'table') continue
    const { caption } = block.table
    const header = block.table.header.map(({ text }) => text)
    const rows = block.table.rows.map((row) => row.map(({ text }) => text))
    const kept = rows.filter((row) => (cells += row.length) <= maxCells)
    if (kept.length < rows.length) truncated.add('tables')
    tables.push({ caption, header, rows: kept })
  }
  return tables
}
