// What is listed right now, in order, with what is remembered of each resource across restarts.
import type { Liveness } from '../../schemas/discovery.ts'
import type { Logger } from '../lib/log.ts'
import type { DiscoveredResource, Store } from '../store/ports.ts'
import { toTimestamp } from '../lib/timestamp.ts'
import { type Listing, type Merged, mergeListings } from './merge.ts'
import { type Look, readLiveness } from './prober.ts'
import { indexDocuments, type SearchIndex } from './search.ts'

/** One resource as it is shown. */
export interface Shelved extends Merged {
  readonly firstSeen: number
  readonly prices: DiscoveredResource['prices']
  /** The same object from shelf to shelf: a look that ends late is not lost. */
  readonly look: Look
}

const MAX_LISTED = 10_000
const KEEP_PRICES = 20
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
  let next: Promise<void> | undefined

  async function arrange(listings: () => readonly Listing[]): Promise<void> {
    next = undefined
    const merged = mergeListings(listings(), MAX_LISTED)
    const remembered = await remember(merged)
    const before = new Map(shelved.map((one) => [one.entry.id, one]))
    const at = now()
    const sorted = merged
      .map((one): Shelved => {
        const { id } = one.entry
        const known = remembered.get(id)
        const look = one.isOwn
          ? { found: ownLiveness(at) }
          : (before.get(id)?.look ?? { found: readLiveness(known?.liveness ?? null, one.entry) })
        return { ...one, firstSeen: known?.firstSeen ?? at, prices: known?.prices ?? [], look }
      })
      .sort(byAge)
    const indexed = await indexDocuments(sorted.map(({ entry }) => entry.words))
    shelved = sorted
    index = indexed
  }

  /** Without its memory the shelf still stands: entries then look new until the store answers again. */
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
    /** One arrangement at a time; those asked for while another waits are that one. */
    arrange(listings: () => readonly Listing[]): Promise<void> {
      next ??= arranging = arranging.then(() => arrange(listings))
      return next
    },
    all: (): readonly Shelved[] => shelved,
    search(query: string): { found: Shelved; score: number }[] {
      const of = shelved
      return (index?.find(query) ?? []).map(({ at, score }) => ({ found: of[at]!, score }))
    },
    /** Others' resources, the oldest look first. */
    leastLookedAt: (): Shelved[] =>
      shelved
        .filter(({ isOwn }) => !isOwn)
        .sort((a, b) => compareText(a.look.found.checked_at ?? '', b.look.found.checked_at ?? ''))
        .slice(0, 100),
  }
}

const ownLiveness = (at: number): Liveness => ({
  state: 'alive',
  checked_at: toTimestamp(at),
  detail: 'own',
})

const compareText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

/** Ours first, then by when we first saw them. */
const byAge = (a: Shelved, b: Shelved) =>
  Number(b.isOwn) - Number(a.isOwn) || a.firstSeen - b.firstSeen || compareText(a.entry.id, b.entry.id)
