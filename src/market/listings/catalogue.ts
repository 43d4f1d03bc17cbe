// Every service that is offered, in memory: what changed since the last look is read again, on every replica. Lists, searches and
// calls ask here, and the store is asked about once a second, whatever comes in.
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { MarketFigures, MarketNetwork, MarketService } from '../../../schemas/market.ts'
import type { Addresses } from '../../core/config.ts'
import { within } from '../../lib/deadline.ts'
import type { Logger } from '../../lib/log.ts'
import { weighWords } from '../../lib/search-words.ts'
import { indexDocuments, type SearchIndex } from '../../lib/text-search.ts'
import type {
  FeeTerms,
  HostProofRow,
  Listing,
  ListingDocument,
  ListingRoute,
  MarketEnvironment,
  Seller,
  ServiceDays,
  ServiceStanding,
  Store,
} from '../../store/ports.ts'
import { figuresOf, percentile, successRateOf } from '../trust/figures.ts'
import { OWN_SELLER_ID } from '../own-listing.ts'
import { type Offer, offerOf, ownOffer } from './offer.ts'
import { describeOffer, LIVE, priceRoute, TEST } from './shape.ts'
import { isFresh } from '../../lib/fresh.ts'

export interface CatalogueParts {
  readonly store: Pick<
    Store,
    'listServiceStandings' | 'sumServiceDays' | 'listListingsSince' | 'listSellersSince' | 'listProofsSince'
  >
  readonly addresses: Pick<Addresses, 'baseUrl' | 'siteUrl'>
  readonly payTo: string | undefined
  /** Fee of sellers' listings, as the operator has it now. */
  readonly readFee: () => Promise<FeeTerms>
  readonly now: () => number
  readonly log: Logger
}

/** A service with everything that a list compares, computed once for each of its versions. */
export interface Entry {
  readonly key: string
  readonly offer: Offer
  readonly words: ReadonlyMap<string, number>
  readonly tags: ReadonlySet<string>
  readonly minPrice: bigint
  readonly price: bigint
  readonly methods: ReadonlySet<ListingRoute['method']>
  /** Where the seller is suspended, its listings are, too. */
  readonly isListed: boolean
  /** Bytes of its listing as JSON, about. */
  readonly size: number
  describe(network: MarketNetwork): MarketService
}

export interface Scored {
  readonly entry: Entry
  /** How well it fits the words of a query. */
  readonly score: number
}

/** What is counted of a service, and what a list compares of it. */
export interface Figures {
  readonly standing: ServiceStanding
  readonly days: ServiceDays | undefined
  readonly at: number
  readonly p50: number | null
  readonly p95: number | null
  readonly successRate: number | null
}

const REFRESH_MS = 1_000
/** A slow store makes answers older, not slower. */
const REFRESH_WAIT_MS = 1_500
/** Clocks of replicas differ, and rows appear after the time that stands in them. */
const OVERLAP_MS = 10_000
const PAGE = 500
const AT_ONCE = 100
const INDEX_MS = 3_000
const DAY_MS = 24 * 3600 * 1000
const WINDOW_DAYS = 30

export type Catalogue = ReturnType<typeof createCatalogue>

export const keyOf = (sellerId: string, serviceId: string) => `${sellerId}/${serviceId}`
export const environmentOf = (network: MarketNetwork): MarketEnvironment =>
  network === TEST ? 'test' : 'live'

