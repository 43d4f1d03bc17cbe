// Lists, filters, orders and pages of the market.
import { describe, expect, it } from 'vitest'
import { MarketPage, MarketQuery } from '../../../schemas/market.ts'
import type { ListingDocument } from '../../../src/store/ports.ts'
import {
  createTestMarket,
  fillMarket,
  newDays,
  newListing,
  newStanding,
  START,
  type TestMarket,
} from '../../support/market-catalogue.ts'
import { listingDocument, newSeller } from '../../support/market-sellers.ts'

const search = async (market: TestMarket, query: Record<string, unknown> = {}) =>
  MarketPage.parse(await market.marketplace.search(MarketQuery.parse(query)))
const idsOf = async (market: TestMarket, query: Record<string, unknown> = {}) =>
  (await search(market, query)).services.map(({ service_id }) => service_id)

const [plain] = listingDocument().routes
if (!plain) throw new Error('a document has a route')

function marketOf(documents: Record<string, Partial<ListingDocument>>): TestMarket {
  const market = createTestMarket()
  market.sellers.push(newSeller('acme', { createdAt: START, updatedAt: START }))
  for (const [id, document] of Object.entries(documents))
    market.listings.push(newListing('acme', id, { document }))
  return market
}

describe('the list', () => {
  it('has ours first, and every active one of the sellers with their terms and words marked', async () => {
    const market = marketOf({ weather: {} })
    market.proofs.push({
      sellerId: 'acme',
      host: 'api.example.com',
      method: 'dns',
      provenAt: START - 3 * 86_400_000,
      checkedAt: START,
      payoutAddress: null,
    })
    const [ours, theirs, ...rest] = (await search(market)).services
    expect([ours?.service_id, theirs?.service_id, rest]).toEqual(['feed-digest', 'weather', []])
    expect(theirs).toMatchObject({
      seller: 'acme',
      words_of_seller: true,
      payout_mode: 'batched_onchain',
      payout_destination: '0x00000000000000000000000000000000000000aa',
      endpoint: 'https://gateway.example/p/acme/weather/',
      allocation: { gross_atomic: '5000', platform_fee_atomic: '150', seller_proceeds_atomic: '4850' },
      proof: { host: 'api.example.com', method: 'dns' },
      stats: { days_since_proof: 3, settled_calls: 0 },
    })
  })

  it('shows neither the origin nor the credential of a seller', async () => {
    const market = marketOf({ weather: { origin: 'https://hidden.example.com', credentialId: 'cred_1' } })
    expect(JSON.stringify(await search(market))).not.toMatch(/hidden\.example|cred_1/)
  })

  it('leaves out what is not sold, and shows paused ones with the reason when asked', async () => {
    const market = marketOf({})
    for (const state of ['draft', 'pending', 'active', 'paused', 'suspended', 'retired'] as const)
      market.listings.push(
        newListing('acme', state, { state, stateReason: state === 'paused' ? 'Proof is gone.' : null }),
      )
    expect(await idsOf(market)).toEqual(['feed-digest', 'active'])
    const { services } = await search(market, { include: 'unavailable', seller: 'acme' })
    expect(services.map(({ service_id }) => service_id)).toEqual(['active', 'paused'])
    expect(services[1]).toMatchObject({
      availability: 'unavailable',
      status: 'paused',
      unavailable_reason: 'Proof is gone.',
    })
  })

  it('hears of what changes: a new version, a seller that is suspended, a listing that is paused', async () => {
    const market = marketOf({ weather: {}, other: {} })
    expect(await idsOf(market, { seller: 'acme' })).toHaveLength(2)
    market.pass(5000)
    const later = { updatedAt: market.now() }
    const at = market.listings.findIndex(({ serviceId }) => serviceId === 'other')
    market.listings[at] = newListing('acme', 'other', { ...later, state: 'paused' })
    expect(await idsOf(market, { seller: 'acme' })).toEqual(['weather'])
    market.pass(5000)
    market.sellers[0] = newSeller('acme', { state: 'suspended', version: 2, updatedAt: market.now() })
    expect(await idsOf(market, { seller: 'acme' })).toEqual([])
  })

  it('goes on with what it knows while the store is away', async () => {
    const market = marketOf({ weather: {} })
    expect(await idsOf(market)).toHaveLength(2)
    market.isDown = true
    market.pass(60_000)
    expect(await idsOf(market)).toHaveLength(2)
  })
})

