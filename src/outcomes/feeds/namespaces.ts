// Vocabulary that an element belongs to: by the URI of its namespace, whatever prefix a feed gave it.

/** One URI per vocabulary and spelling, without scheme quirks: lower case, no trailing slash or hash. */
const VOCABULARIES: Readonly<Record<string, readonly string[]>> = {
  core: [
    '',
    'http://purl.org/rss/1.0',
    'http://purl.org/net/rss1.1',
    'http://backend.userland.com/rss',
    'http://backend.userland.com/rss2',
    'http://blogs.law.harvard.edu/tech/rss',
    'http://cyber.law.harvard.edu/rss',
    'http://my.netscape.com/rdf/simple/0.9',
    'http://channel.netscape.com/rdf/simple/0.9',
    'http://my.netscape.com/publish/formats/rss-0.91.dtd',
  ],
  atom: ['http://www.w3.org/2005/atom', 'http://purl.org/atom/ns', 'http://example.com/newformat'],
  rdf: ['http://www.w3.org/1999/02/22-rdf-syntax-ns'],
  dc: ['http://purl.org/dc/elements/1.1', 'http://purl.org/dc/elements/1.0'],
  dcterms: ['http://purl.org/dc/terms'],
  content: ['http://purl.org/rss/1.0/modules/content'],
  itunes: ['http://www.itunes.com/dtds/podcast-1.0.dtd', 'http://example.com/dtds/podcast-1.0.dtd'],
  media: ['http://search.yahoo.com/mrss'],
  xhtml: ['http://www.w3.org/1999/xhtml'],
  feedburner: ['http://rssnamespace.org/feedburner/ext/1.0'],
  xml: ['http://www.w3.org/xml/1998/namespace'],
}

const BY_URI = new Map(
  Object.entries(VOCABULARIES).flatMap(([name, uris]) => uris.map((uri) => [uri, name] as const)),
)

/** The meaning of prefixes that people forget to declare. */
const BY_PREFIX = new Map(Object.keys(VOCABULARIES).map((name) => [name, name]))
BY_PREFIX.set('a10', 'atom')
BY_PREFIX.set('xht', 'xhtml')

const MAX_URI_CHARACTERS = 300

/** Its short name; the URI itself for a vocabulary that no feed reader needs. */
export function nameVocabulary(uri: string): string {
  const plain = uri.slice(0, MAX_URI_CHARACTERS).trim().toLowerCase()
  const found = BY_URI.get(plain) ?? BY_URI.get(plain.replace(/[/#]$/, ''))
  return found ?? BY_URI.get(plain.replace(/^https:/, 'http:').replace(/[/#]$/, '')) ?? plain
}

/** Short name of a prefix that is used without being declared. */
export const guessVocabulary = (prefix: string): string => BY_PREFIX.get(prefix) ?? `?${prefix}`

/** Declarations in scope: a chain, because copying them for every element is what a hostile feed asks for. */
export interface Scope {
  readonly parent: Scope | undefined
  readonly vocabularies: ReadonlyMap<string, string>
}

/** The vocabulary that a prefix stands for in this scope. */
export function findVocabulary(scope: Scope | undefined, prefix: string): string | undefined {
  for (let at = scope; at; at = at.parent) {
    const found = at.vocabularies.get(prefix)
    if (found !== undefined) return found
  }
  return undefined
}
