// What the pages of the market say of numbers and of words of strangers.
import { renderToString } from 'preact-render-to-string'
import { describe, expect, it } from 'vitest'
import { MarketQuery, type MarketDetail } from '../../../schemas/market.ts'
import { waysToBuy } from '../../../src/doors/site/components/market/buying.ts'
import { PaidCalls, Ratings } from '../../../src/doors/site/components/market/evidence.tsx'
import {
  atomicOf,
  duration,
  lastDays,
  percent,
  usdc,
  visibleCode,
} from '../../../src/doors/site/components/market/format.ts'
import type { PageContext } from '../../../src/doors/site/ports.ts'
import { createTestMarket, fillMarket, newListing } from '../../support/market-catalogue.ts'
import { newSeller } from '../../support/market-sellers.ts'

describe('numbers', () => {
  it.each([
    ['100000', '0.1'],
    ['1', '0.000001'],
    ['0', '0'],
    ['1000000', '1'],
    ['-2500000', '-2.5'],
    ['123456789012345678', '123,456,789,012.345678'],
  ])('%s atomic units are %s USDC', (atomic, shown) => {
    expect(usdc(atomic)).toBe(shown)
  })

  it.each([
    ['0.05', '50000'],
    [' 1 ', '1000000'],
    ['0.0000001', undefined],
    ['1e3', undefined],
    ['-1', undefined],
    ['', undefined],
  ])('%j typed is %s', (typed, atomic) => {
    expect(atomicOf(typed)).toBe(atomic)
  })

  it('never show nearly all as all', () => {
    expect([percent(0.9999), percent(1), percent(null), percent(0.39649)]).toEqual([
      '99.9%',
      '100%',
      '–',
      '39.6%',
    ])
    expect([duration(9999), duration(20_000), duration(null)]).toEqual(['9,999 ms', '20 s', '–'])
  })

  it('run over thirty days until today', () => {
    const days = lastDays(Date.UTC(2026, 2, 1, 23))
    expect([days.length, days[0], days.at(-1)]).toEqual([30, '2026-01-31', '2026-03-01'])
  })
})

const page = {
  language: 'en',
  isSandbox: false,
  baseUrl: 'https://g.example',
  mcpUrl: 'https://g.example/mcp',
} as PageContext
const hash = `0x${'ab'.repeat(32)}`

async function detailOf(document: Parameters<typeof newListing>[2]): Promise<MarketDetail> {
  const market = createTestMarket()
  fillMarket(market, 10)
  market.sellers.push(newSeller('evil'))
  market.listings.push(newListing('evil', 'words', document))
  await market.marketplace.search(MarketQuery.parse({}))
  return market.marketplace.get({
    sellerId: 'evil',
    serviceId: 'words',
    network: 'eip155:8453',
    callsBefore: undefined,
  })
}

describe('ways to buy', () => {
  it('quote what a seller wrote, whatever it is', async () => {
    const detail = await detailOf({})
    const evil = `'; rm -rf ~; echo '"\`$(id)\u202E`
    const [first] = detail.service.routes
    const route = {
      ...first!,
      path: '/by/{name}',
      method: 'POST' as const,
      example: { query: { name: evil, q: evil }, body: { text: evil } },
    }
    const ways = waysToBuy(detail, route, page)
    expect(ways.map(({ id }) => id)).toEqual(['curl', 'x402', 'mcp', 'a2a'])
    for (const { code } of ways) expect(code).not.toContain('\u202E')
    const mcp = JSON.parse(ways[2]!.code.split('\n\n')[1]!) as {
      params: { arguments: { path: string; query: object; body: object } }
    }
    expect(mcp.params.arguments).toMatchObject({ query: { q: evil }, body: { text: evil } })
    expect(mcp.params.arguments.path).toBe(`/by/${encodeURIComponent(evil)}`)
    expect(ways[1]!.code).not.toMatch(/payingFetch\("[^"]*['"`$ ]rm/)
  })

  it('write invisible controls as JSON has them', () => {
    expect(JSON.parse(visibleCode('{"a":"x\u202Ey"}'))).toEqual({ a: 'x\u202Ey' })
    expect(visibleCode('{"a":"x\u202Ey"}')).toBe('{"a":"x\\u202Ey"}')
  })
})

describe('evidence', () => {
  it('shows words of buyers as text, and whose rating does not count', async () => {
    const detail: MarketDetail = {
      ...(await detailOf({})),
      ratings: [
        {
          rating: 1,
          words: '<img src=x onerror=alert(1)>\u202E javascript:alert(1)',
          counts: false,
          created_at: '2026-06-01T00:00:00.000Z',
        },
      ],
    }
    const html = renderToString(<Ratings detail={detail} page={page} source="" />)
    expect(html).toContain('&lt;img src=x')
    expect(html).toContain('U+202E')
    expect(html).toContain('does not count')
    expect(html).not.toMatch(/<img|href="javascript/)
  })

  it('links transactions that an explorer knows, and says why a call does not count', async () => {
    const detail: MarketDetail = {
      ...(await detailOf({})),
      calls: [
        {
          settled_at: '2026-06-01T00:00:00.000Z',
          route: 'GET /<b>',
          version: 1,
          amount_atomic: '10000',
          transaction: hash,
          excluded: 'one_funder',
        },
      ],
    }
    const html = renderToString(<PaidCalls detail={detail} page={page} source="/x" />)
    expect(html).toContain(`href="https://basescan.org/tx/${hash}"`)
    expect(html).toContain('from wallets of one funder')
    expect(html).toContain('GET /&lt;b')
    const sandbox = renderToString(
      <PaidCalls detail={detail} page={{ ...page, isSandbox: true }} source="/x" />,
    )
    expect(sandbox).not.toContain('basescan')
  })
})
