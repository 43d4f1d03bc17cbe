// A market call on PostgreSQL, over two replicas: one payment is one call, wherever its copies arrive.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestChain, type TestChain } from '../support/chain.ts'
import { rss } from '../support/feeds.ts'
import { createWorld, startTestGateway, type TestGateway, type World } from '../support/gateway.ts'
import { createMarketBuyer, type MarketBuyer } from '../support/market-buyer.ts'

const PATH = '/p/gateway/feed-digest/?limit=3'
const PRICE = 100_000n

describe('two replicas', () => {
  let chain: TestChain
  let world: World
  let gateways: TestGateway[]
  let buyers: readonly [MarketBuyer, MarketBuyer]
  beforeAll(async () => {
    chain = await startTestChain(8453)
    const env = { ...chain.env, GATEWAY_BASE_URL: 'http://gateway.example:8402' }
    const made = await createWorld({ engine: 'postgres', env, nameTtlSeconds: 60 })
    world = { ...made, env: { ...made.env, GATEWAY_FEED_SOURCES: made.url('/feed.xml') } }
    gateways = [await startTestGateway({ world }), await startTestGateway({ world })]
    const [one, two] = gateways.map(({ gateway }) =>
      createMarketBuyer(`http://127.0.0.1:${gateway.port}`, chain.payers[0]!),
    )
    buyers = [one!, two!]
    world.upstream.respond((_request, res) => {
      const body = rss('<title>News</title><item><title>One</title><guid>1</guid></item>')
      setTimeout(() => res.writeHead(200, { 'content-type': 'application/rss+xml' }).end(body), 100)
    })
  })
  afterAll(async () => {
    await Promise.all((gateways ?? []).map((gateway) => gateway.close()))
    await world?.close()
    await chain?.close()
  })

  it('make one call and one settlement of 64 copies of one payment', async () => {
    const before = await chain.usdcOf(chain.payTo)
    const asked = world.upstream.requests.length
    const payment = await buyers[0].sign(await buyers[0].send(PATH))
    const copies = await Promise.all(
      Array.from({ length: 64 }, (_v, i) => buyers[i % 2 ? 1 : 0].send(PATH, { headers: payment })),
    )
    expect(copies.filter(({ status }) => status === 200)).toHaveLength(1)
    for (const copy of copies) expect([200, 409], copy.text).toContain(copy.status)
    expect(world.upstream.requests).toHaveLength(asked + 1)
    expect(await chain.usdcOf(chain.payTo)).toBe(before + PRICE)
  })

  it('give the stored answer of the other one under an Idempotency-Key', async () => {
    const headers = { 'idempotency-key': '2f0f6a8e-7c1b-4f0e-9a5d-d3b8f1c2a6e4' }
    const first = await buyers[0].buy(PATH, { headers })
    const again = await buyers[1].buy(PATH, { headers })
    expect([first.status, again.status], first.text).toEqual([200, 200])
    expect([again.text, again.headers.get('idempotent-replayed')]).toEqual([first.text, 'true'])
    const refused = await buyers[1].buy('/p/gateway/feed-digest/?limit=4', { headers })
    expect([refused.status, refused.body.code]).toEqual([422, 'idempotency_key_reused'])
  })
})
