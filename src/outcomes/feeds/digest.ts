// Makes one digest of up to three feeds: deduplicated, newest first, each entry with where it came from. A date in the future says
// nothing about what is new, so it does not head the list.
import { must } from '../../lib/must.ts'
import type { ContentWarning } from '../../../schemas/document.ts'
import type { DigestedFeed, DigestEntry } from '../../../schemas/feed-digest.ts'
import { digestJson } from '../digest.ts'
import type { FeedReading, ReadEntry } from './feed.ts'
import { comparePlaces, isInFuture } from './order.ts'
import { isSameTitle, type TitleKey, createTitleKeys } from './titles.ts'

export interface FeedSource {
  /** Index in the coverage. */
  readonly source: number
  readonly url: string
  /** Milliseconds: entries that are dated later are flagged. */
  readonly retrievedAt: number
  readonly reading: FeedReading
}

export interface FeedDigest {
  readonly feeds: DigestedFeed[]
  readonly entries: DigestEntry[]
  readonly warnings: ContentWarning[]
}

/** The same words later than that are the next of a series. */
const MAX_TITLE_DISTANCE_MS = 6 * 86_400_000
/** Means the same thing in any feed. */
const GLOBAL_GUID = /^(?:https?:|tag:|urn:|[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$)/i

interface Kept {
  readonly feed: number
  readonly entry: ReadEntry
  readonly titleKey: TitleKey
  readonly alsoIn: Set<number>
}

/** @param limit entries at most, 1 to 30 */
export function digestFeeds(sources: readonly FeedSource[], limit: number): FeedDigest {
  const titleKeyOf = createTitleKeys(sources.flatMap(({ reading }) => reading.title ?? []))
  const candidates = sources
    .flatMap(({ reading, retrievedAt }, feed) =>
      reading.entries.map((entry) => ({
        feed,
        entry,
        date: entry.date,
        isInFuture: isInFuture(entry.date, retrievedAt),
      })),
    )
    // Stable: what has the same date stays in the order of the request, then of the feed.
    .toSorted(comparePlaces)
  const kept: Kept[] = []
  const byKey = new Map<string, Kept>()
  const duplicates = sources.map(({ reading }) => reading.duplicates)
  for (const { feed, entry } of candidates) {
    const titleKey = titleKeyOf(entry.title ?? '')
    const keys = keysOf(feed, entry)
    const original =
      keys.map((key) => byKey.get(key)).find((found) => found !== undefined) ??
      kept.find((other) => isSame(other, entry, titleKey))
    if (original) {
      duplicates[feed] = (duplicates[feed] ?? 0) + 1
      if (original.feed !== feed) original.alsoIn.add(feed)
    } else if (kept.length >= limit) continue
    const known = original ?? { feed, entry, titleKey, alsoIn: new Set<number>() }
    if (!original) kept.push(known)
    for (const key of keys) if (!byKey.has(key)) byKey.set(key, known)
  }
  return {
    feeds: sources.map((source, feed) =>
      describeFeed(source, kept.filter((each) => each.feed === feed).length, duplicates[feed] ?? 0),
    ),
    entries: kept.map((each, at) =>
      describeEntry(each, at, must(sources[each.feed], 'the feed of an entry').retrievedAt),
    ),
    warnings: mergeWarnings(kept.flatMap(({ entry }) => entry.warnings)),
  }
}

function keysOf(feed: number, { guid, urlKey }: ReadEntry): string[] {
  const keys: string[] = []
  if (guid !== null) keys.push(GLOBAL_GUID.test(guid) ? `id ${guid}` : `id of ${feed} ${guid}`)
  if (urlKey !== null) keys.push(`url ${urlKey}`)
  return keys
}

function isSame(other: Kept, { date }: ReadEntry, titleKey: TitleKey): boolean {
  const [a, b] = [other.entry.date?.epochMs, date?.epochMs]
  if (a != null && b != null && Math.abs(a - b) > MAX_TITLE_DISTANCE_MS) return false
  return isSameTitle(other.titleKey, titleKey)
}

function describeEntry({ feed, entry, alsoIn }: Kept, at: number, retrievedAt: number): DigestEntry {
  const { title, url, guid, date } = entry
  const publishedRaw = date?.raw ?? null
  return {
    id: `e${at + 1}`,
    title,
    url,
    guid,
    summary: entry.summary,
    author: entry.author,
    published_at: date?.at ?? null,
    published_raw: publishedRaw,
    date_from: entry.dateFrom,
    date_precision: date?.precision ?? null,
    zone_stated: date?.isZoneStated ?? false,
    in_future: isInFuture(date, retrievedAt),
    source: feed,
    also_in: [...alsoIn].toSorted((a, b) => a - b),
    taken_from: entry.takenFrom,
    categories: [...entry.categories],
    warnings: entry.warnings.map(({ code }) => code),
    sha256: digestJson({ title, url, guid, published_raw: publishedRaw }),
  }
}

function describeFeed({ source, url, reading }: FeedSource, kept: number, duplicates: number): DigestedFeed {
  return {
    source,
    url,
    title: reading.title,
    home_url: reading.homeUrl,
    format: reading.format,
    language: reading.language,
    updated_at: reading.updatedAt,
    rights: reading.rights,
    entries_seen: reading.entriesSeen,
    entries_kept: kept,
    duplicates,
    beyond_limit: reading.entriesSeen - kept - duplicates,
    undated: reading.undated,
    without_link: reading.withoutLink,
    truncated: reading.isTruncated,
    issues: [...reading.issues],
  }
}

function mergeWarnings(warnings: readonly ContentWarning[]): ContentWarning[] {
  const merged = new Map<string, ContentWarning>()
  for (const warning of warnings) {
    const before = merged.get(warning.code)
    merged.set(warning.code, { ...warning, count: warning.count + (before?.count ?? 0) })
  }
  return [...merged.values()].toSorted((a, b) => (a.code < b.code ? -1 : 1))
}