/** Nothing is read before the first `ready`. */
export function createCatalogue(parts: CatalogueParts) {
  const { store, addresses, payTo, readFee, now, log } = parts
  const listings = new Map<string, Listing>()
  const sellers = new Map<string, Seller>()
  const proofs = new Map<string, HostProofRow>()
  /** By the key of their listing: a list looks at all of them. */
  const figures = { live: new Map<string, Figures>(), test: new Map<string, Figures>() }
  const entries = new Map<string, Entry>()
  const bySeller = new Map<string, Set<string>>()
  let fee: FeeTerms | undefined
  let marks = { listings: 0, sellers: 0, proofs: 0, standings: 0, day: dayOf(now()) }
  let readAt = Number.NEGATIVE_INFINITY
  let reading: Promise<void> | undefined
  let isIndexStale = true
  let changes = 0
  let indexedAt = Number.NEGATIVE_INFINITY
  let index: { readonly indexed: readonly Entry[]; readonly search: SearchIndex } | undefined
  let indexing: Promise<void> | undefined

  put(ownOffer(payTo))

  function put(offer: Offer): void {
    const key = keyOf(offer.sellerId, offer.serviceId)
    const entry = entryOf(offer)
    const before = entries.get(key)
    changes++
    if (before?.words !== entry.words) isIndexStale = true
    entries.set(key, entry)
  }

  function entryOf(offer: Offer): Entry {
    const { document } = offer
    const prices = document.routes.map(({ priceAtomic }) => BigInt(priceAtomic))
    const described = new Map<MarketNetwork, MarketService>()
    const describe = (network: MarketNetwork) => {
      const known = described.get(network)
      if (known) return known
      const made = describeOffer(
        offer,
        figuresOf(undefined, undefined, { network, at: null }),
        addresses,
        network,
      )
      described.set(network, made)
      return made
    }
    return {
      key: keyOf(offer.sellerId, offer.serviceId),
      offer,
      words: weighWords({
        name: document.name,
        tags: document.tags,
        description: document.description,
        url: `${offer.sellerId} ${offer.serviceId}`,
      }),
      tags: new Set(document.tags.map((tag) => tag.toLowerCase())),
      minPrice: prices.reduce((least, price) => (price < least ? price : least)),
      price: BigInt(priceRoute(document.routes).priceAtomic),
      methods: new Set(document.routes.map(({ method }) => method)),
      isListed: offer.isOurs || offer.state === 'active' || offer.state === 'paused',
      size: Buffer.byteLength(JSON.stringify(describe(LIVE))),
      describe,
    }
  }

  /** Makes the entry of a listing anew from what is known of it, its seller and its host. */
  function compose(key: string): void {
    const listing = listings.get(key)
    const seller = listing && sellers.get(listing.sellerId)
    if (!listing || !seller || fee === undefined || listing.sellerId === OWN_SELLER_ID) {
      if (listing && entries.delete(key)) {
        isIndexStale = true
        changes++
      }
      return
    }
    const proof = proofs.get(`${listing.sellerId} ${new URL(listing.document.origin).host}`)
    put(offerOf(listing, { seller, fee, proof: proof ?? null }))
  }

  async function readPages<T>(
    read: (after: T | undefined) => Promise<readonly T[]>,
    take: (row: T) => void,
  ): Promise<void> {
    let after: T | undefined
    for (;;) {
      const rows = await read(after)
      for (const [at, row] of rows.entries()) {
        take(row)
        if (at % AT_ONCE === AT_ONCE - 1) await nextTurn()
      }
      const last = rows.at(-1)
      if (rows.length < PAGE || last === undefined) return
      after = last
    }
  }

  async function refresh(): Promise<void> {
    const stale = new Set<string>()
    const next = { ...marks }
    const nextFee = await readFee()
    if (JSON.stringify(nextFee) !== JSON.stringify(fee)) {
      fee = nextFee
      for (const key of listings.keys()) stale.add(key)
    }
    await readPages<Seller>(
      (after) =>
        store.listSellersSince({
          updatedAt: after?.updatedAt ?? marks.sellers - OVERLAP_MS,
          ...(after && { after: after.id }),
          limit: PAGE,
        }),
      (seller) => {
        next.sellers = Math.max(next.sellers, seller.updatedAt)
        const known = sellers.get(seller.id)
        if (known?.version === seller.version && known.updatedAt === seller.updatedAt) return
        sellers.set(seller.id, seller)
        for (const key of bySeller.get(seller.id) ?? []) stale.add(key)
      },
    )
    await readPages<HostProofRow>(
      (after) =>
        store.listProofsSince({
          checkedAt: after?.checkedAt ?? marks.proofs - OVERLAP_MS,
          ...(after && { after }),
          limit: PAGE,
        }),
      (proof) => {
        next.proofs = Math.max(next.proofs, proof.checkedAt)
        const name = `${proof.sellerId} ${proof.host}`
        if (proofs.get(name)?.provenAt === proof.provenAt) return
        proofs.set(name, proof)
        for (const key of bySeller.get(proof.sellerId) ?? []) stale.add(key)
      },
    )
    await readPages<Listing>(
      (after) =>
        store.listListingsSince({
          updatedAt: after?.updatedAt ?? marks.listings - OVERLAP_MS,
          ...(after && { after }),
          limit: PAGE,
        }),
      (listing) => {
        next.listings = Math.max(next.listings, listing.updatedAt)
        const key = keyOf(listing.sellerId, listing.serviceId)
        const known = listings.get(key)
        if (known?.version === listing.version && known.updatedAt === listing.updatedAt) return
        listings.set(key, listing)
        const those = bySeller.get(listing.sellerId)
        if (those) those.add(key)
        else bySeller.set(listing.sellerId, new Set([key]))
        stale.add(key)
      },
    )
    let composed = 0
    for (const key of stale) {
      compose(key)
      if (++composed % AT_ONCE === 0) await nextTurn()
    }
    marks = { ...next, standings: marks.standings, day: marks.day }
    readAt = now()
    // Figures come after what they are of: a listing without figures is better than none.
    await refreshFigures()
    if (isIndexStale) indexing ??= rebuildIndex().finally(() => (indexing = undefined))
    if (!index) await indexing
  }

  async function refreshFigures(): Promise<void> {
    const at = now()
    // What is thirty days old leaves the window though nothing new has come.
    if (dayOf(at) !== marks.day) marks = { ...marks, standings: 0, day: dayOf(at) }
    let changed: ServiceStanding[] = []
    let last = marks.standings
    await readPages<ServiceStanding>(
      async (after) => {
        await sumUp(changed, at)
        changed = []
        return store.listServiceStandings({
          since: marks.standings - OVERLAP_MS,
          ...(after && { after }),
          limit: PAGE,
        })
      },
      (standing) => {
        last = Math.max(last, standing.changedAt)
        const known = figures[standing.environment].get(keyOf(standing.sellerId, standing.serviceId))
        if (known?.standing.changedAt === standing.changedAt && dayOf(known.at) === dayOf(at)) return
        changed.push(standing)
      },
    )
    await sumUp(changed, at)
    marks = { ...marks, standings: last }
  }

  async function sumUp(standings: readonly ServiceStanding[], at: number): Promise<void> {
    if (standings.length === 0) return
    const sums = await store.sumServiceDays({ keys: standings, sinceDay: dayOf(at) - WINDOW_DAYS + 1 })
    for (const [i, standing] of standings.entries()) {
      const { environment, sellerId, serviceId } = standing
      const days = sums[i]
      const [p50, p95] = [percentile(days, 0.5), percentile(days, 0.95)]
      const computed = { standing, days, at, p50, p95, successRate: successRateOf(days) }
      figures[environment].set(keyOf(sellerId, serviceId), computed)
    }
  }

  /** Words are indexed some seconds after they came, so that a seller who edits all day costs little. */
  async function rebuildIndex(): Promise<void> {
    isIndexStale = false
    indexedAt = now()
    const all = [...entries.values()]
    const search = await indexDocuments(all.map(({ words }) => words))
    index = { indexed: all, search }
  }

  return {
    /** Reads what is new, at most once a second. Answers go on with what is known where the store does not. */
    async ready(): Promise<void> {
      const isIndexed = index && (!isIndexStale || isFresh(indexedAt, now(), INDEX_MS))
      if (isFresh(readAt, now(), REFRESH_MS) && isIndexed) return
      reading ??= refresh()
        .catch((err: unknown) => log.warn({ err }, 'market: listings could not be read'))
        .finally(() => (reading = undefined))
      await within(REFRESH_WAIT_MS, reading)
    },

    all: (): Iterable<Entry> => entries.values(),

    /** Another number once any listing is another one. */
    changes: (): number => changes,

    /** The listing, whatever its state; undefined for none. */
    find: (sellerId: string, serviceId: string): Entry | undefined => entries.get(keyOf(sellerId, serviceId)),

    seller: (sellerId: string): Seller | undefined => sellers.get(sellerId),

    /** The address that the seller's requests go to; undefined for ours. It is shown to nobody. */
    upstream({ key }: Pick<Entry, 'key'>): Pick<ListingDocument, 'origin' | 'basePath'> | undefined {
      return listings.get(key)?.document
    },

    ofSeller: (sellerId: string): readonly Entry[] =>
      sellerId === OWN_SELLER_ID
        ? [...entries.values()].filter(({ offer }) => offer.isOurs)
        : [...(bySeller.get(sellerId) ?? [])].flatMap((key) => entries.get(key) ?? []),

    /** Entries with a word of the query, and how well each fits. */
    search(query: string): readonly Scored[] {
      if (!index) return []
      const { indexed, search } = index
      const found: Scored[] = []
      for (const { at, score } of search.find(query)) {
        // What was indexed may be another version by now, or gone.
        const entry = entries.get(indexed[at]?.key ?? '')
        if (entry) found.push({ entry, score })
      }
      return found
    },

    /** What stands behind the figures of a service; undefined where nobody has called it. */
    known: ({ key }: Pick<Entry, 'key'>, environment: MarketEnvironment): Figures | undefined =>
      figures[environment].get(key),

    figures({ key, offer: { proof } }: Entry, network: MarketNetwork): MarketFigures {
      const known = figures[environmentOf(network)].get(key)
      return figuresOf(known?.standing, known?.days, {
        network,
        at: known?.at ?? null,
        ...(proof && { provenDaysAgo: Math.max(0, Math.floor((now() - proof.provenAt) / DAY_MS)) }),
      })
    },

    /** Waits for what is being read. */
    async settled(): Promise<void> {
      await reading
      await indexing
    },
  }
}

const dayOf = (at: number) => Math.floor(at / DAY_MS)
