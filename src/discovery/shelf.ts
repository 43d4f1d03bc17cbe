// What is listed right now, in order, with what is remembered of each resource across restarts.
import type { Liveness } from '../../schemas/discovery.ts'
import type { Logger } from '../log.ts'
import type { DiscoveredResource, Store } from '../store/ports.ts'
import { priceOf } from './entry.ts'
import { type Listing, type Merged, mergeListings } from './merge.ts'
import { readLiveness } from './prober.ts'
import { indexDocuments, type SearchIndex } from './search.ts'

/** One resource as it is shown. */
export interface Shelved extends Merged {
  readonly firstSeen: number
  readonly prices: DiscoveredResource['prices']
  liveness: Liveness
}

const MAX_LISTED = 20_000
const KEEP_PRICES = 20
const MAX_PRICE_TERMS = 5
/** Rows of resources that nobody lists any more (contract, section 10: operational rows). */
const FORGET_AFTER_MS = 30 * 24 * 3600 * 1000
const KEEP_ROWS = 50_000
const CHUNK = 200

export interface ShelfParts {
  readonly store: Pick<Store, 'seeResources' | 'forgetResources'>
  readonly now: () => number
  readonly log: Logger
}

export function createShelf({ store, now, log }: ShelfParts) {
  let shelved: readonly Shelved[] = []
  let index: SearchIndex | undefined
  let arranging: Promise<void> = Promise.resolve()

  async function arrange(listings: readonly Listing[]): Promise<void> {
    const merged = mergeListings(listings, MAX_LISTED)
    const remembered = await remember(merged)
    const before = new Map(shelved.map((one) => [one.entry.id, one]))
    const at = now()
    shelved = merged
      .map((one): Shelved => {
        const { id } = one.entry
        const known = remembered.get(id)
        const liveness = one.isOwn
          ? { state: 'alive' as const, checked_at: new Date(at).toISOString(), detail: 'own' }
          : (before.get(id)?.liveness ?? readLiveness(known?.liveness ?? null, one.entry))
        return { ...one, firstSeen: known?.firstSeen ?? at, prices: known?.prices ?? [], liveness }
      })
      .sort(byAge)
    index = undefined
  }

  /** Without its memory the shelf still stands: entries then look new until the store answers again. */
  async function remember(merged: readonly Merged[]): Promise<Map<string, DiscoveredResource>> {
    const found = new Map<string, DiscoveredResource>()
    try {
      for (let start = 0; start < merged.length; start += CHUNK) {
        const seen = merged.slice(start, start + CHUNK).map(({ entry }) => ({
          id: entry.id,
          price: priceOf(entry.terms.slice(0, MAX_PRICE_TERMS)),
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
    /** One arrangement at a time. */
    arrange(listings: readonly Listing[]): Promise<void> {
      arranging = arranging.then(() => arrange(listings))
      return arranging
    },
    all: (): readonly Shelved[] => shelved,
    search(query: string): { found: Shelved; score: number }[] {
      const of = shelved
      index ??= indexDocuments(
        of.map(({ entry }) => ({
          name: entry.serviceName ?? '',
          tags: entry.tags ?? [],
          description: entry.description ?? '',
          url: entry.resource,
        })),
      )
      return index.find(query).map(({ at, score }) => ({ found: of[at]!, score }))
    },
    /** Others' resources, the oldest look first. */
    leastLookedAt: (): Shelved[] =>
      shelved
        .filter(({ isOwn }) => !isOwn)
        .sort((a, b) => compareText(a.liveness.checked_at ?? '', b.liveness.checked_at ?? ''))
        .slice(0, 100),
  }
}

const compareText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

/** Ours first, then by when we first saw them. */
const byAge = (a: Shelved, b: Shelved) =>
  Number(b.isOwn) - Number(a.isOwn) || a.firstSeen - b.firstSeen || compareText(a.entry.id, b.entry.id)
