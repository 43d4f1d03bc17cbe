// Reads what a page says about itself. Structured data first, then meta tags, then what readers see; never a guess.
import { getDomain } from 'tldts'
import type { JsonLd } from '../structured/json-ld.ts'
import { nodesAt } from '../structured/graph.ts'
import { findMainWork, findWebPage, identifyPage } from '../structured/main.ts'
import { type Node, textAt } from '../structured/node.ts'
import { readAuthors } from './authors.ts'
import { detectLanguage, type Language } from './language.ts'
import { type ResolvedLink, resolveLink } from './links.ts'
import { type MetaTags, readMetaTags } from './meta-tags.ts'
import { cleanText, collapseSpaces, cutText } from './text.ts'
import { toIsoTime } from './times.ts'
import { attribute, type ParsedPage, textOf } from './tree.ts'

export interface Metadata {
  title: string | null
  byline: string | null
  authors: string[]
  site_name: string | null
  language: string | null
  language_source: Language['language_source']
  description: string | null
  canonical_url: string | null
  published_time: string | null
  modified_time: string | null
}

const MAX_CHARACTERS = { title: 500, byline: 200, site_name: 200, description: 1000, time: 40, stated: 2000 }

const PUBLISHED = [
  'datePublished',
  'citation_publication_date',
  'citation_date',
  'dc.date.issued',
  'dcterms.issued',
  'dc.date',
  'dcterms.created',
  'parsely-pub-date',
  'sailthru.date',
  'pubdate',
  'date',
]
const MODIFIED = ['dateModified', 'og:updated_time', 'dcterms.modified', 'last-modified']

/** The metadata of a page; what it does not say is null. */
export function readMetadata(
  page: ParsedPage,
  jsonLd: JsonLd,
  context: {
    /** The address of the page, which its main work is known by. */
    url: string | undefined
    base: string | undefined
    firstHeading: string | undefined
    contentLanguage: string | null
    text: string
  },
): Metadata {
  const meta = readMetaTags(page)
  const titleElement = page.head.find(({ name }) => name === 'title')
  const pageTitle = titleElement && textOf(titleElement)
  const link = canonical(page, meta, context.base)
  const main = findMainWork(
    jsonLd.graph,
    identifyPage(
      [context.url, link?.absolute ? link.url : undefined],
      [context.firstHeading, meta.first('og:title'), pageTitle],
    ),
    context.base,
  )
  const works = [main, findWebPage(jsonLd.graph)]
    .filter((thing) => thing !== undefined)
    .map(({ node }) => node)
  const stated = (node: Node | undefined, key: string) =>
    node === undefined ? null : textAt(node, [key], MAX_CHARACTERS.stated)
  const ld = (key: string) => stated(works[0], key) ?? stated(works[1], key)
  const html = page.head.find(({ name }) => name === 'html')

  const pick = (max: number, ...candidates: (string | null | undefined)[]): string | null => {
    for (const candidate of candidates) {
      if (!candidate) continue
      const text = cutText(collapseSpaces(cleanText(candidate)), max).trim()
      if (text !== '') return text
    }
    return null
  }
  const time = (...candidates: (string | null | undefined)[]): string | null =>
    pick(MAX_CHARACTERS.time, ...candidates.map((candidate) => candidate && toIsoTime(candidate)))

  const siteName = pick(MAX_CHARACTERS.site_name, meta.first('og:site_name'), meta.first('application-name'))
  const authors = readAuthors(page, { jsonLd, works, meta, houses: housesOf(jsonLd, works, siteName) })
  return {
    title: pick(
      MAX_CHARACTERS.title,
      main && stated(main.node, 'headline'),
      meta.first('og:title'),
      meta.first('twitter:title'),
      pageTitle,
      context.firstHeading,
    ),
    byline: pick(MAX_CHARACTERS.byline, authors.join(', ')),
    authors,
    site_name: siteName,
    ...detectLanguage({
      declared: [
        [html && (attribute(html.attributes, 'lang') ?? attribute(html.attributes, 'xml:lang')), 'html'],
        [meta.first('content-language'), 'meta'],
        [context.contentLanguage, 'header'],
        [meta.first('og:locale'), 'meta'],
      ],
      text: context.text,
    }),
    description: pick(
      MAX_CHARACTERS.description,
      meta.first('description'),
      meta.first('og:description'),
      meta.first('twitter:description'),
      ld('description'),
    ),
    canonical_url: link?.url ?? null,
    // The whole page is looked through only where its head says nothing.
    published_time:
      time(
        stated(works[0], 'datePublished'),
        meta.first('article:published_time'),
        stated(works[1], 'datePublished'),
        ...PUBLISHED.map((name) => meta.first(name)),
        timeElement(page),
      ) ?? time(markedTime(page, 'datePublished')),
    modified_time:
      time(
        stated(works[0], 'dateModified'),
        meta.first('article:modified_time'),
        stated(works[1], 'dateModified'),
        ...MODIFIED.map((name) => meta.first(name)),
      ) ?? time(markedTime(page, 'dateModified')),
  }
}

/** Names of the site and of those who publish on it. */
function housesOf({ graph }: JsonLd, works: readonly Node[], siteName: string | null): (string | null)[] {
  const names = [siteName, ...works.flatMap((work) => nodesAt(graph, work, 'publisher').map(nameOf))]
  for (const { node, types, role } of graph.things)
    if (role !== 'part' && types.some((type) => HOUSE.test(type))) names.push(nameOf(node))
  return names
}

const HOUSE = /^(?:WebSite|Organization|NewsMediaOrganization|Corporation|OnlineStore)$/
const nameOf = (node: Node) => textAt(node, ['name'], MAX_CHARACTERS.site_name)

/** The first time that the page marks with this property of microdata, in an attribute or in its text. */
function markedTime(page: ParsedPage, property: string): string | undefined {
  for (const element of page.all) {
    if (attribute(element.attributes, 'itemprop') !== property) continue
    const { attributes } = element
    const value =
      attribute(attributes, 'datetime') ?? attribute(attributes, 'content') ?? textOf(element, ' ', 20)
    if (toIsoTime(value) !== undefined) return value
  }
  return undefined
}

function timeElement(page: ParsedPage): string | undefined {
  for (const { name, attributes } of page.head) {
    const value = name === 'time' ? attribute(attributes, 'datetime') : undefined
    if (value !== undefined && toIsoTime(value) !== undefined) return value
  }
  return undefined
}

function canonical(page: ParsedPage, meta: MetaTags, base: string | undefined): ResolvedLink | undefined {
  const link = page.head.find(
    ({ name, attributes }) =>
      name === 'link' && /(?:^|\s)canonical(?:\s|$)/i.test(attribute(attributes, 'rel') ?? ''),
  )
  for (const candidate of [link && attribute(link.attributes, 'href'), meta.first('og:url')]) {
    const resolved = candidate === undefined ? undefined : resolveLink(candidate, base)
    if (!resolved || (resolved.absolute && !/^https?:/i.test(resolved.url))) continue
    if (base === undefined || !resolved.absolute || isSameSite(resolved.url, base)) return resolved
  }
  return undefined
}

/** A page may name another address of its own site, not one of somebody else's. */
function isSameSite(one: string, other: string): boolean {
  const [first, second] = [new URL(one).hostname, new URL(other).hostname]
  if (first === second) return true
  const domain = getDomain(first, { allowPrivateDomains: true })
  return domain !== null && domain === getDomain(second, { allowPrivateDomains: true })
}
