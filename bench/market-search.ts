// Lists and searches over 10,000 listings with figures: from the parsed query to the JSON text, the answer's own schema included, as the
// call path does it. `node bench/market-search.ts`
import { MarketPage, MarketQuery } from '../schemas/market.ts'
import { createTestMarket, fillMarket } from '../test/support/market-catalogue.ts'
import { printTable } from './support.ts'

const LISTINGS = 10_000
const ROUNDS = 400
/** Milliseconds. */
const TARGET = { p50: 10, p99: 50 }

const market = createTestMarket()
fillMarket(market, LISTINGS)
const began = performance.now()
await market.marketplace.search(MarketQuery.parse({}))
const firstMs = performance.now() - began

const cases: readonly (readonly [string, Record<string, unknown>])[] = [
  ['list', {}],
  ['list of 100', { limit: 100 }],
  ['one word', { q: 'weather' }],
  ['three words', { q: 'stock news translate' }],
  ['a prefix of many', { q: 'se' }],
  ['cheapest with a success rate', { sort: 'price', min_success_rate: 0.5 }],
  ['fastest', { sort: 'latency' }],
  ['one seller', { seller: 'seller-77' }],
  ['tag and method', { tag: 'maps', method: 'GET' }],
]

const rows: (readonly (string | number)[])[] = []
let failed = false
for (const [name, query] of cases) {
  let cursor: string | null = null
  const times: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    // The clock moves on, so that what is new is read as often as in a busy second.
    market.pass(5)
    const start = performance.now()
    const page: MarketPage = MarketPage.parse(
      await market.marketplace.search(MarketQuery.parse({ ...query, ...(cursor !== null && { cursor }) })),
    )
    JSON.stringify(page)
    times.push(performance.now() - start)
    ;({ cursor } = page.pagination)
  }
  times.sort((a, b) => a - b)
  const at = (share: number) => times[Math.floor((times.length - 1) * share)] ?? 0
  if (at(0.5) > TARGET.p50 || at(0.99) > TARGET.p99) failed = true
  rows.push([name, at(0.5).toFixed(2), at(0.99).toFixed(2), `${TARGET.p50} / ${TARGET.p99}`])
}

printTable(
  `Marketplace: list and search over ${LISTINGS} listings`,
  ['query', 'p50 ms', 'p99 ms', 'target p50 / p99'],
  rows,
)
console.log(`first answer of a new process: ${firstMs.toFixed(0)} ms`)
if (failed) process.exitCode = 1
