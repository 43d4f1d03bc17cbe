// The market from a seller's first step to its money: registered, proven, imported, approved, bought from by stock clients that know
// nothing of it, counted, paid out on a real chain, and the proof of that verified by somebody else.
import { createPaymentHandler } from '@faremeter/payment-evm/exact'
import { wrap as wrapFaremeter } from '@faremeter/fetch'
import { wrapAxiosWithPayment, x402Client as axiosClient } from '@x402/axios'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { wrapFetchWithPayment, x402Client } from '@x402/fetch'
import axios from 'axios'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestChain, type TestChain } from '../support/chain.ts'
import { runCli } from '../support/cli.ts'
import {
  createWorld,
  type Engine,
  startTestGateway,
  type TestGateway,
  type World,
} from '../support/gateway.ts'
import { createMarketBuyer } from '../support/market-buyer.ts'
import { proveHost, registerSeller, sellerAccount } from '../support/onboarding.ts'

const SELLER = 'acme-weather'
const KEY = `0x${0xeefd_0000_0002n.toString(16).padStart(64, '0')}` as const
/** The gateway's own account: buyers pay it, and it pays sellers. */
const house = privateKeyToAccount(KEY)
const PRICE = 400_000n
const FEE = 12_000n
const DETAIL = `/v1/marketplace/services/${SELLER}/weather`

const WEATHER = { airport: 'EDDF', celsius: 21.5 }
const OPENAPI = {
  openapi: '3.1.0',
  info: { title: 'Weather', description: 'The weather at an airport, now.' },
  servers: [{ url: '/v2' }],
  paths: {
    '/now/{airport}': {
      get: {
        operationId: 'now',
        summary: 'The weather now',
        'x-payment-info': { price: { mode: 'fixed', currency: 'USD', amount: '0.40' } },
        parameters: [
          { name: 'airport', in: 'path', required: true, schema: { type: 'string' }, example: 'EDDF' },
        ],
        responses: {
          200: {
            content: {
              'application/json': {
                schema: {
                  type: 'object',
                  required: ['airport', 'celsius'],
                  properties: { airport: { type: 'string' }, celsius: { type: 'number' } },
                },
              },
            },
          },
        },
      },
    },
  },
}

let chain: TestChain
beforeAll(async () => void (chain = await startTestChain(8453)))
afterAll(() => chain.close())

