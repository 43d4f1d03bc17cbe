// What the head of a page states about it, from the tree that was made of the page already: where nothing is marked in microdata or RDFa, a
// second pass would find nothing else.
import { attribute, type Element, type ParsedPage, textOf } from '../extract/tree.ts'
import { MAX_HEADING_CHARACTERS, type PageStatements, takeMeta } from './scan.ts'

const UNMARKED = { items: [], orphan: {}, isCut: false } as const

/** Whether a part of the page has a property of microdata or a type of RDFa. */
export const isMarked = ({ statesWare, all }: ParsedPage): boolean =>
  statesWare || all.some(({ attributes: { itemprop, typeof: type } }) => (itemprop ?? type) !== undefined)

/** The statements of a page that is not marked. */
export function readHeadStatements(page: ParsedPage): PageStatements {
  const meta = new Map<string, string>()
  for (const { name, attributes } of page.head) if (name === 'meta') takeMeta(meta, attributes)
  const named = (name: string) => page.head.filter((element) => element.name === name)
  const first = (elements: readonly Element[], ...names: string[]): string | null => {
    for (const { attributes } of elements)
      for (const name of names) {
        const value = attribute(attributes, name)
        if (value !== undefined) return value
      }
    return null
  }
  const isCanonical = ({ attributes }: Element) =>
    /(?:^|\s)canonical(?:\s|$)/i.test(attribute(attributes, 'rel') ?? '')
  const [title] = named('title')
  const heading = page.all.find((element) => element.name === 'h1' && element.words > 0)
  const textIn = (element: Element | undefined) =>
    element === undefined ? null : textOf(element).slice(0, MAX_HEADING_CHARACTERS)
  return {
    scripts: page.jsonLd,
    microdata: UNMARKED,
    rdfa: UNMARKED,
    meta,
    canonical: first(named('link').filter(isCanonical), 'href'),
    base: first(named('base'), 'href'),
    language: first(named('html'), 'lang', 'xml:lang'),
    title: textIn(title),
    heading: textIn(heading),
    truncated: [],
  }
}
