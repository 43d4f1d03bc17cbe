// Lists the links of a page: those of its main text first, as they stand there, then some of those around it.
import type { ExtractedDocument } from '../../../schemas/document.ts'
import type { Block } from './blocks.ts'
import { isBlockElement } from './elements.ts'
import { type ExtractionLimits, MAX_LABEL_CHARACTERS } from './limits.ts'
import { resolveLink } from './links.ts'
import { cleanText, collapseSpaces, cutText } from './text.ts'
import { attribute, type Element, elementsBelow, type ParsedPage, textOf } from './tree.ts'

type Links = ExtractedDocument['links']

interface PageLinks {
  readonly inText: Links
  readonly elsewhere: Links
}

/** Every address once, in the order of the page; each list ends one past its limit. */
export function readLinks(
  { all }: ParsedPage,
  blocks: readonly Block[],
  base: string | undefined,
  limits: Pick<ExtractionLimits, 'links' | 'linksElsewhere'>,
): PageLinks {
  const main = findMain(blocks)
  const inText = new Map<string, Links[number]>()
  const elsewhere = new Map<string, Links[number]>()
  const seen = new Set<string>()
  /** Links by their address as written: it is in the text, though not where one would look for it. */
  const unplaced = new Map<string, Element>()

  function add(element: Element, href: string, isInText: boolean): void {
    seen.add(href)
    const link = resolveLink(href, base)
    if (!link || inText.has(link.url) || (!isInText && elsewhere.has(link.url))) return
    if (isInText) elsewhere.delete(link.url)
    const text = cutText(oneLine(element), MAX_LABEL_CHARACTERS)
    ;(isInText ? inText : elsewhere).set(link.url, { ...link, text, in_text: isInText })
  }

  for (const element of all) {
    const href = hrefOf(element)
    if (href === undefined || seen.has(href)) continue
    if (!main.hrefs.has(href)) {
      if (elsewhere.size <= limits.linksElsewhere) add(element, href, false)
    } else if (inText.size <= limits.links) {
      if (main.holds(element)) add(element, href, true)
      else if (!unplaced.has(href)) unplaced.set(href, element)
    }
  }
  for (const [href, element] of unplaced)
    if (!seen.has(href) && inText.size <= limits.links) add(element, href, true)
  return { inText: [...inText.values()], elsewhere: [...elsewhere.values()] }
}

/** Finds where the main text stands, and the addresses that are written in it. */
function findMain(blocks: readonly Block[]) {
  const hrefs = new Set<string>()
  const places = new Set<Element>()
  const tables = new Set<Element>()
  const around = new Set<Element>()
  for (const block of blocks) {
    const { at } = block
    if (at && block.kind === 'table') {
      tables.add(at)
      // Cells are kept as text.
      for (const element of elementsBelow(at)) addTo(hrefs, hrefOf(element))
    } else if (at) places.add(at)
    for (const { href } of 'runs' in block ? block.runs : []) addTo(hrefs, href)
  }
  const linkAround = createFinder(({ name }) => name === 'a')
  const blockAround = createFinder(isBlockElement)
  const tableAround = createFinder((element) => tables.has(element))
  for (const place of places) {
    const link = linkAround(place)
    if (link) around.add(link)
  }
  return {
    hrefs,
    holds(link: Element): boolean {
      if (around.has(link)) return true
      const place = blockAround(link)
      if (place && places.has(place)) return true
      return tables.size > 0 && tableAround(link) !== undefined
    },
  }
}

const addTo = (hrefs: Set<string>, href: string | undefined) => href !== undefined && hrefs.add(href)
const hrefOf = ({ name, attributes }: Element) => (name === 'a' ? attribute(attributes, 'href') : undefined)
const oneLine = (element: Element) => collapseSpaces(cleanText(textOf(element, '', MAX_LABEL_CHARACTERS)))

/** Gives the nearest one that an element stands in. Every element on the way is passed once, however many stand in it. */
function createFinder(isWanted: (element: Element) => boolean): (element: Element) => Element | undefined {
  const known = new Map<Element, Element | undefined>()
  return (element) => {
    const passed = [element]
    let at = element.parent
    while (at && !isWanted(at) && !known.has(at)) {
      passed.push(at)
      at = at.parent
    }
    const found = at && !isWanted(at) ? known.get(at) : at
    for (const each of passed) known.set(each, found)
    return found
  }
}
