// A call of our own listing, paid on a chain, and what the ledger says of it.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startTestChain, type TestChain } from '../support/chain.ts'
import { rss } from '../support/feeds.ts'
import { createWorld, startTestGateway, type TestGateway, type World } from '../support/gateway.ts'
import { createMarketBuyer } from '../support/market-buyer.ts'

let chain: TestChain
let world: World
let gateway: TestGateway
beforeAll(async () => {
  chain = await startTestChain(8453)
  world = await createWorld({ env: chain.env, nameTtlSeconds: 60 })
  gateway = await startTestGateway({
    world: { ...world, env: { ...world.env, GATEWAY_FEED_SOURCES: world.url('/feed.xml') } },
  })
  world.upstream.respond((_request, res) => {
    const feed = rss('<title>News</title><item><title>One</title><guid>1</guid></item>')
    res.writeHead(200, { 'content-type': 'application/rss+xml' }).end(feed)
  })
})
afterAll(async () => {
  await gateway?.close()
  await world?.close()
  await chain?.close()
})

const state = async () =>
  (await gateway.rest('GET', '/v1/marketplace/payouts/state', undefined, world.operatorKey)).body.networks[0]

it('keeps the fee and the proceeds of our own listing apart, and both are what was paid', async () => {
  expect(await state()).toMatchObject({ cash_atomic: '0', fees_atomic: '0', retained_atomic: '0' })
  const buyer = createMarketBuyer(gateway.baseUrl, chain.payers[0]!)
  const paid = await buyer.buy('/p/gateway/feed-digest/')
  expect(paid.status, paid.text).toBe(200)
  expect(await chain.usdcOf(chain.payTo)).toBe(100_000n)
  expect(await state()).toMatchObject({
    network: 'eip155:8453',
    cash_atomic: '100000',
    fees_atomic: '3000',
    retained_atomic: '97000',
    owed_atomic: '0',
  })
  const proof = await gateway.rest('GET', '/v1/marketplace/payouts/verify', undefined, world.operatorKey)
  expect(proof.body).toMatchObject({ ok: true, payouts: [] })
})

it('explains the fee of a price: three per cent, rounded up, for anybody who asks', async () => {
  const answer = await gateway.rest('GET', '/v1/marketplace/fee?amount_atomic=100001')
  expect(answer.body).toMatchObject({
    gross_atomic: '100001',
    platform_fee_atomic: '3001',
    seller_proceeds_atomic: '97000',
    steps: expect.arrayContaining(['ceil(100001 x 300 / 10000) = 3001']),
  })
  expect((await gateway.rest('GET', '/v1/marketplace/fee?amount_atomic=-1')).status).toBe(400)
})

it('pays nobody where nobody is owed anything, and says so', async () => {
  const answer = await gateway.rest('POST', '/v1/marketplace/payouts/run', {}, world.operatorKey)
  expect(answer.body).toMatchObject({ state: 'done', batches: [{ paid: 0, failed: 0, under_way: 0 }] })
  expect((await gateway.rest('GET', '/v1/marketplace/payouts')).body).toEqual({ payouts: [], next: null })
})
