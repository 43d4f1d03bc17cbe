// A tree of elements -> what the feed says. One mapping for RSS, RDF, Atom and CDF: feeds mix their vocabularies freely.
import { type FeedDate, parseDate } from './dates.ts'
import {
  type Construct,
  type Described,
  MAX_ENTRIES,
  type ParsedEntry,
  type ParsedFeed,
  type Person,
} from './model.ts'
import { resolveUrl } from './urls.ts'
import { elementsOf, findAll, rawText, type XmlElement, type XmlTree } from './xml.ts'

const ENTRIES = new Set(['core:item', 'atom:entry'])

export type XmlFeedReading =
  | { readonly ok: true; readonly feed: ParsedFeed }
  | { readonly ok: false; readonly reason: 'not_a_feed' | 'feed_is_html' }

/** @param isCut the document goes on after what was read */
export function mapXmlFeed({ roots, issues }: XmlTree, isCut: boolean): XmlFeedReading {
  const [first] = roots
  if (first && isHtml(first)) return { ok: false, reason: 'feed_is_html' }
  const root = roots.find((element) => formatOf(element) !== undefined)
  const format = root && formatOf(root)
  if (!root || !format) return { ok: false, reason: 'not_a_feed' }
  const channel = findAll(root, ['core:channel'])[0] ?? root
  // RDF keeps its items beside the channel, and some RSS does as well; RSS 1.1 in a list of their own.
  const found = [channel, ...findAll(channel, ['core:items']), ...(channel === root ? [] : [root])].flatMap(
    (parent) => elementsOf(parent).filter(({ name }) => ENTRIES.has(name)),
  )
  const stopped = issues.has('nested_too_deep') || issues.has('too_many_elements')
  const isPart = isCut || stopped
  // The entry that the cut went through is left out: nobody knows what is missing.
  const whole = isPart && found.at(-1)?.isClosed === false ? found.slice(0, -1) : found
  const language = textOf(channel, ['core:language', 'dc:language']) ?? channel.language ?? root.language
  return {
    ok: true,
    feed: {
      ...describe(channel, false),
      language: language ?? null,
      format,
      entries: whole.slice(0, MAX_ENTRIES).map(mapEntry),
      entriesSeen: whole.length,
      isTruncated: isPart || whole.length > MAX_ENTRIES,
      issues: [...issues],
    },
  }
}

const isHtml = ({ name }: XmlElement) => name === 'core:html' || name === 'xhtml:html'

function formatOf(root: XmlElement): string | undefined {
  const version = root.attributes.get('version')?.trim() ?? ''
  const isNumber = /^\d\.\d{1,2}(?:\.\d)?$/.test(version)
  switch (root.name) {
    case 'core:rss':
      return isNumber ? `rss-${version}` : 'rss'
    case 'rdf:rdf':
      return findAll(root, ['core:channel', 'core:item']).length === 0 ? undefined : 'rdf-1.0'
    case 'atom:feed':
    case 'atom:entry':
      return version === '0.3' ? 'atom-0.3' : 'atom-1.0'
    case 'core:channel':
      return root.attributes.has('href') ||
        findAll(root, ['core:item']).some((item) => item.attributes.has('href'))
        ? 'cdf'
        : 'rss'
    default:
      return undefined
  }
}

function mapEntry(item: XmlElement): ParsedEntry {
  const [origin] = findAll(item, ['atom:source', 'core:source'])
  return {
    ...describe(item, true),
    origin: origin
      ? {
          title: readConstruct(origin, ['atom:title']) ?? plain(rawText(origin)),
          link: resolveUrl(origin.attributes.get('url') ?? '', origin.base) ?? readLink(origin) ?? null,
        }
      : null,
  }
}

