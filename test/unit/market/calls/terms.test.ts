import { describe, expect, it } from 'vitest'
import { createListings } from '../../../../src/market/calls/listings.ts'
import { allocationOf, chooseOffer, type Priced, shownOf } from '../../../../src/market/calls/terms.ts'
import type { FeeTerms, Listing, ListingDocument, MarketHost, Seller } from '../../../../src/store/ports.ts'
import { routeOf } from '../../../support/market-seller.ts'

const FEE: FeeTerms = { bps: 300, fixedAtomic: 0, minimumAtomic: 0 }
const DEARER: FeeTerms = { ...FEE, bps: 500 }
const offer = (version: number, priceAtomic: string, fee = FEE): Priced => ({
  version,
  route: routeOf({ priceAtomic }),
  fee,
})
const policy = ({ bps, fixedAtomic, minimumAtomic }: FeeTerms) => ({
  policy: { bps, fixed_atomic: fixedAtomic, minimum_atomic: minimumAtomic },
})

describe('the offer that a payment accepts', () => {
  const offered = [offer(3, '7000', DEARER), offer(3, '7000'), offer(2, '5000'), offer(1, '5000')] as const

  it.each([
    ['today’s where nothing is paid yet', undefined, 0],
    ['the one of its price', { amount: '5000', echo: {} }, 2],
    ['the one of its price and version', { amount: '5000', echo: { listing_version: 1 } }, 3],
    [
      'the one whose fee it was shown',
      { amount: '7000', echo: { listing_version: 3, allocation: policy(FEE) } },
      1,
    ],
    ['today’s where it was shown none', { amount: '7000', echo: {} }, 0],
    [
      'today’s, which it does not meet, where nobody asked that price',
      { amount: '6000', echo: { listing_version: 3 } },
      0,
    ],
    ['one of its price whatever version it says', { amount: '5000', echo: { listing_version: 9 } }, 2],
  ])('is %s', (_, accepted, index) => {
    expect(chooseOffer(offered, accepted)).toBe(offered[index])
  })
})

describe('what a challenge shows', () => {
  const route = routeOf({
    path: '/quotes/{symbol}',
    inputSchema: { type: 'object' },
    example: { query: { symbol: 'A B', days: 3 } },
  })
  const priced = { version: 1, route, fee: FEE }
  const document = { name: 'Quotes “of” the day' } as ListingDocument
  const sold = {
    sellerId: 'acme',
    serviceId: 'quotes',
    accountId: 'acct_1',
    payoutMode: 'batched_onchain',
    current: { version: 1, document },
  } as const
  const shown = (isDirect: boolean, network: 'eip155:8453' | 'eip155:84532' = 'eip155:8453') =>
    shownOf({ sold, priced, allocation: allocationOf(priced), network, isDirect })

  it('is an example that works, with its path filled in', () => {
    expect(shown(true)).toMatchObject({ example: { days: 3 }, schema: route.inputSchema })
    expect(shown(false, 'eip155:84532').example).toEqual({
      seller: 'acme',
      service_id: 'quotes',
      path: '/quotes/A%20B',
      query: { days: 3 },
      testnet: true,
    })
  })

  it('quotes what the seller wrote, and says what it costs', () => {
    const { description } = shown(true)
    expect(description).toContain(
      `“Quotes "of" the day” (the seller's words), acme/quotes, GET /quotes/{symbol}: 0.005000 USDC a call.`,
    )
    expect(shown(true, 'eip155:84532').description).toContain('0.005000 test USDC')
  })
})

describe('what is sold', () => {
  const document = { routes: [routeOf()], origin: 'https://api.example.com' } as unknown as ListingDocument
  const listing = {
    sellerId: 'acme',
    serviceId: 'weather',
    version: 2,
    document,
    state: 'active',
    stateReason: null,
  } as Listing
  const seller = { id: 'acme', accountId: 'acct_1', state: 'active' } as Seller

  function open(
    over: {
      fee?: () => FeeTerms
      listing?: Partial<Listing>
      first?: ListingDocument
      proven?: string
      wasOffered?: boolean
    } = {},
  ) {
    const world = { now: 1_000_000, reads: 0, fails: false }
    const listings = createListings({
      now: () => world.now,
      readFee: async () => over.fee?.() ?? FEE,
      rows: {
        findSeller: async () => seller,
        findHost: async (_seller, host) =>
          host === over.proven
            ? ({ state: 'proven', payoutAddress: seller.payoutAddress } as MarketHost)
            : undefined,
        async findListing() {
          world.reads++
          if (world.fails) throw new Error('the store is away')
          return { ...listing, updatedAt: 900_000, ...over.listing }
        },
        listVersions: async () => [
          { version: 2, document, createdAt: 900_000, isOffered: true },
          {
            version: 1,
            document: over.first ?? document,
            createdAt: 100,
            isOffered: over.wasOffered ?? true,
          },
        ],
      },
    })
    return { world, listings }
  }

  it('has no version that nobody could buy, as one of its draft', async () => {
    const { listings } = open({ wasOffered: false })
    expect((await listings.find('acme', 'weather'))?.earlier).toEqual([])
  })

  it('is read once a second, and again at once after a failure', async () => {
    const { world, listings } = open()
    await Promise.all([1, 2, 3].map(() => listings.find('acme', 'weather')))
    expect(world.reads).toBe(1)
    world.now += 1000
    world.fails = true
    await expect(listings.find('acme', 'weather')).rejects.toThrow('away')
    world.fails = false
    expect(await listings.find('acme', 'weather')).toMatchObject({ current: { version: 2 } })
  })

  it('is called at no host that is not proven: neither as a draft, nor as the version that it was as one', async () => {
    const elsewhere = { ...document, origin: 'https://victim.example.com' }
    const stolen = open({ first: elsewhere })
    expect(await stolen.listings.find('acme', 'weather')).toMatchObject({ isProven: true, earlier: [] })
    const own = open({ first: elsewhere, proven: 'victim.example.com' })
    expect(await own.listings.find('acme', 'weather')).toMatchObject({ earlier: [{ version: 1 }] })
    for (const state of ['draft', 'pending'] as const) {
      const draft = { listing: { state, document: elsewhere } }
      expect(await open(draft).listings.find('acme', 'weather')).toMatchObject({ isProven: false })
      const { listings } = open({ ...draft, proven: 'victim.example.com' })
      expect(await listings.find('acme', 'weather')).toMatchObject({ isProven: true })
    }
  })

  it('has superseded versions for as long as an offer of theirs may be open', async () => {
    const { world, listings } = open()
    expect((await listings.find('acme', 'weather'))?.earlier.map(({ version }) => version)).toEqual([1])
    world.now = 900_000 + 600_001
    expect((await listings.find('acme', 'weather'))?.earlier).toEqual([])
  })

  it('has the fees that offers were made under a moment ago', async () => {
    let fee = FEE
    const { world, listings } = open({ fee: () => fee })
    await listings.find('acme', 'weather')
    fee = DEARER
    world.now += 2000
    expect((await listings.find('acme', 'weather'))?.fees).toEqual([DEARER, FEE])
    world.now += 601_000
    expect((await listings.find('acme', 'weather'))?.fees).toEqual([DEARER])
  })

  it('of ours is a constant, and nobody else has its name', async () => {
    const { world, listings } = open()
    expect(await listings.find('gateway', 'feed-digest')).toMatchObject({ payoutMode: 'same_owner_retained' })
    expect(await listings.find('gateway', 'weather')).toBeUndefined()
    expect(world.reads).toBe(0)
  })
})
