// Parsed page -> normalised document. Pure: the same HTML and base give the same bytes, whoever asks and whenever.
import type { ContentWarning, ExtractedDocument } from '../../../schemas/document.ts'
import { type Block, textOfBlocks, textOfRuns } from './blocks.ts'
import { chooseBlocks, type ExtractionMode } from './choose.ts'
import { readHints } from './hints.ts'
import { allTypes, parseJsonLd, productsIn } from './json-ld.ts'
import type { ExtractionLimits } from './limits.ts'
import { baseOf, resolveLink } from './links.ts'
import { toMarkdown } from './markdown.ts'
import { readMetadata } from './metadata.ts'
import { cleanText, collapseSpaces, countWords, cutText } from './text.ts'
import { attribute, type Element, parsePage, type ParsedPage, textOf } from './tree.ts'
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

const MAX_LABEL_CHARACTERS = 300

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
  const fullText = textOfBlocks(blocks)
  const text = cut('text', fullText)
  const found = readLinks(page, baseUrl, hrefsIn(blocks), limits)
  const links = capped(
    'links',
    [...found.inText, ...capped('links', found.elsewhere, limits.linksElsewhere)],
    limits.links,
  )
  const written = new Set(links.map(({ url }) => url))
  const markdown = toMarkdown(blocks, (href) => {
    const link = resolveLink(href, baseUrl)
    return link && written.has(link.url) ? link.url : undefined
  })
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

/** Addresses as they are written in the main text. */
function hrefsIn(blocks: readonly Block[]): ReadonlySet<string> {
  const hrefs = new Set<string>()
  for (const block of blocks) {
    // Cells are kept as text: their links are found where the table stands.
    const below = block.kind === 'table' && block.at ? elementsBelow(block.at) : []
    for (const element of below) addTo(hrefs, hrefOf(element))
    for (const { href } of 'runs' in block ? block.runs : []) addTo(hrefs, href)
  }
  return hrefs
}

const addTo = (hrefs: Set<string>, href: string | undefined) => href !== undefined && hrefs.add(href)
const hrefOf = ({ name, attributes }: Element) => (name === 'a' ? attribute(attributes, 'href') : undefined)

/** Every link of the page once, in order, with the first text it carries; each list ends one past its limit. */
function readLinks(
  page: ParsedPage,
  base: string | undefined,
  hrefs: ReadonlySet<string>,
  limits: ExtractionLimits,
): { readonly inText: Links; readonly elsewhere: Links } {
  const inText = new Map<string, Links[number]>()
  const elsewhere = new Map<string, Links[number]>()
  const seen = new Set<string>()
  for (const element of elementsBelow(page.root)) {
    const href = hrefOf(element)
    if (href === undefined || seen.has(href)) continue
    const isInText = hrefs.has(href)
    if (isInText ? inText.size > limits.links : elsewhere.size > limits.linksElsewhere) continue
    seen.add(href)
    const link = resolveLink(href, base)
    if (!link || inText.has(link.url)) continue
    if (isInText) elsewhere.delete(link.url)
    else if (elsewhere.has(link.url)) continue
    const text = cutText(oneLine(element), MAX_LABEL_CHARACTERS)
    ;(isInText ? inText : elsewhere).set(link.url, { ...link, text, in_text: isInText })
  }
  return { inText: [...inText.values()], elsewhere: [...elsewhere.values()] }
}

type Links = ExtractedDocument['links']

function* elementsBelow(root: Element): Generator<Element> {
  const stack: Element[] = [root]
  for (let element = stack.pop(); element; element = stack.pop()) {
    yield element
    for (let i = element.children.length - 1; i >= 0; i--) {
      const child = element.children[i]!
      if (typeof child !== 'string') stack.push(child)
    }
  }
}

const oneLine = (element: Element) => collapseSpaces(cleanText(textOf(element, '', MAX_LABEL_CHARACTERS)))

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
