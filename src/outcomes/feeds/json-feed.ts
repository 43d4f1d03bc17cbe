// JSON Feed 1.0 and 1.1 (jsonfeed.org) -> what the feed says.
import { isObject } from '../../lib/json.ts'
import { parseDate } from './dates.ts'
import {
  type Construct,
  type Described,
  MAX_ENTRIES,
  type ParsedEntry,
  type ParsedFeed,
  type Person,
} from './model.ts'
import { resolveUrl } from './urls.ts'

type Fields = Readonly<Record<string, unknown>>

const MAX_AUTHORS = 10
const MAX_CATEGORIES = 100

/** @returns undefined for JSON that is no feed */
export function mapJsonFeed(value: unknown, base: string): ParsedFeed | undefined {
  if (!isObject(value)) return undefined
  const version = /jsonfeed\.org\/version\/(\d(?:\.\d)?)/i.exec(textOf(value, 'version') ?? '')?.[1]
  if (version === undefined) return undefined
  const items = Array.isArray(value['items']) ? value['items'].filter(isObject) : []
  return {
    ...describe(value, base),
    link: resolveUrl(textOf(value, 'home_page_url') ?? '', base) ?? null,
    id: textOf(value, 'feed_url') ?? null,
    summary: construct('text', textOf(value, 'description')),
    format: `json-feed-${version === '1' ? '1.0' : version}`,
    entries: items.slice(0, MAX_ENTRIES).map((item) => mapItem(item, base)),
    entriesSeen: items.length,
    isTruncated: items.length > MAX_ENTRIES,
    issues: Array.isArray(value['items']) && items.length < value['items'].length ? ['invalid_entries'] : [],
  }
}

const mapItem = (item: Fields, base: string): ParsedEntry => ({ ...describe(item, base), origin: null })

function describe(fields: Fields, base: string): Described {
  const published = textOf(fields, 'date_published')
  const updated = textOf(fields, 'date_modified')
  return {
    title: construct('text', textOf(fields, 'title')),
    summary: construct('text', textOf(fields, 'summary')),
    content:
      construct('html', textOf(fields, 'content_html')) ?? construct('text', textOf(fields, 'content_text')),
    link:
      resolveUrl(textOf(fields, 'url') ?? '', base) ??
      resolveUrl(textOf(fields, 'external_url') ?? '', base) ??
      null,
    id: textOf(fields, 'id') ?? null,
    authors: readAuthors(fields),
    published: published === undefined ? null : parseDate(published),
    updated: updated === undefined ? null : parseDate(updated),
    created: null,
    date: null,
    rights: null,
    language: textOf(fields, 'language') ?? null,
    categories: Array.isArray(fields['tags'])
      ? [...new Set(fields['tags'].filter((tag) => typeof tag === 'string' && tag !== ''))].slice(
          0,
          MAX_CATEGORIES,
        )
      : [],
  }
}

/** Numbers are taken for ids and titles: 1.0 asked readers to. */
function textOf(fields: Fields, name: string): string | undefined {
  const value = Object.hasOwn(fields, name) ? fields[name] : undefined
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined
}

const construct = (kind: 'text' | 'html', value: string | undefined): Construct | null =>
  value === undefined ? null : { kind, value }

/** 1.0 has one author, 1.1 a list. */
function readAuthors(fields: Fields): Person[] {
  const listed = Array.isArray(fields['authors']) ? fields['authors'] : [fields['author']]
  return listed
    .filter(isObject)
    .slice(0, MAX_AUTHORS)
    .map((author) => ({
      name: textOf(author, 'name') ?? null,
      email: null,
      url: resolveUrl(textOf(author, 'url') ?? '', undefined) ?? null,
    }))
    .filter(({ name }) => name !== null)
}
