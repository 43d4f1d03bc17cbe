// Bytes of a feed -> what a digest needs of it: the newest entries as clean, bounded text, and counts over all of them.
// RSS 0.9x to 2.0, RDF, Atom 0.3 and 1.0, CDF, JSON Feed 1.0 and 1.1.
import type { ContentWarning } from '../../../schemas/document.ts'
import { cleanText, collapseSpaces, cutText } from '../extract/text.ts'
import { findWarnings } from '../extract/warnings.ts'
import type { PageInput, Reading } from '../reading.ts'
import type { FeedDate } from './dates.ts'
import { cutSentences } from './excerpt.ts'
import { readVisible, type VisibleText } from './html-text.ts'
import type { Construct, ParsedEntry, ParsedFeed, Person } from './model.ts'
import { comparePlaces, isInFuture, type Placed } from './order.ts'
import { parseFeed } from './parse.ts'
import { canonicaliseUrl, fragmentOf, toUrlKey } from './urls.ts'

export interface FeedReading {
  /** Such as `rss-2.0`, `atom-1.0`, `rdf-1.0`, `json-feed-1.1`. */
  readonly format: string
  readonly title: string | null
  readonly homeUrl: string | null
  readonly language: string | null
  readonly updatedAt: string | null
  readonly rights: string | null
  readonly entriesSeen: number
  /** Entries of this feed with the GUID or the address of a newer one. */
  readonly duplicates: number
  readonly undated: number
  readonly withoutLink: number
  readonly isTruncated: boolean
  readonly issues: readonly string[]
  /** In the order of `comparePlaces`: never more than MAX_READ_ENTRIES. */
  readonly entries: readonly ReadEntry[]
}

export interface ReadEntry {
  readonly title: string | null
  readonly url: string | null
  /** Equal for two addresses of the same thing; null where the address says nothing about the entry. */
  readonly urlKey: string | null
  readonly guid: string | null
  readonly summary: string | null
  readonly author: string | null
  readonly date: FeedDate | null
  readonly dateFrom: 'published' | 'date' | 'created' | 'updated' | null
  readonly takenFrom: { readonly title: string | null; readonly url: string | null } | null
  readonly categories: readonly string[]
  readonly warnings: readonly ContentWarning[]
}

/** Three feeds with the same entries need so many for thirty different ones. */
const MAX_READ_ENTRIES = 120
const MAX_READ_CHARACTERS = 4000
const MAX_SUMMARY_CHARACTERS = 300
const MAX_TITLE_CHARACTERS = 300
const MAX_NAME_CHARACTERS = 120
const MAX_GUID_CHARACTERS = 500
const MAX_AUTHORS = 3
const MAX_CATEGORIES = 10
const MAX_CATEGORY_CHARACTERS = 80

/** Reads a feed of any format into one form, or says why it is none. */
export function readFeed(input: PageInput): Reading<FeedReading> {
  const parsing = parseFeed(input)
  if (!parsing.ok) return parsing
  const { feed, charset } = parsing
  if (feed.entriesSeen === 0) return refuseEmpty(feed)
  return {
    ok: true,
    format: 'feed',
    charset,
    textSha256: null,
    value: condense(feed, input.retrievedAt ?? Infinity),
  }
}

/** Nothing to deliver: the fallback may have something. */
const refuseEmpty = ({ issues, isTruncated }: ParsedFeed) =>
  issues.length > 0 || isTruncated
    ? ({
        ok: false,
        reason: 'invalid_xml',
        detail: 'The source starts as a feed, but no entry can be read out of it.',
      } as const)
    : ({ ok: false, reason: 'no_content', detail: 'The feed has no entries.' } as const)

interface Dated extends Placed {
  readonly entry: ParsedEntry
  readonly dateFrom: ReadEntry['dateFrom']
  readonly url: string | null
  readonly urlKey: string | null
}

/** @param retrievedAt entries of a later date are the last to be kept of those that have one */
function condense(feed: ParsedFeed, retrievedAt: number): FeedReading {
  const home = feed.link === null ? null : canonicaliseUrl(feed.link)
  const addressOf = createAddresses(feed.entries, home)
  const dated = feed.entries.map((entry): Dated => {
    const { date, dateFrom } = dateOf(entry)
    return { entry, date, dateFrom, isInFuture: isInFuture(date, retrievedAt), ...addressOf(entry.link) }
  })
  // Stable: entries of the same instant, and undated ones, stay in the order of the feed.
  const sorted = dated.toSorted(comparePlaces)
  const seen = new Set<string>()
  const kept: Dated[] = []
  for (const each of sorted) {
    const { id } = each.entry
    const keys = [
      ...(id === null ? [] : [`id ${id}`]),
      ...(each.urlKey === null ? [] : [`url ${each.urlKey}`]),
    ]
    if (keys.some((one) => seen.has(one))) continue
    for (const one of keys) seen.add(one)
    kept.push(each)
  }
  return {
    format: feed.format,
    title: textOf(feed.title, MAX_TITLE_CHARACTERS),
    homeUrl: home,
    language: feed.language === null ? null : lineOf(feed.language, 35),
    updatedAt: (feed.updated ?? feed.published ?? feed.date)?.at ?? null,
    rights: textOf(feed.rights, MAX_TITLE_CHARACTERS),
    entriesSeen: feed.entriesSeen,
    duplicates: sorted.length - kept.length,
    undated: dated.filter(({ date }) => date?.at == null).length,
    withoutLink: feed.entries.filter(({ link }) => link === null).length,
    isTruncated: feed.isTruncated,
    issues: [...feed.issues, ...(dated.some(({ date }) => date?.at === null) ? ['unreadable_dates'] : [])],
    entries: kept.slice(0, MAX_READ_ENTRIES).map((each) => readEntry(each, feed)),
  }
}