function describe(element: XmlElement, isEntry: boolean): Described {
  const [guid] = findAll(element, ['core:guid', 'atom:id', 'core:id'])
  const written = guid && rawText(guid).trim()
  const about = element.attributes.get('about')
  const id = written || about?.trim() || textOf(element, ['dc:identifier']) || null
  const permalink =
    guid?.name === 'core:guid' && guid.attributes.get('ispermalink')?.trim().toLowerCase() !== 'false'
      ? resolveUrl(written ?? '', guid.base)
      : undefined
  const original = isEntry ? textOf(element, ['feedburner:origlink']) : undefined
  const link = resolveUrl(original ?? '', element.base) ?? readLink(element) ?? permalink
  const lastmod = element.attributes.get('lastmod')
  return {
    title: readConstruct(element, ['atom:title', 'core:title', 'dc:title', 'media:title']),
    summary: readConstruct(element, [
      'atom:summary',
      'core:description',
      'atom:subtitle',
      'atom:tagline',
      'core:abstract',
      'dc:description',
      'itunes:summary',
      'media:description',
      // Names of Atom in feeds that declare nothing.
      'core:summary',
      'core:subtitle',
      'core:tagline',
      'itunes:subtitle',
    ]),
    content: readConstruct(element, [
      'content:encoded',
      'atom:content',
      'xhtml:body',
      'core:body',
      'core:fullitem',
      'core:content',
      ...(isEntry ? [] : ['atom:info', 'core:info']),
    ]),
    link: link ?? null,
    id: permalink ?? (guid?.name === 'atom:id' && id ? resolveId(id, guid.base) : id),
    authors: readAuthors(element),
    published: readDate(element, [
      'core:pubdate',
      'atom:published',
      'atom:issued',
      'dcterms:issued',
      'core:published',
    ]),
    updated:
      readDate(element, [
        'atom:updated',
        'atom:modified',
        'dcterms:modified',
        'core:lastbuilddate',
        'core:updated',
      ]) ?? (lastmod === undefined ? null : parseDate(lastmod)),
    created: readDate(element, ['atom:created', 'dcterms:created']),
    date: readDate(element, ['dc:date']),
    rights: readConstruct(element, [
      'atom:rights',
      'atom:copyright',
      'core:copyright',
      'dc:rights',
      'core:rights',
    ]),
    language: element.language ?? null,
    categories: readCategories(element),
  }
}

/** A relative id is the address of the entry; anything with a scheme stays as it is written. */
const resolveId = (id: string, base: string | undefined) =>
  /^[a-z][a-z\d+.-]*:/i.test(id) || !/^[./]/.test(id) ? id : (resolveUrl(id, base) ?? id)

function textOf(parent: XmlElement, names: readonly string[]): string | undefined {
  for (const name of names) {
    const text = findAll(parent, [name])
      .map((element) => rawText(element).trim())
      .find((each) => each !== '')
    if (text !== undefined) return text
  }
  return undefined
}

function readDate(parent: XmlElement, names: readonly string[]): FeedDate | null {
  const text = textOf(parent, names)
  return text === undefined ? null : parseDate(text)
}

/** Types of pages; a link without type is one as well. */
const PAGE_TYPE = /^(?:text\/html|application\/xhtml\+xml)?\s*(?:;|$)/i

/** The page that a feed or an entry is about. */
function readLink(element: XmlElement): string | undefined {
  const plainLinks: string[] = []
  const alternates: { url: string; isPage: boolean }[] = []
  for (const link of elementsOf(element)) {
    if (link.name !== 'atom:link' && link.name !== 'core:link') continue
    const { attributes } = link
    const url = resolveUrl(attributes.get('href') ?? rawText(link), link.base)
    const rel = attributes.get('rel')?.trim().toLowerCase() ?? 'alternate'
    if (url === undefined) continue
    if (link.name === 'core:link' && !attributes.has('rel')) plainLinks.push(url)
    else if (rel === 'alternate' || rel === '')
      alternates.push({ url, isPage: PAGE_TYPE.test(attributes.get('type') ?? '') })
  }
  const href = element.attributes.get('href')
  return (
    plainLinks[0] ??
    (alternates.find(({ isPage }) => isPage) ?? alternates[0])?.url ??
    (href === undefined ? undefined : resolveUrl(href, element.base))
  )
}

const AUTHORS = [
  'atom:author',
  'dc:creator',
  'core:author',
  'dc:author',
  'itunes:author',
  'core:managingeditor',
  'dc:publisher',
  'core:webmaster',
]
const MAX_AUTHORS = 10

function readAuthors(element: XmlElement): Person[] {
  for (const name of AUTHORS) {
    const people = findAll(element, [name])
      .slice(0, MAX_AUTHORS)
      .map(readPerson)
      .filter((person) => Object.values(person).some((value) => value !== null))
    if (people.length > 0) return people
  }
  return []
}

function readPerson(element: XmlElement): Person {
  const name = textOf(element, ['atom:name', 'core:name'])
  const email = textOf(element, ['atom:email', 'core:email'])
  const url = textOf(element, ['atom:uri', 'atom:url', 'atom:homepage'])
  if (name !== undefined || email !== undefined || url !== undefined)
    return { name: name ?? null, email: email ?? null, url: resolveUrl(url ?? '', element.base) ?? null }
  return splitPerson(rawText(element).trim())
}

