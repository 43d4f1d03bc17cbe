// The configured catalogues: read in the background when somebody asks and what we have is old. One that does not answer
// blocks nobody: what it said last is served, and marked.
import type { DiscoverySourceState } from '../../schemas/discovery.ts'
import { type CatalogueReading, nameSource } from './catalogue.ts'
import { toTimestamp } from '../lib/timestamp.ts'
import type { Listing } from './merge.ts'
import { isFresh } from '../lib/fresh.ts'

export const REFRESH_MS = 10 * 60 * 1000
const RETRY_MS = 60 * 1000

interface Source {
  readonly url: string
  readonly name: string
  listing: Listing | undefined
  /** The end of the last attempt. */
  end: CatalogueReading['end'] | undefined
  /** What the reading that `listing` is of left out. */
  dropped: CatalogueReading['dropped']
  /** When the last attempt ended, and for how long none follows. */
  readAt: number
  servesMs: number
  reading: Promise<void> | undefined
}

export interface SourcesParts {
  readonly urls: readonly string[]
  /** Never throws. */
  readonly read: (url: string) => Promise<CatalogueReading>
  /** It is called after each source that was read, so that a slow one does not hold back the others. */
  readonly onRead: () => Promise<void>
  readonly now: () => number
}

/** @param parts.urls in the order of configuration; repetitions are dropped */
export function createSources({ urls, read, onRead, now }: SourcesParts) {
  const sources: Source[] = [...new Set(urls)].map((url) => ({
    url,
    name: nameSource(url),
    listing: undefined,
    end: undefined,
    dropped: new Map(),
    readAt: Number.NEGATIVE_INFINITY,
    servesMs: 0,
    reading: undefined,
  }))

  async function refresh(source: Source): Promise<void> {
    const { entries, dropped, end } = await read(source.url)
    const isWhole = end === 'complete' || end === 'limit'
    const at = now()
    // A catalogue that broke off says less than it did before; the first time, part of it is better than nothing.
    if (isWhole || (source.listing === undefined && entries.length > 0)) {
      source.listing = { source: source.name, fetchedAt: at, entries }
      source.dropped = dropped
    }
    source.end = end
    source.readAt = at
    source.servesMs = isWhole ? REFRESH_MS : RETRY_MS
    await onRead()
  }

  return {
    /** Starts reading what is due. Resolves when everything that is being read has been. */
    async refresh(): Promise<void> {
      for (const source of sources)
        if (source.reading === undefined && !isFresh(source.readAt, now(), source.servesMs))
          source.reading = refresh(source).finally(() => (source.reading = undefined))
      await Promise.all(sources.flatMap(({ reading }) => reading ?? []))
    },
    /** Resolves when nothing is being read; starts nothing. */
    async settled(): Promise<void> {
      await Promise.allSettled(sources.flatMap(({ reading }) => reading ?? []))
    },
    listings: (): readonly Listing[] => sources.flatMap(({ listing }) => listing ?? []),
    states: (): readonly DiscoverySourceState[] => sources.map((source) => stateOf(source, now())),
  }
}

function stateOf({ name, listing, end, dropped }: Source, now: number): DiscoverySourceState {
  const isOld = listing !== undefined && now - listing.fetchedAt > 2 * REFRESH_MS
  const state =
    end === undefined
      ? 'pending'
      : end === 'complete' && !isOld
        ? 'ok'
        : end === 'limit' && !isOld
          ? 'partial'
          : listing === undefined
            ? 'failing'
            : 'stale'
  return {
    source: name,
    state,
    detail: end === undefined ? 'not_read_yet' : end,
    fetched_at: listing === undefined ? null : toTimestamp(listing.fetchedAt),
    age_seconds: listing === undefined ? null : Math.max(0, Math.floor((now - listing.fetchedAt) / 1000)),
    entries: listing?.entries.length ?? 0,
    dropped: [...dropped.values()].reduce((sum, count) => sum + count, 0),
    dropped_for: Object.fromEntries(dropped),
  }
}
