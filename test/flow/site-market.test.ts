// The pages of the market over a market of many services: what an address asks for, what it gets, and how much of it.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Harness, startRestHarness } from '../support/door-harness.ts'
import {
  createTestMarket,
  fillMarket,
  newDays,
  newListing,
  newStanding,
} from '../support/market-catalogue.ts'
import { newSeller } from '../support/market-sellers.ts'

const NONE = { payers: 0, calls: 0, volume: 0 }
let gateway: Harness
beforeAll(async () => {
  const market = createTestMarket()
  fillMarket(market, 300)
  market.sellers.push(newSeller('washed'))
  market.listings.push(newListing('washed', 'busy', { document: { name: 'Busy <b>service</b>' } }))
  market.standings.push(
    newStanding('washed', 'busy', {
      settled: 5,
      payers: 90,
      volume: 5000,
      excluded: { self: { payers: 1, calls: 12_000, volume: 9 }, funded: NONE, ring: NONE },
    }),
  )
  market.days.set('live washed/busy', newDays({ settled: 5 }))
  gateway = await startRestHarness({ services: { marketplace: market.marketplace } })
})
afterAll(() => gateway?.close())

const LIVE = 'network=eip155%3A8453'
const get = (query: string, accept = 'application/json') =>
  fetch(`${gateway.baseUrl}/marketplace?${query}`, { headers: { accept } })
// Tests read what they expect out of it; a wrong shape fails them.
// oxlint-disable-next-line typescript/no-explicit-any
const json = async (query: string): Promise<any> => (await get(query)).json()
const html = async (query: string) => (await get(query, 'text/html')).text()

describe('/marketplace', () => {
  it('has twenty services a page, and leads through all of them by addresses', async () => {
    const seen = new Set<string>()
    let next: string | undefined = `/marketplace?${LIVE}&sort=price`
    for (let page = 0; next !== undefined && page < 30; page++) {
      const text = await (await fetch(gateway.baseUrl + next, { headers: { accept: 'text/html' } })).text()
      const rows = [...text.matchAll(/class="service-name"><a href="([^"]+)"/g)].map(
        ([, address]) => address!,
      )
      expect(rows.length).toBeLessThanOrEqual(20)
      for (const row of rows) seen.add(row)
      next = /<a href="([^"]*cursor=[^"]*)" class="button"/.exec(text)?.[1]?.replaceAll('&amp;', '&')
    }
    expect(seen.size).toBe(302)
  })

  it('asks the market what the address asks for', async () => {
    const { services, asked } = await json(
      `${LIVE}&tag=maps&method=GET&max_price=0.05&min_success_rate=0.9&sort=payers`,
    )
    expect(services.length).toBeGreaterThan(0)
    for (const { tags, allowed_methods } of services) {
      expect(tags).toContain('maps')
      expect(allowed_methods).toContain('GET')
    }
    expect(asked).toMatchObject({ max_price: '0.05', sort: 'payers' })
    expect((await json(`${LIVE}&max_price=0.000001`)).pagination.total).toBe(0)
    expect((await json(`${LIVE}&seller=seller-3`)).pagination.total).toBe(10)
  })

  it.each([
    ['max_price=cheap', 'max_price'],
    ['method=BREW', 'method'],
    ['sort=luck', 'sort'],
    ['min_success_rate=2', 'min_success_rate'],
    ['network=eip155%3A1', 'network'],
  ])('leaves out %s, says so, and answers the rest', async (query, name) => {
    const found = await json(query)
    expect(found.not_understood).toEqual([name])
    expect(found.pagination.total).toBeGreaterThan(0)
    expect(await html(query)).toContain('could not be read')
  })

  it('shows the first page where a cursor is of another search', async () => {
    const { pagination } = await json(`${LIVE}&sort=price`)
    const other = await json(`${LIVE}&sort=newest&cursor=${encodeURIComponent(pagination.cursor)}`)
    expect(other).toMatchObject({ is_page_gone: true, is_first_page: true })
    expect(other.services).toHaveLength(20)
    expect((await get(`${LIVE}&cursor=%00`)).status).toBe(200)
  })

  it('says what does not count, and how far one payer pays', async () => {
    const { services } = await json(`${LIVE}&seller=washed`)
    expect(services[0].concentration.largest_payer_share).toBe(0.396)
    const text = await html(`${LIVE}&seller=washed`)
    expect(text).toContain('12,000 more paid calls are not counted')
    expect(text).toContain('39.6%')
    expect(text).toContain('Busy &lt;b')
  })

  it('says what next where nothing fits', async () => {
    const text = await html('q=nothinglikethis')
    expect(text).toContain('No service fits')
    expect(text).toContain('href="/marketplace/sell"')
  })

  it('keeps what was asked in the form, in Arabic too', async () => {
    const answer = await fetch(`${gateway.baseUrl}/ar/marketplace?q=%22%3E%3Cscript%3E&sort=price`, {
      headers: { accept: 'text/html' },
    })
    const text = await answer.text()
    expect(text).toContain('action="/ar/marketplace"')
    expect(text).toContain('value="&quot;>&lt;script>"')
    expect(text).toMatch(/<option[^>]*selected[^>]*>الأقل سعرًا/)
  })
})

describe('/sell', () => {
  it.each([
    ['/sell', '/marketplace/sell'],
    ['/ar/sell', '/ar/marketplace/sell'],
  ])('%s leads to %s', async (path, to) => {
    const answer = await fetch(gateway.baseUrl + path, { redirect: 'manual' })
    expect([answer.status, answer.headers.get('location')]).toEqual([308, to])
    expect((await fetch(gateway.baseUrl + path, { headers: { accept: 'text/html' } })).status).toBe(200)
  })
})
