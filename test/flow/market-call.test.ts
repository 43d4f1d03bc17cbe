// Our own listing, bought: 402, paid, asked again, refused. What sellers' services do is in market-services.test.ts.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { PaymentRequired, SettleResponse } from '../../schemas/x402.ts'
import { JWS_TYPES, verifyJws } from '../../src/receipts/types.ts'
import { startTestChain, type TestChain } from '../support/chain.ts'
import { rss } from '../support/feeds.ts'
import { createWorld, startTestGateway, type TestGateway, type World } from '../support/gateway.ts'
import { createMarketBuyer, type MarketBuyer, sendRaw } from '../support/market-buyer.ts'
import { fromHeader } from '../support/rest-buyer.ts'

const PATH = '/p/gateway/feed-digest/'
const PRICE = 100_000n

let chain: TestChain
let world: World
let gw: TestGateway
let buyer: MarketBuyer
beforeAll(async () => {
  chain = await startTestChain(8453)
  world = await createWorld({ env: chain.env, nameTtlSeconds: 60 })
  const env = { ...world.env, GATEWAY_FEED_SOURCES: world.url('/feed.xml') }
  gw = await startTestGateway({ world: { ...world, env } })
  buyer = createMarketBuyer(gw.baseUrl, chain.payers[0]!)
  world.upstream.respond((_request, res) => {
    const items = Array.from(
      { length: 40 },
      (_v, i) => `<item><title>News ${i}</title><guid>${i}</guid></item>`,
    )
    res
      .writeHead(200, { 'content-type': 'application/rss+xml' })
      .end(rss(`<title>News</title>${items.join('')}`))
  })
})
afterAll(async () => {
  await gw?.close()
  await world?.close()
  await chain?.close()
})

const requiredOf = (answer: { headers: Headers }) =>
  fromHeader<PaymentRequired>(answer.headers.get('payment-required'))

describe('the feed digest, unpaid', () => {
  it.each([
    ['as it is listed', 'GET', PATH],
    ['without the slash', 'GET', PATH.slice(0, -1)],
    ['with a query that fits nothing', 'GET', `${PATH}?limit=99&limit=1&x=%00`],
    ['asked for with HEAD', 'HEAD', PATH],
  ])('is a 402 %s', async (_, method, path) => {
    const answer = await buyer.send(path, { method })
    expect(answer.status).toBe(402)
    const required = requiredOf(answer)
    expect(required).toMatchObject({
      x402Version: 2,
      resource: { url: gw.baseUrl + PATH },
      accepts: [{ scheme: 'exact', network: 'eip155:8453', amount: '100000', payTo: chain.payTo }],
    })
  })

  it('says price and fee in words, in an extension and, for buyers of v1, in its body', async () => {
    const answer = await buyer.send(PATH)
    const { resource, extensions } = requiredOf(answer)
    expect(resource.description).toContain('0.100000 USDC')
    expect(resource.description).toContain(
      "the platform's fee is 3000 (300 bps, rounded up); the seller gets 97000.",
    )
    expect(extensions?.['marketplace']).toMatchObject({
      info: {
        seller: 'gateway',
        service_id: 'feed-digest',
        listing_version: 1,
        route: 'GET /',
        allocation: {
          gross_atomic: '100000',
          platform_fee_atomic: '3000',
          seller_proceeds_atomic: '97000',
          policy: { bps: 300, fixed_atomic: 0, minimum_atomic: 0, rounding: 'ceil_to_atomic_unit' },
        },
      },
    })
    expect(extensions?.['bazaar']).toMatchObject({
      info: { input: { type: 'http', method: 'GET', queryParams: { limit: 5 } } },
      schema: {
        properties: {
          input: {
            properties: {
              queryParams: {
                properties: { limit: { type: 'integer', minimum: 1, maximum: 30, default: 10 } },
              },
            },
          },
        },
      },
    })
    expect(answer.body).toMatchObject({
      x402Version: 1,
      code: 'payment_required',
      accepts: [
        { scheme: 'exact', network: 'base', maxAmountRequired: '100000', resource: gw.baseUrl + PATH },
      ],
    })
  })

  it.each([
    ['another method', 'POST', PATH, 405, 'method_not_allowed'],
    ['a method that nothing has', 'QUERY', PATH, 405, 'method_not_allowed'],
    ['a route that it has not', 'GET', `${PATH}more`, 404, 'not_found'],
    ['an upper-case seller', 'GET', '/p/Gateway/feed-digest/', 404, 'service_not_found'],
    ['an upper-case service', 'GET', '/p/gateway/Feed-Digest/', 404, 'service_not_found'],
    ['an escaped letter', 'GET', '/p/%67ateway/feed-digest/', 404, 'service_not_found'],
    ['an escaped slash', 'GET', '/p/gateway%2Ffeed-digest/', 404, 'service_not_found'],
    ['a path parameter of old', 'GET', '/p/gateway/feed-digest;v=1/', 404, 'service_not_found'],
    ['letters that look alike', 'GET', '/p/gatew%D0%B0y/feed-digest/', 404, 'service_not_found'],
    ['no service', 'GET', '/p/gateway/', 404, 'service_not_found'],
    ['no seller', 'GET', '/p/', 404, 'service_not_found'],
    ['a service of nobody', 'GET', '/p/nobody/nothing/', 404, 'service_not_found'],
    ['an empty segment below', 'GET', '/p/gateway/feed-digest//', 400, 'request_invalid'],
    ['an escaped dot segment below', 'GET', '/p/gateway/feed-digest/%2e%2e/x', 400, 'request_invalid'],
    ['a dot segment below', 'GET', '/p/gateway/feed-digest/../feed-digest/', 400, 'request_invalid'],
    ['a dot segment before', 'GET', '/p/x/../gateway/feed-digest/', 404, 'service_not_found'],
    ['a double slash before', 'GET', '/p//gateway/feed-digest/', 404, 'service_not_found'],
    ['a backslash below', 'GET', '/p/gateway/feed-digest/a%5Cb', 400, 'request_invalid'],
  ])('is refused under %s', async (_, method, path, status, code) => {
    const answer = await sendRaw(gw.baseUrl, path, method)
    expect([answer.status, answer.body?.code]).toEqual([status, code])
    if (status === 405) expect(answer.headers.get('allow')).toContain('GET')
    expect(answer.headers.get('payment-required')).toBeNull()
  })

  it('lets pages of other sites ask and pay', async () => {
    const answer = await buyer.send(PATH, { method: 'OPTIONS', headers: { origin: 'http://localhost:3000' } })
    expect(answer.status).toBe(204)
    expect(answer.headers.get('access-control-allow-headers')).toContain('payment-signature')
    expect(answer.headers.get('access-control-allow-methods')).toContain('GET')
  })
})

