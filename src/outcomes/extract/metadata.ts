// Reads what a page says about itself. Structured data first, then meta tags, then what readers see; never a guess.
import { getDomain } from 'tldts'
import { isArticle, type JsonLd, textValue } from './json-ld.ts'
import { detectLanguage, type Language } from './language.ts'
import { type ResolvedLink, resolveLink } from './links.ts'
import { cleanText, collapseSpaces, cutText } from './text.ts'
import { toIsoTime } from './times.ts'
import { attribute, type ParsedPage, textOf } from './tree.ts'

export interface Metadata {
  title: string | null
  byline: string | null
  site_name: string | null
  language: string | null
  language_source: Language['language_source']
  description: string | null
  canonical_url: string | null
  published_time: string | null
  modified_time: string | null
}

const MAX_CHARACTERS = { title: 500, byline: 200, site_name: 200, description: 1000, time: 40 }

/** The metadata of a page; what it does not say is null. */
export function readMetadata(
  page: ParsedPage,
  jsonLd: JsonLd,
  context: {
    base: string | undefined
    firstHeading: string | undefined
    contentLanguage: string | null
    text: string
  },
): Metadata {
  const meta = readMeta(page)
  const article = jsonLd.nodes.find(isArticle)
  const ld = (key: string) => (article && Object.hasOwn(article, key) ? textValue(article[key]) : null)
  const html = page.head.find(({ name }) => name === 'html')
  const titleElement = page.head.find(({ name }) => name === 'title')

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

  return {
    title: pick(
      MAX_CHARACTERS.title,
      ld('headline'),
      meta('og:title'),
      meta('twitter:title'),
      titleElement && textOf(titleElement),
      context.firstHeading,
    ),
    byline: pick(
      MAX_CHARACTERS.byline,
      ld('author'),
      notAddress(meta('author')),
      notAddress(meta('article:author')),
    ),
    site_name: pick(MAX_CHARACTERS.site_name, meta('og:site_name'), meta('application-name')),
    ...detectLanguage({
      declared: [
        [html && (attribute(html.attributes, 'lang') ?? attribute(html.attributes, 'xml:lang')), 'html'],
        [meta('content-language'), 'meta'],
        [context.contentLanguage, 'header'],
        [meta('og:locale'), 'meta'],
      ],
      text: context.text,
    }),
    description: pick(
      MAX_CHARACTERS.description,
      meta('description'),
      meta('og:description'),
      meta('twitter:description'),
      ld('description'),
    ),
    canonical_url: canonical(page, meta, context.base)?.url ?? null,
    published_time: time(
      ld('datePublished'),
      meta('article:published_time'),
      meta('datePublished'),
      meta('dc.date'),
      meta('date'),
      timeElement(page),
    ),
    modified_time: time(
      ld('dateModified'),
      meta('article:modified_time'),
      meta('dateModified'),
      meta('og:updated_time'),
    ),
  }
}

/** First meta of that name, property or itemprop; names without regard to case. */
function readMeta(page: ParsedPage): (name: string) => string | undefined {
  const values = new Map<string, string>()
  for (const { name, attributes } of page.head) {
    if (name !== 'meta') continue
    const content = attribute(attributes, 'content')
    if (content === undefined) continue
    for (const key of ['property', 'name', 'itemprop', 'http-equiv']) {
      const called = attribute(attributes, key)?.trim().toLowerCase()
      if (called && !values.has(called)) values.set(called, content)
    }
  }
  return (name) => values.get(name.toLowerCase())
}

const notAddress = (text: string | undefined) => (text && /^\s*https?:/i.test(text) ? undefined : text)

function timeElement(page: ParsedPage): string | undefined {
  for (const { name, attributes } of page.head) {
    const value = name === 'time' ? attribute(attributes, 'datetime') : undefined
    if (value !== undefined && toIsoTime(value) !== undefined) return value
  }
  return undefined
}

function canonical(
  page: ParsedPage,
  meta: (name: string) => string | undefined,
  base: string | undefined,
): ResolvedLink | undefined {
  const link = page.head.find(
    ({ name, attributes }) =>
      name === 'link' && /(?:^|\s)canonical(?:\s|$)/i.test(attribute(attributes, 'rel') ?? ''),
  )
  for (const candidate of [link && attribute(link.attributes, 'href'), meta('og:url')]) {
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
