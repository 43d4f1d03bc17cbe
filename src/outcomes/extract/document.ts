// Turns a parsed page into a normalised document. Pure: the same HTML and base give the same bytes, whoever asks and
// whenever.
import type { ContentWarning, ExtractedDocument } from '../../../schemas/document.ts'
import { type Block, textOfBlocks, textOfRuns } from './blocks.ts'
import { chooseBlocks, type ExtractionMode } from './choose.ts'
import { readHints } from './hints.ts'
import { allTypes, parseJsonLd, productsIn } from './json-ld.ts'
import { type ExtractionLimits, MAX_LABEL_CHARACTERS } from './limits.ts'
import { baseOf, resolveLink } from './links.ts'
import { toMarkdown } from './markdown.ts'
import { readMetadata } from './metadata.ts'
import { readLinks } from './page-links.ts'
import { collapseSpaces, countWords, cutText } from './text.ts'
import { parsePage, textOf } from './tree.ts'
import { findWarnings } from './warnings.ts'

export interface Extraction {
  readonly document: ExtractedDocument
  readonly mode: ExtractionMode
  readonly baseUrl: string | undefined
  readonly elements: number
  readonly skippedElements: number
  /** Names of what reached a limit. */
  readonly truncated: readonly string[]
  readonly warnings: readonly ContentWarning[]
}

/** @param requestedBase what relative links are resolved against, unless the page names a base of its own */
export function extractDocument(
  html: string,
  requestedBase: string | undefined,
  limits: ExtractionLimits,
  { contentLanguage = null }: { contentLanguage?: string | null } = {},
): Extraction {
  const page = parsePage(html)
  const baseUrl = baseOf(page, requestedBase)
  const jsonLd = parseJsonLd(page.jsonLd)
  const { blocks, mode } = chooseBlocks(page, readHints(page, jsonLd))
  const truncated = new Set<string>()
  if (page.truncated) truncated.add('elements')
  const capped = <T>(what: string, items: readonly T[], max: number): T[] => {
    if (items.length > max) truncated.add(what)
    return items.slice(0, max)
  }
  const cut = (what: string, text: string): string => {
    if (text.length > limits.textCharacters) truncated.add(what)
    return cutText(text, limits.textCharacters).trimEnd()
  }

  const headings = blocks.flatMap((block) =>
    block.kind === 'heading'
      ? [{ level: block.level, text: cutText(collapseSpaces(textOfRuns(block.runs)), MAX_LABEL_CHARACTERS) }]
      : [],
  )
  const text = cut('text', textOfBlocks(blocks, limits.textCharacters))
  const found = readLinks(page, blocks, baseUrl, limits)
  const links = capped(
    'links',
    [...found.inText, ...capped('links', found.elsewhere, limits.linksElsewhere)],
    limits.links,
  )
  const written = new Set(links.map(({ url }) => url))
  const markdown = toMarkdown(
    blocks,
    remember((href) => {
      const link = resolveLink(href, baseUrl)
      return link && written.has(link.url) ? link.url : undefined
    }),
    limits.textCharacters,
  )
  if (jsonLd.truncated) truncated.add('structured_data')

  const document: ExtractedDocument = {
    ...readMetadata(page, jsonLd, { base: baseUrl, firstHeading: headings[0]?.text, contentLanguage, text }),
    headings: capped('headings', headings, limits.headings),
    text,
    markdown: cut('markdown', markdown),
    word_count: countWords(text),
    links,
    tables: capped('tables', readTables(blocks, limits.cells, truncated), limits.tables),
    structured_data: {
      types: allTypes(jsonLd),
      products: productsIn(jsonLd),
      invalid_scripts: jsonLd.invalidScripts,
    },
  }
  return {
    document,
    mode,
    baseUrl,
    elements: page.elements,
    skippedElements: page.skippedElements,
    truncated: [...truncated].sort(),
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
    const { caption, header, rows } = block.table
    const kept = rows.filter((row) => (cells += row.length) <= maxCells)
    if (kept.length < rows.length) truncated.add('tables')
    tables.push({ caption, header, rows: kept })
  }
  return tables
}