const MIN_PARTS = 3

/**
 * The address of an entry, and what it says about which entry that is: nothing where it leads to the home page, and with
 * its fragment where one page has all the entries.
 */
function createAddresses(entries: readonly ParsedEntry[], home: string | null) {
  const canonical = new Map<string, string>()
  const parts = new Map<string, Set<string>>()
  for (const { link } of entries) {
    if (link === null) continue
    const url = canonicaliseUrl(link)
    canonical.set(link, url)
    const part = fragmentOf(link)
    if (part !== '') parts.set(url, (parts.get(url) ?? new Set()).add(part))
  }
  return (link: string | null): Pick<Dated, 'url' | 'urlKey'> => {
    const page = link === null ? undefined : canonical.get(link)
    if (link === null || page === undefined) return { url: null, urlKey: null }
    const url = (parts.get(page)?.size ?? 0) >= MIN_PARTS ? page + fragmentOf(link) : page
    return { url, urlKey: url === home ? null : toUrlKey(url) }
  }
}

/** The time of its publication, or the next best thing that can be read. */
function dateOf(entry: ParsedEntry): Pick<Dated, 'date' | 'dateFrom'> {
  const stated = (['published', 'date', 'created', 'updated'] as const).filter((name) => entry[name] !== null)
  const dateFrom = stated.find((name) => entry[name]?.at != null) ?? stated[0] ?? null
  return { date: dateFrom === null ? null : entry[dateFrom], dateFrom }
}

function readEntry({ entry, date, dateFrom, url, urlKey }: Dated, feed: ParsedFeed): ReadEntry {
  const titleRead = entry.title && readVisible(entry.title, MAX_READ_CHARACTERS)
  const summaryRead = readFirst([entry.summary, entry.content])
  const title = lineOf(titleRead?.text, MAX_TITLE_CHARACTERS)
  const summary =
    summaryRead && cutSentences(lineOf(summaryRead.text, MAX_READ_CHARACTERS) ?? '', MAX_SUMMARY_CHARACTERS)
  // Authors of the feed are authors of its entries only there (RFC 4287, 4.2.1; JSON Feed 1.1).
  const inherited = /^(?:atom|json)/.test(feed.format) ? feed.authors : []
  return {
    title,
    url,
    urlKey,
    guid: lineOf(entry.id, MAX_GUID_CHARACTERS),
    summary: summary === title ? null : summary,
    author: nameAuthors(entry.authors.length > 0 ? entry.authors : inherited),
    date: date && { ...date, raw: lineOf(date.raw, MAX_NAME_CHARACTERS) ?? '' },
    dateFrom,
    takenFrom: entry.origin && {
      title: textOf(entry.origin.title, MAX_TITLE_CHARACTERS),
      url: entry.origin.link === null ? null : canonicaliseUrl(entry.origin.link),
    },
    categories: entry.categories
      .slice(0, MAX_CATEGORIES)
      .flatMap((category) => lineOf(category, MAX_CATEGORY_CHARACTERS) ?? []),
    warnings: warnOf([titleRead, summaryRead]),
  }
}

function readFirst(constructs: readonly (Construct | null)[]): VisibleText | null {
  let first: VisibleText | null = null
  for (const construct of constructs) {
    const read = construct && readVisible(construct, MAX_READ_CHARACTERS)
    if (read && read.text.trim() !== '') return read
    first ??= read
  }
  return first
}

function warnOf(reads: readonly (VisibleText | null)[]): ContentWarning[] {
  const join = (part: keyof VisibleText) => reads.map((read) => read?.[part] ?? '').join('\n')
  const text = join('text')
  return findWarnings(text, { hiddenText: join('hidden'), comments: join('comments') }, text)
}

const nameAuthors = (people: readonly Person[]): string | null =>
  lineOf(
    people
      .slice(0, MAX_AUTHORS)
      .map(({ name, email }) => name ?? email)
      .filter((name) => name !== null)
      .join(', '),
    MAX_NAME_CHARACTERS,
  )

/** One clean line; null for nothing. */
function lineOf(text: string | null | undefined, maxCharacters: number): string | null {
  if (text == null) return null
  // Cut first: a title may be as long as the feed.
  const line = cutText(collapseSpaces(cleanText(cutText(text, 4 * maxCharacters))), maxCharacters).trim()
  return line === '' ? null : line
}

const textOf = (construct: Construct | null, maxCharacters: number): string | null =>
  construct && lineOf(readVisible(construct, MAX_READ_CHARACTERS).text, maxCharacters)