describe('the feed digest, paid', () => {
  it('is the digest itself, with receipt and settlement in its head, and a sale in the ledger', async () => {
    const before = await chain.usdcOf(chain.payTo)
    const answer = await buyer.buy(`${PATH}?limit=3`)
    expect([answer.status, answer.headers.get('content-type')], answer.text).toEqual([
      200,
      'application/json',
    ])
    expect(answer.body.result.entries).toHaveLength(3)
    expect(await chain.usdcOf(chain.payTo)).toBe(before + PRICE)
    const settled = fromHeader<SettleResponse>(answer.headers.get('payment-response'))
    expect(settled).toMatchObject({ success: true, network: 'eip155:8453', amount: '100000' })
    const jwks = (await gw.rest('GET', '/.well-known/gateway-egress-key.json')).body
    const receipt = await verifyJws(
      answer.headers.get('agent-gateway-receipt') ?? '',
      jwks,
      JWS_TYPES.receipt,
    )
    expect(receipt).toMatchObject({
      ok: true,
      payload: {
        tool: 'gateway.marketplace.call',
        amount: '100000',
        claim_id: answer.headers.get('agent-gateway-claim'),
      },
    })
    expect(answer.headers.get('cache-control')).toBe('private, no-store')
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
  })

  it('has ten entries where nobody says how many', async () => {
    expect((await buyer.buy(PATH.slice(0, -1))).body.result.entries).toHaveLength(10)
  })

  it.each([
    ['too many', '?limit=31'],
    ['none', '?limit=0'],
    ['part of one', '?limit=2.5'],
    ['a word', '?limit=ten'],
    ['something else', '?count=3'],
    ['the same twice', '?limit=3&limit=3'],
  ])('is not charged where it is asked for %s, and the payment buys something else', async (_, query) => {
    const before = await chain.usdcOf(chain.payTo)
    const payment = await buyer.sign(await buyer.send(PATH + query))
    const refused = await buyer.send(PATH + query, { headers: payment })
    expect([refused.status, refused.body.code]).toEqual([400, 'input_invalid'])
    expect(await chain.usdcOf(chain.payTo)).toBe(before)
    expect((await buyer.send(`${PATH}?limit=1`, { headers: payment })).status).toBe(200)
  })

  it('is not charged where no feed can be read', async () => {
    const payment = await buyer.sign(await buyer.send(PATH))
    world.upstream.respond((_request, res) => void res.writeHead(500).end())
    const refused = await buyer.send(PATH, { headers: payment })
    expect([refused.status, refused.body.code]).toEqual([502, 'sources_unusable'])
    expect(await chain.usdcOf(chain.payTo)).toBeTypeOf('bigint')
  })
})
