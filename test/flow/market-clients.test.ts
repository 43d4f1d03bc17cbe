// Stock clients buy from a listing without any override, over HTTP, MCP and A2A; with test money; and no more often than it takes.
import { createPaymentHandler } from '@faremeter/payment-evm/exact'
import { wrap as wrapFaremeter } from '@faremeter/fetch'
import { wrapAxiosWithPayment, x402Client as axiosClient } from '@x402/axios'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { ExactEvmSchemeV1 } from '@x402/evm/v1'
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client } from '@x402/fetch'
import axios from 'axios'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createBuyer } from '../support/buyer.ts'
import { startTestChain, type TestChain } from '../support/chain.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { createMarketBuyer } from '../support/market-buyer.ts'
import { routeOf, type SeededMarket, seedMarket, SELLER } from '../support/market-seller.ts'
import { createRestBuyer } from '../support/rest-buyer.ts'

const PRICE = 5_000n
const CALL = '/v1/marketplace/call'
const NAME = 'gateway.marketplace.call'

let live: TestChain
let gw: TestGateway
let market: SeededMarket
let url: string
beforeAll(async () => {
  live = await startTestChain(8453)
  // A figure for everything else that no test reaches: the listing's own limit holds.
  gw = await startTestGateway({ env: { ...live.env, GATEWAY_RATE_LIMIT: '100000' } })
  market = seedMarket(gw)
  market.list('echo', {
    routes: [
      routeOf({
        inputSchema: { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] },
        example: { query: { word: 'hello' } },
      }),
    ],
  })
  url = `${gw.baseUrl}/p/${SELLER}/echo/?word=hello`
  gw.upstream.respond((request, res) => {
    const word = new URL(request.target, 'https://x').searchParams.get('word')
    res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ word }))
  })
})
afterAll(async () => {
  await gw?.close()
  await live?.close()
})

const CALL_INPUT = { seller: SELLER, service_id: 'echo', query: { word: 'hello' } }

describe('a listing is bought from by', () => {
  /** Exactly one payment of the price, for exactly one request to the seller's host. */
  async function expectOnePayment(payer: string, action: () => Promise<unknown>) {
    const [from, to] = [await live.usdcOf(payer), await live.usdcOf(live.payTo)]
    const asked = gw.upstream.requests.length
    expect(await action()).toEqual({ word: 'hello' })
    expect(gw.upstream.requests).toHaveLength(asked + 1)
    expect(await live.usdcOf(payer)).toBe(from - PRICE)
    expect(await live.usdcOf(live.payTo)).toBe(to + PRICE)
  }

  it('@x402/fetch', async () => {
    const account = live.payers[0]!
    const client = new x402Client().register('eip155:*', new ExactEvmScheme(account))
    await expectOnePayment(account.address, async () => {
      const response = await wrapFetchWithPayment(fetch, client)(url)
      expect(decodePaymentResponseHeader(response.headers.get('payment-response')!)).toMatchObject({
        success: true,
        network: 'eip155:8453',
      })
      return response.json()
    })
  })

  it('@x402/axios', async () => {
    const account = live.payers[1]!
    const client = new axiosClient().register('eip155:*', new ExactEvmScheme(account))
    const api = wrapAxiosWithPayment(axios.create({ adapter: 'http' }), client)
    await expectOnePayment(account.address, async () => (await api.get(url)).data)
  })

  it('@faremeter/fetch', async () => {
    const account = live.payers[2]!
    const wallet = {
      chain: { id: 8453, name: 'Base' },
      address: account.address,
      account: { signTypedData: (data: never) => account.signTypedData(data) },
    }
    const pay = wrapFaremeter(fetch, { handlers: [createPaymentHandler(wallet as never)] })
    await expectOnePayment(account.address, async () => (await pay(url)).json())
  })

  it('@x402/fetch of v1, when only the body reaches it', async () => {
    const account = live.payers[3]!
    const client = new x402Client().registerV1('base', new ExactEvmSchemeV1(account))
    const answers: Response[] = []
    const withoutV2: typeof fetch = async (input, options) => {
      const response = await fetch(input, options)
      const headers = new Headers(response.headers)
      headers.delete('payment-required')
      headers.delete('payment-response')
      const answer = new Response(await response.arrayBuffer(), { status: response.status, headers })
      answers.push(answer.clone())
      return answer
    }
    await expectOnePayment(account.address, async () => {
      await wrapFetchWithPayment(withoutV2, client)(url).catch(() => undefined)
      const answer = answers.at(-1)!
      expect(answer.headers.get('x-payment-response')).not.toBeNull()
      return answer.json()
    })
  })

  it('a program over POST /v1/marketplace/call, with the answer in an envelope', async () => {
    const account = live.payers[4]!
    await expectOnePayment(account.address, async () => {
      const { body } = await createRestBuyer(gw.baseUrl, account).buy(CALL, CALL_INPUT)
      expect(body).toMatchObject({
        seller: SELLER,
        service_id: 'echo',
        route: 'GET /',
        words_of_seller: true,
        upstream: { status: 200 },
        cost: { amount_atomic: '5000', platform_fee_atomic: '150', seller_proceeds_atomic: '4850' },
        receipt: { receipt_id: expect.stringMatching(/^rcp_/) },
      })
      return body.upstream.json
    })
  })

  it('an assistant over MCP', async () => {
    const account = live.payers[5]!
    const sign = createBuyer(account)
    const call = async (meta?: object) => {
      const params = { name: NAME, arguments: CALL_INPUT, ...(meta && { _meta: meta }) }
      const response = await fetch(`${gw.baseUrl}/mcp`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'mcp-protocol-version': '2025-11-25',
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
      })
      // oxlint-disable-next-line typescript/no-explicit-any
      return ((await response.json()) as any).result
    }
    await expectOnePayment(account.address, async () => {
      const asked = await call()
      expect(asked.structuredContent.accepts[0]).toMatchObject({ amount: '5000', network: 'eip155:8453' })
      const bought = await call({ 'x402/payment': await sign(asked.structuredContent) })
      expect(bought.isError, JSON.stringify(bought)).not.toBe(true)
      return bought.structuredContent.upstream.json
    })
  })

  it('an agent over A2A', async () => {
    const account = live.payers[6] ?? live.payers[0]!
    const sign = createBuyer(account)
    const send = async (message: object) => {
      const response = await fetch(`${gw.baseUrl}/a2a`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'SendMessage',
          params: { message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', ...message } },
        }),
      })
      // oxlint-disable-next-line typescript/no-explicit-any
      return ((await response.json()) as any).result.task
    }
    await expectOnePayment(account.address, async () => {
      const asked = await send({ parts: [{ data: { skill: 'marketplace-call', input: CALL_INPUT } }] })
      expect(asked.status.state).toBe('TASK_STATE_INPUT_REQUIRED')
      const bought = await send({
        taskId: asked.id,
        parts: [{ text: 'Here is the payment.' }],
        metadata: {
          'x402.payment.status': 'payment-submitted',
          'x402.payment.payload': await sign(asked.status.message.metadata['x402.payment.required']),
        },
      })
      expect(bought.status.state, JSON.stringify(bought.status)).toBe('TASK_STATE_COMPLETED')
      const [{ parts }] = bought.artifacts
      return parts.find(({ data }: { data?: unknown }) => data !== undefined).data.upstream.json
    })
  })
})

