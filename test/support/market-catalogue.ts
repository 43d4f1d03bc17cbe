// A market in memory with as many sellers and listings as a test wants, behind the queries that the catalogue makes.
import type { Marketplace } from '../../src/market/listings/ports.ts'
import { type Catalogue, createCatalogue } from '../../src/market/listings/catalogue.ts'
import { createMarketplace } from '../../src/market/listings/index.ts'
import type {
  HostProofRow,
  Listing,
  ListingDocument,
  Seller,
  ServiceDays,
  ServiceStanding,
} from '../../src/store/ports.ts'
import { createLogger } from '../../src/lib/log.ts'
import { listingDocument, newSeller } from './market-sellers.ts'

export const BASE = 'https://gateway.example'
export const FEE = { bps: 300, fixedAtomic: 0, minimumAtomic: 0 }

export interface TestMarket {
  readonly sellers: Seller[]
  readonly listings: Listing[]
  readonly proofs: HostProofRow[]
  readonly standings: ServiceStanding[]
  readonly days: Map<string, ServiceDays>
  readonly catalogue: Catalogue
  readonly marketplace: Marketplace
  /** Moves the clock on, so that the next answer reads what is new. */
  pass(ms: number): void
  now(): number
  /** Makes every query fail. */
  isDown: boolean
}

const NOTHING = {
  listVersions: async () => [],
  listServiceDays: async () => [],
  listSellerDays: async () => [],
  sumPayerShares: async () => ({ payers: 4, repeating: 1, calls: 9, volume: 1000, largestVolume: 396 }),
  listServiceSales: async () => [],
  listRatings: async () => [],
}

export const START = Date.UTC(2026, 5, 1, 12)

export function createTestMarket(): TestMarket {
  let time = START
  const market = {
    sellers: [] as Seller[],
    listings: [] as Listing[],
    proofs: [] as HostProofRow[],
    standings: [] as ServiceStanding[],
    days: new Map<string, ServiceDays>(),
    isDown: false,
  }
  const page = async <T>(rows: readonly T[], limit: number): Promise<readonly T[]> => {
    if (market.isDown) throw new Error('away')
    return rows.slice(0, limit)
  }
  const by =
    <T>(...parts: ((row: T) => string | number)[]) =>
    (a: T, b: T) => {
      for (const part of parts) if (part(a) !== part(b)) return part(a) < part(b) ? -1 : 1
      return 0
    }
  const catalogue = createCatalogue({
    store: {
      listListingsSince: ({ updatedAt, after, limit }) =>
        page(
          market.listings
            .filter(
              (one) =>
                one.updatedAt > updatedAt ||
                (one.updatedAt === updatedAt &&
                  `${one.sellerId} ${one.serviceId}` > `${after?.sellerId ?? ''} ${after?.serviceId ?? ''}`),
            )
            .sort(
              by(
                (one) => one.updatedAt,
                (one) => `${one.sellerId} ${one.serviceId}`,
              ),
            ),
          limit,
        ),
      listSellersSince: ({ updatedAt, after = '', limit }) =>
        page(
          market.sellers
            .filter((one) => one.updatedAt > updatedAt || (one.updatedAt === updatedAt && one.id > after))
            .sort(
              by(
                (one) => one.updatedAt,
                (one) => one.id,
              ),
            ),
          limit,
        ),
      listProofsSince: ({ checkedAt, after, limit }) =>
        page(
          market.proofs
            .filter(
              (one) =>
                one.checkedAt > checkedAt ||
                (one.checkedAt === checkedAt &&
                  `${one.sellerId} ${one.host}` > `${after?.sellerId ?? ''} ${after?.host ?? ''}`),
            )
            .sort(
              by(
                (one) => one.checkedAt,
                (one) => `${one.sellerId} ${one.host}`,
              ),
            ),
          limit,
        ),
      listServiceStandings: ({ since, after, limit }) =>
        page(
          market.standings
            .filter((one) => one.changedAt >= since && (after === undefined || nameOf(one) > nameOf(after)))
            .sort(by(nameOf)),
          limit,
        ),
      sumServiceDays: async ({ keys }) =>
        keys.map(({ environment, sellerId, serviceId }) =>
          market.days.get(`${environment} ${sellerId}/${serviceId}`),
        ),
    },
    addresses: { baseUrl: BASE, siteUrl: BASE },
    payTo: '0x1111111111111111111111111111111111111111',
    readFee: async () => FEE,
    now: () => time,
    log: createLogger('silent'),
  })
  return Object.assign(market, {
    catalogue,
    marketplace: createMarketplace({
      addresses: { baseUrl: BASE, siteUrl: BASE },
      catalogue,
      store: NOTHING,
      now: () => time,
    }),
    pass: (ms: number) => void (time += ms),
    now: () => time,
  })
}