/** `me@example.com (Name)`, `Name <me@example.com>`, one of them, or a name. */
export function splitPerson(text: string): Person {
  const email = /[^\s<>()"',;:@]{1,64}@[^\s<>()"',;:@]{1,255}/.exec(text.slice(0, 1000))?.[0]
  if (email === undefined) return { name: text === '' ? null : text, email: null, url: null }
  const name = text
    .replace(email, '')
    .replace(/mailto:/i, '')
    .replace(/[<>()"]/g, ' ')
    .trim()
    .replace(/^[,;:-]+|[,;:-]+$/g, '')
    .trim()
  return { name: name === '' ? null : name, email, url: null }
}

const MAX_CATEGORIES = 100

function readCategories(element: XmlElement): string[] {
  const found = new Set<string>()
  for (const child of elementsOf(element)) {
    if (found.size >= MAX_CATEGORIES) break
    const { name, attributes } = child
    if (name === 'atom:category') found.add(attributes.get('label') ?? attributes.get('term') ?? '')
    else if (name === 'itunes:category') found.add(attributes.get('text') ?? '')
    else if (name === 'core:category' || name === 'dc:subject' || name === 'media:category')
      found.add(rawText(child).trim())
  }
  found.delete('')
  return [...found]
}

const plain = (text: string): Construct | null => (text.trim() === '' ? null : { kind: 'text', value: text })

function readConstruct(parent: XmlElement, names: readonly string[]): Construct | null {
  for (const name of names) {
    // Video sites say everything inside a group.
    const places = name.startsWith('media:') ? [parent, ...findAll(parent, ['media:group'])] : [parent]
    for (const element of places.flatMap((place) => findAll(place, [name]))) {
      const construct = element.name.startsWith('atom:')
        ? readAtomConstruct(element)
        : readRssConstruct(element)
      if (construct) return construct
    }
  }
  return null
}

const hasElements = (element: XmlElement) => element.children.some((child) => typeof child !== 'string')

function readRssConstruct(element: XmlElement): Construct | null {
  if (hasElements(element)) return { kind: 'tree', element }
  const value = rawText(element)
  if (value.trim() === '') return null
  // Titles are text by most specifications and HTML in most feeds: what looks like HTML is read as such.
  const isHtml = !/:(?:title|copyright|rights)$/.test(element.name) || looksLikeHtml(value)
  return { kind: isHtml ? 'html' : 'text', value }
}

/** A tag that ends, an element that needs no end, or a character reference. */
const looksLikeHtml = (text: string) =>
  /<\/[a-z][a-z\d]{0,20}\s*>|<(?:br|hr|img|p)\b[^<>]{0,2000}>|&(?:#\d{1,7}|#x[\da-f]{1,6}|[a-z]{2,10}\d{0,2});/i.test(
    text,
  )

/** RFC 4287, 3.1 and 4.1.3; of Atom 0.3 the type is a media type, and `mode` says how it is written. */
function readAtomConstruct(element: XmlElement): Construct | null {
  const { attributes } = element
  const type = attributes.get('type')?.trim().toLowerCase() ?? ''
  const mode = attributes.get('mode')?.trim().toLowerCase()
  const isTree = hasElements(element)
  if (mode === 'base64' || (mode === undefined && !isTree && isBinaryType(type))) {
    const value = decodeBase64(rawText(element))
    if (value === undefined) return null
    return { kind: type === 'text' || type === 'text/plain' ? 'text' : 'html', value }
  }
  if (isTree) return { kind: 'tree', element }
  const value = rawText(element)
  if (value.trim() === '') return null
  if (type === 'html' || type === 'text/html' || mode === 'escaped')
    return { kind: type === 'text/plain' ? 'text' : 'html', value }
  return { kind: 'text', value }
}

const isBinaryType = (type: string) =>
  type.includes('/') && !/^(?:text\/|multipart\/)|[/+]xml$|\/json$/.test(type)

function decodeBase64(text: string): string | undefined {
  const encoded = text.replace(/\s+/g, '')
  if (encoded === '' || !/^[A-Za-z\d+/_-]+={0,2}$/.test(encoded)) return undefined
  const decoded = Buffer.from(encoded, 'base64').toString('utf8')
  return decoded.includes('\0') ? undefined : decoded
}