describe('filters', () => {
  const market = marketOf({
    cheap: { tags: ['Maps'], routes: [{ ...plain, priceAtomic: '1000' }] },
    post: { routes: [{ ...plain, method: 'POST', priceAtomic: '2000' }] },
    both: {
      routes: [
        { ...plain, priceAtomic: '9000' },
        { ...plain, path: '/x', method: 'POST', priceAtomic: '500' },
      ],
    },
  })
  market.standings.push(newStanding('acme', 'cheap'), newStanding('acme', 'post'))
  market.days.set('live acme/cheap', newDays({ settled: 9, failures: { ...newDays().failures, schema: 1 } }))
  market.days.set('live acme/post', newDays({ settled: 1, failures: { ...newDays().failures, timeout: 3 } }))

  it.each([
    [{ tag: 'maps' }, ['cheap']],
    [{ max_price_atomic: '999' }, ['both']],
    [{ max_price_atomic: '1000' }, ['both', 'cheap']],
    [{ method: 'POST' }, ['both', 'post']],
    [{ method: 'GET', max_price_atomic: '600' }, []],
    [{ method: 'POST', max_price_atomic: '600' }, ['both']],
    [{ min_success_rate: 0.9 }, ['cheap']],
    [{ min_success_rate: 0.25 }, ['cheap', 'post']],
    [{ min_success_rate: 0 }, ['cheap', 'post']],
    [{ seller: 'nobody' }, []],
    [{ sort: 'price' }, ['cheap', 'post', 'both']],
    [{ sort: 'success_rate' }, ['cheap', 'post', 'both']],
  ])('%j finds %j', async (query, ids) => {
    expect(await idsOf(market, { seller: 'acme', ...query })).toEqual(ids)
  })

  it('shows test money at its own address, with its own figures', async () => {
    market.standings.push(newStanding('acme', 'cheap', { environment: 'test', settled: 4, payers: 2 }))
    market.pass(60_000)
    const page = await search(market, { network: 'eip155:84532', seller: 'acme', tag: 'maps' })
    expect(page).toMatchObject({
      network: 'eip155:84532',
      services: [
        {
          endpoint: 'https://gateway.example/p/testnet/acme/cheap/',
          stats: { environment: 'test', settled_calls: 4, unique_payers: 2 },
        },
      ],
    })
  })
})

describe('pages', () => {
  it('hold every listing once, in every order, also while listings come', async () => {
    const market = createTestMarket()
    fillMarket(market, 250)
    for (const sort of ['relevance', 'price', 'payers', 'success_rate', 'latency', 'newest']) {
      const seen: string[] = []
      let cursor: string | null | undefined
      do {
        const page: MarketPage = await search(market, { sort, limit: 40, ...(cursor && { cursor }) })
        seen.push(...page.services.map(({ seller, service_id }) => `${seller}/${service_id}`))
        cursor = page.pagination.cursor
      } while (cursor)
      expect(new Set(seen).size, sort).toBe(251)
      expect(seen.length, sort).toBe(251)
    }
  })

  it('refuses a cursor of another query, or of nobody', async () => {
    const market = createTestMarket()
    fillMarket(market, 30)
    const { pagination } = await search(market, { limit: 5 })
    await expect(search(market, { limit: 5, sort: 'price', cursor: pagination.cursor })).rejects.toThrow(
      /cursor/,
    )
    await expect(search(market, { cursor: 'x' })).rejects.toThrow(/cursor/)
    expect((await search(market, { limit: 7, cursor: pagination.cursor })).services).toHaveLength(7)
  })

  it('end before they are half a megabyte, however large the schemas of sellers are, and go on behind', async () => {
    const huge = { ...plain, inputSchema: { type: 'object', description: 'x'.repeat(200_000) } }
    const market = marketOf(
      Object.fromEntries(['a', 'b', 'c', 'd', 'e'].map((id) => [id, { routes: [huge] }])),
    )
    const first = await search(market, { seller: 'acme' })
    expect(first.services.length).toBeLessThan(5)
    expect(JSON.stringify(first).length).toBeLessThan(1_000_000)
    const { cursor } = first.pagination
    const second = await search(market, { seller: 'acme', ...(cursor !== null && { cursor }) })
    expect(second.services.length).toBeGreaterThan(0)
  })

  it('find by words, best first, and those that were named later after a moment', async () => {
    const market = marketOf({
      quotes: { name: 'Stock quotes', description: 'Prices' },
      prices: { name: 'Prices of stock', description: 'and quotes', tags: [] },
      moon: { name: 'Moon', description: 'Says when the moon rises.', tags: [] },
    })
    expect(await idsOf(market, { q: 'stock quotes' })).toEqual(['quotes', 'prices'])
    market.pass(5000)
    const at = market.listings.findIndex(({ serviceId }) => serviceId === 'moon')
    const document = { name: 'Stock of moons', tags: [] }
    market.listings[at] = newListing('acme', 'moon', { document, version: 2, updatedAt: market.now() })
    await idsOf(market, { q: 'moons' })
    market.pass(5000)
    expect(await idsOf(market, { q: 'moons' })).toEqual(['moon'])
  })
})
