// Holds the resources that are listed right now, in order, with what the store remembers of each across restarts. Which
// catalogues are read and when is sources.ts's business.
import type { Liveness } from '../../schemas/discovery.ts'
import type { Logger } from '../lib/log.ts'
import type { DiscoveredResource, Store } from '../store/ports.ts'
import { toTimestamp } from '../lib/timestamp.ts'
import { FACILITATOR_SOURCE, type Listing, type Merged, mergeListings } from './merge.ts'
import { type LastProbe, readLiveness } from './prober.ts'
import { indexDocuments, type SearchIndex } from '../lib/text-search.ts'

/** One resource as it is shown. */
export interface IndexedResource extends Merged {
  readonly firstSeen: number
  readonly prices: DiscoveredResource['prices']
  /** The same object in every rebuilt index, so that a probe that ends late is not lost. */
  readonly lastProbe: LastProbe
}

const MAX_LISTED = 10_000
const KEEP_PRICES = 20
/** Rows of resources that nobody lists any more (contract, section 10: operational rows). */
const FORGET_AFTER_MS = 30 * 24 * 3600 * 1000
const KEEP_ROWS = 50_000
const CHUNK = 200

export interface ResourceIndexParts {
  readonly store: Pick<Store, 'seeResources' | 'forgetResources'>
  readonly now: () => number
  readonly log: Logger
}

/** An index that is empty until it is rebuilt. */
export function createResourceIndex({ store, now, log }: ResourceIndexParts) {
  let listed: readonly IndexedResource[] = []
  let searchIndex: SearchIndex | undefined
  let rebuilding: Promise<void> = Promise.resolve()
  let next: Promise<void> | undefined

  async function rebuild(listings: () => readonly Listing[]): Promise<void> {
    next = undefined
    const merged = mergeListings(listings(), MAX_LISTED)
    const remembered = await remember(merged)
    const before = new Map(listed.map((one) => [one.entry.id, one]))
    const at = now()
    const sorted = merged
      .map((one): IndexedResource => {
        const { id } = one.entry
        const known = remembered.get(id)
        const lastProbe = one.isOwn
          ? { found: livenessOfOwn(at) }
          : (before.get(id)?.lastProbe ?? { found: readLiveness(known?.liveness ?? null, one.entry) })
        return { ...one, firstSeen: known?.firstSeen ?? at, prices: known?.prices ?? [], lastProbe }
      })
      .sort(byAge)
    const indexed = await indexDocuments(sorted.map(({ entry }) => entry.words))
    listed = sorted
    searchIndex = indexed
  }

  /** The index is built even when the store is away: its entries seem new until the store answers again. */
  async function remember(merged: readonly Merged[]): Promise<Map<string, DiscoveredResource>> {
    const found = new Map<string, DiscoveredResource>()
    try {
      for (let start = 0; start < merged.length; start += CHUNK) {
        const seen = merged.slice(start, start + CHUNK).map(({ entry }) => ({
          id: entry.id,
          price: entry.price,
        }))
        for (const row of await store.seeResources({ seen, keepPrices: KEEP_PRICES, now: now() }))
          found.set(row.id, row)
      }
      await store.forgetResources({
        notSeenSince: now() - FORGET_AFTER_MS,
        keep: KEEP_ROWS,
        limit: CHUNK,
      })
    } catch (err) {
      log.warn({ err }, 'discovery: what is known of resources could not be read')
    }
    return found
  }

  return {
    /** Runs one rebuild at a time; a caller that comes while another one waits shares it. */
    rebuild(listings: () => readonly Listing[]): Promise<void> {
      next ??= rebuilding = rebuilding.then(() => rebuild(listings))
      return next
    },
    all: (): readonly IndexedResource[] => listed.filter((one) => !isHidden(one)),
    search(query: string): { found: IndexedResource; score: number }[] {
      const hits = searchIndex?.find(query) ?? []
      return hits.flatMap(({ at, score }) => {
        const found = listed[at]
        return found && !isHidden(found) ? [{ found, score }] : []
      })
    },
    /** Resources of others, the one whose probe is oldest first: at most 100. */
    leastRecentlyProbed: (): IndexedResource[] =>
      listed
        .filter(({ isOwn }) => !isOwn)
        .sort((a, b) => compareText(a.lastProbe.found.checked_at ?? '', b.lastProbe.found.checked_at ?? ''))
        .slice(0, 100),
  }
}

/** What only a payment through us names, and what leads to a private place by now, is shown to nobody. */
const isHidden = ({ claims, lastProbe }: IndexedResource) =>
  lastProbe.found.detail === 'not_public' && claims.every(({ source }) => source === FACILITATOR_SOURCE)

const livenessOfOwn = (at: number): Liveness => ({
  state: 'alive',
  checked_at: toTimestamp(at),
  detail: 'own',
})

const compareText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

/** Ours first, then by when we first saw them. */
const byAge = (a: IndexedResource, b: IndexedResource) =>
  Number(b.isOwn) - Number(a.isOwn) || a.firstSeen - b.firstSeen || compareText(a.entry.id, b.entry.id)