describe.each<Engine>(['sqlite', 'postgres'])('a seller (%s)', (engine) => {
  let world: World
  let gw: TestGateway
  let key: string
  let answer: { status: number; type: string; body: string }
  const weather = { status: 200, type: 'application/json', body: JSON.stringify(WEATHER) }
  const path = `/p/${SELLER}/weather/now/EDDF`

  beforeAll(async () => {
    world = await createWorld({ engine, env: { ...chain.env, GATEWAY_PAY_TO: house.address } })
    const file = join(world.dataDir, 'payout.key')
    await writeFile(file, `${KEY}\n`, { mode: 0o600 })
    world = { ...world, env: { ...world.env, GATEWAY_PAYOUT_KEY_FILE: file } }
    gw = await startTestGateway({ world, undocumented: 'fail' })
    answer = weather
    gw.upstream.respond((request, res) => {
      const isDocument = request.target === '/openapi.json'
      const { status, type, body } = isDocument ? { ...weather, body: JSON.stringify(OPENAPI) } : answer
      res.writeHead(status, { 'content-type': type }).end(body)
    })
  })
  afterAll(async () => {
    await gw?.close()
    await world?.close()
  })

  const ofSeller = (step: string, body: object) => gw.rest('POST', `/v1/marketplace/seller${step}`, body, key)
  const stateOf = async () =>
    (await gw.rest('GET', '/v1/marketplace/seller', undefined, key)).body.services[0]

  it('registers, proves its host, and brings its service from its OpenAPI document', async () => {
    key = await registerSeller(gw, SELLER)
    const origin = gw.url('').replace(/\/$/, '')
    await proveHost(gw, key, origin)
    const imported = await ofSeller('/services/import', {
      service_id: 'weather',
      origin,
      url: `${origin}/openapi.json`,
    })
    expect([imported.status, imported.body.imported], imported.text).toEqual([201, ['GET /now/{airport}']])
    await expectNotSold()
    const submitted = await ofSeller('/services/submit', { service_id: 'weather' })
    expect(submitted.body.state, submitted.text).toBe('pending')
    await expectNotSold()
    const decision = { seller: SELLER, service_id: 'weather', decision: 'approve', reason: 'Looked at.' }
    const decided = await gw.rest('POST', '/v1/marketplace/moderation', decision, world.operatorKey)
    expect(decided.status, decided.text).toBe(200)
    expect((await stateOf()).state).toBe('active')
    // Every replica knows within a second.
    await expect.poll(async () => (await fetch(gw.baseUrl + path)).status).toBe(402)
  })

  async function expectNotSold() {
    expect((await fetch(gw.baseUrl + path)).status).toBe(404)
  }

  it('is bought from by clients that know nothing of it', async () => {
    const [first, second, third, fourth] = chain.payers
    if (!first || !second || !third || !fourth) throw new Error('the chain has payers')
    const url = gw.baseUrl + path
    const before = await chain.usdcOf(house.address)
    const byFetch = new x402Client().register('eip155:*', new ExactEvmScheme(first))
    const byAxios = new axiosClient().register('eip155:*', new ExactEvmScheme(second))
    const wallet = {
      chain: { id: 8453, name: 'Base' },
      address: third.address,
      account: { signTypedData: (data: never) => third.signTypedData(data) },
    }
    const byFaremeter = wrapFaremeter(fetch, { handlers: [createPaymentHandler(wallet as never)] })
    const bought = [
      await (await wrapFetchWithPayment(fetch, byFetch)(url)).json(),
      (await wrapAxiosWithPayment(axios.create({ adapter: 'http' }), byAxios).get(url)).data,
      await (await byFaremeter(url)).json(),
      (await createMarketBuyer(gw.baseUrl, fourth).buy(path)).body,
    ]
    expect(bought).toEqual([WEATHER, WEATHER, WEATHER, WEATHER])
    expect(await chain.usdcOf(house.address)).toBe(before + 4n * PRICE)
  })

  it('takes nothing for an answer that is not what it promised, and that is seen', async () => {
    const [first] = chain.payers
    if (!first) throw new Error('the chain has payers')
    const before = await chain.usdcOf(first.address)
    answer = { status: 200, type: 'text/html', body: '<!doctype html><title>502 Bad Gateway</title>' }
    const refused = await createMarketBuyer(gw.baseUrl, first).buy(path)
    answer = weather
    expect(refused.body.code).toBe('service_failed')
    expect(await chain.usdcOf(first.address)).toBe(before)
  })

  it('has figures that come from its receipts', async () => {
    await expect
      .poll(async () => (await gw.rest('GET', DETAIL, undefined, '')).body.service?.stats)
      .toMatchObject({
        settled_calls: 4,
        unique_payers: 4,
        volume_atomic: String(4n * PRICE),
        last_30_days: { settled_calls: 4, failed_calls: 1, success_rate: 0.8 },
      })
  })

  it('is paid what it earned, once, and its statement says so to the unit', async () => {
    const owed = 4n * (PRICE - FEE)
    const before = await chain.usdcOf(sellerAccount.address)
    const run = () => gw.rest('POST', '/v1/marketplace/payouts/run', {}, world.operatorKey)
    const [one, other] = await Promise.all([run(), run()])
    expect([one.status, other.status], one.text + other.text).toEqual([200, 200])
    await expect.poll(() => chain.usdcOf(sellerAccount.address)).toBe(before + owed)
    await run()
    expect(await chain.usdcOf(sellerAccount.address)).toBe(before + owed)
    const { body } = await gw.rest('GET', '/v1/marketplace/seller/statement', undefined, key)
    expect(body).toMatchObject({ opening_atomic: '0', closing_atomic: '0' })
  })

  it('and anybody can verify that it was', async () => {
    const { body } = await gw.rest('GET', `/v1/marketplace/payouts?seller=${SELLER}`, undefined, '')
    expect(body.payouts).toEqual([expect.objectContaining({ amount_atomic: String(4n * (PRICE - FEE)) })])
    const ran = await runCli(['payouts', 'verify', '--url', gw.baseUrl, '--json'], {
      GATEWAY_OPERATOR_KEY: world.operatorKey,
    })
    expect(ran.code, ran.stderr).toBe(0)
    const proof = JSON.parse(ran.stdout)
    expect(proof).toMatchObject({ ok: true, payouts: [{ chain: 'proven', receipt: 'valid' }] })
  })
})