describe('a listing', () => {
  it('is called as often a minute as it says: then 429 before the price, for whoever asks too often', async () => {
    market.list('busy', { maxRequestsPerMinute: 3 })
    const buyer = createMarketBuyer(gw.baseUrl, live.payers[0]!)
    const path = `/p/${SELLER}/busy/`
    const statuses: number[] = []
    for (let asked = 0; asked < 5; asked++) statuses.push((await buyer.send(path)).status)
    expect(statuses).toEqual([402, 402, 402, 429, 429])
    const refused = await buyer.send(path)
    expect(refused.body).toMatchObject({ code: 'rate_limited' })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(refused.headers.get('payment-required')).toBeNull()
    // Asking is not buying: whoever pays is not kept away by those who only ask.
    const { body } = await createRestBuyer(gw.baseUrl, live.payers[0]!).send(CALL, CALL_INPUT)
    expect(body.code).toBe('payment_required')
  })
})

describe('with test money', () => {
  let test: TestChain
  let sandbox: TestGateway
  beforeAll(async () => {
    test = await startTestChain(84532)
    sandbox = await startTestGateway({ env: test.env })
    const draft = seedMarket(sandbox)
    draft.list('draft', {}, 'draft')
    draft.list('sold')
    draft.list('open', { takesTestMoney: true })
  })
  afterAll(async () => {
    await sandbox?.close()
    await test?.close()
  })

  it('a draft is called below /p/testnet/, and its sale is one of the test network', async () => {
    const buyer = createMarketBuyer(sandbox.baseUrl, test.payers[0]!)
    const before = await test.usdcOf(test.payTo)
    const answer = await buyer.buy(`/p/testnet/${SELLER}/draft`)
    expect(answer.status, answer.text).toBe(200)
    expect(await test.usdcOf(test.payTo)).toBe(before + PRICE)
    expect((await buyer.send(`/p/${SELLER}/draft/`)).status).toBe(404)
    expect((await buyer.send('/p/testnet/testnet/draft/')).status).toBe(404)
  })

  it('what is sold for real money gives its answers for none, unless its seller says so', async () => {
    const buyer = createMarketBuyer(sandbox.baseUrl, test.payers[0]!)
    const challenge = await buyer.send(`/p/testnet/${SELLER}/open/`)
    const url = `${sandbox.baseUrl}/p/testnet/${SELLER}/sold/`
    const asked = sandbox.upstream.requests.length
    for (const answer of [
      await buyer.send(`/p/testnet/${SELLER}/sold/`),
      await buyer.send(`/p/testnet/${SELLER}/sold/`, {
        headers: await buyer.sign(challenge, { resource: { url }, extensions: {} }),
      }),
    ])
      expect([answer.status, answer.body?.detail]).toEqual([
        503,
        expect.stringContaining('takes no test money'),
      ])
    expect(sandbox.upstream.requests).toHaveLength(asked)
    expect((await buyer.buy(`/p/testnet/${SELLER}/open/`)).status).toBe(200)
    const listed = await sandbox.rest('GET', `/v1/marketplace/services?network=eip155:84532&seller=${SELLER}`)
    const shown = listed.body.services.map((one: { service_id: string; availability: string }) => [
      one.service_id,
      one.availability,
    ])
    expect(Object.fromEntries(shown)).toEqual({ sold: 'unavailable', open: 'available' })
  })
})
