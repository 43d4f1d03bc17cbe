// The same fetch with test money, of the sample site that every sandbox has.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { PaymentRequired } from '../../schemas/x402.ts'
import { decodeJws } from '../../src/receipts/types.ts'
import { requirementsOf, signPayment, startTestChain, type TestChain, toHeader } from '../support/chain.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { createRestBuyer, fromHeader } from '../support/rest-buyer.ts'

const PATH = '/v1/tools/web.fetch'
const TEST_PATH = '/v1/tools/web.fetch/testnet'
const SITE = 'https://sandbox.agent-gateway.test'

let chain: TestChain
let gw: TestGateway
let buyer: ReturnType<typeof createRestBuyer>
beforeAll(async () => {
  chain = await startTestChain(84532)
  gw = await startTestGateway({ env: chain.env })
  buyer = createRestBuyer(gw.baseUrl, chain.payers[0]!)
})
afterAll(async () => {
  await gw?.close()
  await chain?.close()
})

const networksOf = (headers: Headers) =>
  fromHeader<PaymentRequired>(headers.get('payment-required')).accepts.map(({ network }) => network)

describe('test money', () => {
  it.each<[string, string, Record<string, unknown>]>([
    ['the route of its own', TEST_PATH, {}],
    ['testnet', PATH, { testnet: true }],
    ['the network', PATH, { network: 'base-sepolia' }],
    ['all of them', TEST_PATH, { testnet: true, network: 'eip155:84532' }],
  ])('is asked for by %s, and then nothing else is taken', async (_, path, options) => {
    const challenge = await buyer.send(path, { url: `${SITE}/text`, ...options })
    expect(challenge.status).toBe(402)
    expect(networksOf(challenge.headers)).toEqual(['eip155:84532'])
  })

  it.each<[string, Record<string, unknown>]>([
    ['testnet: false', { testnet: false }],
    ['the production network', { network: 'base' }],
    ['testnet: false inside', { tool: 'gateway.web.fetch', input: { testnet: false } }],
  ])('is not what %s asks for on the test route', async (_, options) => {
    const answer = await buyer.send(TEST_PATH, { url: `${SITE}/text`, ...options })
    expect(answer.status).toBe(400)
    expect(answer.headers.get('payment-required')).toBeNull()
  })

  it('moves exactly 0.001 and is marked as no revenue, in cost and receipt', async () => {
    const before = await chain.usdcOf(chain.payTo)
    const { status, body, text } = await buyer.buy(TEST_PATH, { url: `${SITE}/article` })
    expect(status, text).toBe(200)
    expect(await chain.usdcOf(chain.payTo)).toBe(before + 1000n)
    expect(body.cost).toMatchObject({ network: 'eip155:84532', revenue: false, amount: '0.001000' })
    expect(decodeJws(body.receipt.jws).payload).toMatchObject({ network: 'eip155:84532', revenue: false })
    expect(body.target).toEqual({ host: 'sandbox.agent-gateway.test', address_class: 'sandbox' })
    expect(body.response.content).toContain('Green tea is steeped for three minutes')
  })

  it('never pays for what was asked for in production', async () => {
    const payment = await signPayment({
      account: chain.payers[0]!,
      requirements: requirementsOf(chain),
      resource: { url: gw.baseUrl + PATH },
    })
    const before = await chain.transfersTo(chain.payTo)
    const answer = await buyer.send(PATH, { url: `${SITE}/text` }, { 'payment-signature': toHeader(payment) })
    expect(answer.status).not.toBe(200)
    expect(await chain.transfersTo(chain.payTo)).toBe(before)
  })

  it('of one route buys nothing on the other', async () => {
    const body = { url: `${SITE}/text`, testnet: true }
    const headers = await buyer.sign(await buyer.send(PATH, body))
    const answer = await buyer.send(TEST_PATH, body, headers)
    expect([answer.status, answer.body.code]).toEqual([402, 'payment_rejected'])
    expect((await buyer.send(PATH, body, headers)).status).toBe(200)
  })
})

describe('the sample site', () => {
  it.each<[string, Record<string, unknown>, object]>([
    ['/text', {}, { content: 'Plain text with ümläuts and 茶.\n' }],
    ['/api/items', {}, { content_kind: 'json', content: { items: [expect.objectContaining({ id: 1 })] } }],
    [
      '/latin1',
      {},
      {
        content: expect.stringContaining('\u201cThé vert\u201d: 4,50 \u20ac'),
        charset: { name: 'windows-1252', from: 'header', replaced: 0 },
      },
    ],
    ['/gzip', {}, { content: expect.stringContaining('eighty degrees'), content_encoding: 'gzip' }],
    ['/big', { max_bytes: 4096 }, { bytes: 4096, truncated: true }],
    ['/redirect', {}, { status: 302 }],
  ])('has %s', async (path, options, expected) => {
    const { status, body, text } = await buyer.buy(TEST_PATH, { url: SITE + path, ...options })
    expect(status, text).toBe(200)
    expect(body.response).toMatchObject(expected)
  })

  it('never costs anything for a page that fails', async () => {
    const before = await chain.transfersTo(chain.payTo)
    const answer = await buyer.buy(TEST_PATH, { url: `${SITE}/fail` })
    expect([answer.status, answer.body.code]).toEqual([503, 'upstream_unreachable'])
    expect(await chain.transfersTo(chain.payTo)).toBe(before)
  })
})