const nameOf = (one: Pick<ServiceStanding, 'changedAt' | 'sellerId' | 'serviceId' | 'environment'>) =>
  [String(one.changedAt).padStart(16, '0'), one.sellerId, one.serviceId, one.environment].join(' ')

export function newListing(
  sellerId: string,
  serviceId: string,
  { document, ...over }: Partial<Omit<Listing, 'document'>> & { document?: Partial<ListingDocument> } = {},
): Listing {
  return {
    sellerId,
    serviceId,
    version: 1,
    document: listingDocument(document),
    state: 'active',
    stateReason: null,
    pausedBy: null,
    approvedAt: START,
    checkedVersion: 1,
    checkedAt: START,
    createdAt: START,
    updatedAt: START,
    ...over,
  }
}

const NONE = { payers: 0, calls: 0, volume: 0 }
export const newStanding = (
  sellerId: string,
  serviceId: string,
  over: Partial<ServiceStanding> = {},
): ServiceStanding => ({
  sellerId,
  serviceId,
  environment: 'live',
  settled: 0,
  volume: 0,
  payers: 0,
  repeatPayers: 0,
  excluded: { self: NONE, funded: NONE, ring: NONE },
  ratings: 0,
  ratingSum: 0,
  challengeScore: null,
  probedAt: 0,
  changedAt: START,
  ...over,
})

export const newDays = (over: Partial<ServiceDays> = {}): ServiceDays => ({
  settled: 0,
  volume: 0,
  failures: { unreachable: 0, timeout: 0, status: 0, answer: 0, schema: 0 },
  refunds: 0,
  refunded: 0,
  probesUp: 0,
  probesDown: 0,
  latencies: Array.from({ length: 16 }, () => 0),
  ...over,
})

const WORDS =
  'weather quotes maps news prices stocks translate image voice search summary legal medical sports flights hotels ' +
  'recipes music video energy traffic news crypto forex tax company patents papers tides moon jobs rents cars'
const words = WORDS.split(' ')

/** So many listings of a tenth as many sellers, each with figures, as a large market has them. */
export function fillMarket(market: TestMarket, count: number): void {
  for (let i = 0; i < count; i++) {
    const seller = `seller-${Math.floor(i / 10)}`
    const service = `service-${i}`
    if (i % 10 === 0) market.sellers.push(newSeller(seller, { createdAt: START, updatedAt: START }))
    const pick = (n: number) => words[(i * 7 + n * 13 + Math.floor(i / 31)) % words.length] ?? ''
    const document: Partial<ListingDocument> = {
      name: `${pick(1)} ${pick(2)} ${i}`,
      description: Array.from({ length: 30 }, (_, n) => pick(n)).join(' '),
      tags: [pick(3), pick(4)],
      origin: `https://api-${Math.floor(i / 10)}.example.com`,
    }
    market.listings.push(newListing(seller, service, { document, createdAt: START - i * 1000 }))
    market.standings.push(newStanding(seller, service, { settled: i % 97, payers: i % 41, changedAt: START }))
    market.days.set(
      `live ${seller}/${service}`,
      newDays({ settled: i % 97, latencies: bucket(i % 16, i % 97) }),
    )
  }
}

const bucket = (at: number, count: number) => Array.from({ length: 16 }, (_, i) => (i === at ? count : 0))
