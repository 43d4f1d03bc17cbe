// The written documents as pages: which there are, who reads them, and where a link of one leads on the site.
import { readFile } from 'node:fs/promises'
import { join, posix } from 'node:path'
import type { Addresses } from '../../core/config.ts'
import { SHELVES } from '../../documents/shelves.ts'
import { BUILT } from './assets.ts'

/** A document that the build put beside the site. */
export interface DocumentEntry {
  /** Last part of its address. */
  readonly slug: string
  /** Its path in the repository. */
  readonly source: string
  readonly title: string
  /** What one reads it for, as `docs/README.md` says, or its first sentence. */
  readonly summary: string
}

export type Shelf = keyof typeof SHELVES
export const SHELF_NAMES = Object.keys(SHELVES) as readonly Shelf[]

export interface Library {
  /** In the order of the shelves. */
  readonly entries: readonly (DocumentEntry & { readonly shelf: Shelf })[]
  /** The text of one. @throws where it is not in `entries` */
  read(slug: string): Promise<string>
}

/** Pages of their own, which are not on the shelves. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'CHANGELOG.md': '/changelog',
  'docs/README.md': '/docs',
  skills: '/skills',
  'schemas/json': '/reference',
  'examples/frameworks': '/docs/frameworks',
}

let opened: Promise<Library> | undefined

/** The documents, listed once; their texts are read when somebody asks. @throws where the site was not built */
export function openLibrary(): Promise<Library> {
  opened ??= open()
  opened.catch(() => (opened = undefined))
  return opened
}

async function open(): Promise<Library> {
  const folder = join(BUILT, 'docs')
  const listed = JSON.parse(await readFile(join(folder, 'index.json'), 'utf8')) as readonly DocumentEntry[]
  const order: readonly string[] = SHELF_NAMES.flatMap((shelf) => [...SHELVES[shelf]])
  const placeOf = ({ slug }: DocumentEntry) => (order.includes(slug) ? order.indexOf(slug) : order.length)
  const entries = listed
    .filter(({ source }) => source !== 'CHANGELOG.md')
    .map((entry) => ({ ...entry, shelf: shelfOf(entry) }))
    .toSorted((a, b) => placeOf(a) - placeOf(b))
  const names = new Set(listed.map(({ slug }) => slug))
  return {
    entries,
    read(slug) {
      if (!names.has(slug)) throw new Error(`there is no document ${slug}`)
      return readFile(join(folder, `${slug}.md`), 'utf8')
    },
  }
}

const shelfOf = ({ slug, source }: DocumentEntry): Shelf =>
  SHELF_NAMES.find((shelf) => (SHELVES[shelf] as readonly string[]).includes(slug)) ??
  (source.startsWith('examples/') ? 'examples' : 'operate')

/**
 * Where a link of a document leads: a path of the site, or the address as it is where it is none of a file. Undefined: to a file that is
 * no page.
 * @param source the document's path in the repository
 */
export function linkFrom(
  source: string,
  href: string,
  entries: readonly DocumentEntry[],
): string | undefined {
  if (/^(?:[a-z][\w+.-]*:|#|\/)/i.test(href)) return href
  const [path = '', fragment] = href.split('#', 2)
  const file = posix.join(posix.dirname(source), path).replace(/\/$/, '')
  const entry = entries.find((other) => other.source === file)
  const to = ELSEWHERE[file] ?? (entry && `/docs/${entry.slug}`)
  return to === undefined || fragment === undefined ? to : `${to}#${fragment}`
}

/** Where the documents say the address of a gateway that runs where it was installed. */
const WRITTEN_ADDRESS = /http:\/\/(?:127\.0\.0\.1|localhost):8402(\/mcp\b)?/g

/** Commands and programs of a document, which work as they stand at this gateway; what operators read names their own machine. */
export const withAddress = (
  text: string,
  { shelf }: { readonly shelf: Shelf },
  { baseUrl, mcpUrl }: Pick<Addresses, 'baseUrl' | 'mcpUrl'>,
): string =>
  shelf === 'operate' || shelf === 'security'
    ? text
    : text.replaceAll(WRITTEN_ADDRESS, (_written, mcp: string | undefined) =>
        mcp === undefined ? baseUrl : mcpUrl,
      )

/** A document for who reads it elsewhere: its links are whole addresses. */
export const withWholeLinks = (
  text: string,
  source: string,
  entries: readonly DocumentEntry[],
  siteUrl: string,
): string =>
  text.replaceAll(/\]\(([^()\s]+)\)/g, (written, href: string) => {
    const to = linkFrom(source, href, entries)
    return to?.startsWith('/') ? `](${siteUrl.replace(/\/$/, '')}${to})` : written
  })
