// kill -9 of the real server at every step of a payment, then a restart: every payment ends settled with its result
// retrievable by its payer, or not charged. Nothing is submitted twice, and the chain is the witness.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { PaymentPayloadV2 } from '../../schemas/x402.ts'
import { type FaultPoint, PAYMENT_POINTS } from '../../src/lib/fault-points.ts'
import { JWS_TYPES, verifyJws } from '../../src/receipts/types.ts'
import { requirementsOf, signPayment, startTestChain, type TestChain, toHeader } from '../support/chain.ts'
import { createWorld, ENGINES, type World } from '../support/gateway.ts'
import { type GatewayProcess, startGatewayProcess, untilUnlocked } from '../support/gateway-process.ts'
import { unguessableIdentifier } from '../support/identifiers.ts'
import { get, post, PRICE } from '../support/paid-tools.ts'

const PATH = '/v1/tools/web.fetch/testnet'

/** What a payment is after the restart, before anybody asks. */
type Expected = 'free' | 'unsent' | 'paid'
const EXPECTED: Readonly<Record<(typeof PAYMENT_POINTS)[number], Expected>> = {
  before_claim: 'free',
  after_claim: 'free',
  after_work: 'free',
  after_submitted: 'unsent',
  before_broadcast: 'unsent',
  after_broadcast: 'paid',
  after_mined: 'paid',
  after_settled: 'paid',
  before_release: 'paid',
}
const CASES = PAYMENT_POINTS.map((point, at) => ({ point, at, expected: EXPECTED[point] }))
const expecting = (state: Expected) => CASES.filter(({ expected }) => expected === state)

describe.each(ENGINES)('kill -9 (%s)', (engine) => {
  let chain: TestChain
  let world: World
  let survivor: GatewayProcess
  const payments = new Map<FaultPoint, PaymentPayloadV2>()
  const PAYER_USDC = 1_000_000_000n

  beforeAll(async () => {
    chain = await startTestChain(84532)
    world = await createWorld({ engine, env: chain.env })
    world.upstream.respond((request, res) => {
      res.writeHead(200, { 'content-type': 'text/plain' }).end(`page ${request.target}`)
    })
    // The first ones last: those are the ones whose signature, good for five minutes, has to buy afterwards.
    for (const { point, at } of CASES.toReversed()) {
      const gateway = await startGatewayProcess(world, { GATEWAY_FAULT: `${point}:kill` })
      const payload = await signPayment({
        account: chain.payers[at]!,
        requirements: requirementsOf(chain),
        extensions: {
          'payment-identifier': {
            info: { required: false, id: `crash_at_${point}_${engine}_${unguessableIdentifier()}` },
            schema: {},
          },
        },
      })
      payments.set(point, payload)
      await expect(buy(gateway, point)).rejects.toThrow()
      expect((await gateway.process.ended).signal).toBe('SIGKILL')
      await untilUnlocked(world)
    }
    survivor = await startGatewayProcess(world)
  }, 1_200_000)
  afterAll(async () => {
    await survivor?.stop()
    await world?.close()
    await chain?.close()
  })

  const header = (point: FaultPoint) => ({ 'payment-signature': toHeader(payments.get(point)!) })
  const buy = (gateway: GatewayProcess, point: FaultPoint) =>
    post(gateway.baseUrl + PATH, { url: world.url(`/${point}`) }, header(point))
  const read = (url: string, point: FaultPoint) => get(url, header(point))
  const spent = async (at: number) => PAYER_USDC - (await chain.usdcOf(chain.payers[at]!.address))
  const fetched = (point: FaultPoint) =>
    world.upstream.requests.filter(({ target }) => target === `/${point}`)

  it.each(expecting('paid'))(
    '$point: was paid once, and its payer gets the result',
    async ({ point, at }) => {
      expect(await spent(at)).toBe(PRICE)
      const answer = await buy(survivor, point)
      expect(answer.status, answer.text).toBe(200)
      expect(answer.text).toContain(`page /${point}`)
      expect(answer.settled).toMatchObject({ success: true, payer: chain.payers[at]!.address.toLowerCase() })
      const jwks = (await survivor.rest('GET', '/.well-known/gateway-egress-key.json', undefined, '')).body
      const verdict = await verifyJws(answer.body.receipt.jws, jwks, JWS_TYPES.receipt)
      expect(verdict).toMatchObject({ ok: true, payload: { transaction: answer.settled!.transaction } })
      expect((await buy(survivor, point)).text).toBe(answer.text)
      expect(fetched(point)).toHaveLength(1)
      expect(await spent(at)).toBe(PRICE)
    },
  )

  it.each(expecting('free'))(
    '$point: was not charged, and the same payment still buys',
    async ({ point, at }) => {
      expect(await spent(at)).toBe(0n)
      const answer = await buy(survivor, point)
      expect(answer.status, answer.text).toBe(200)
      expect(answer.text).toContain(`page /${point}`)
      expect(await spent(at)).toBe(PRICE)
      expect(fetched(point)).toHaveLength(point === 'after_work' ? 2 : 1)
    },
  )

  it('after_submitted, before_broadcast: are never sent again, invite no second payment, and end as not charged', async () => {
    const urls = new Map<FaultPoint, string>()
    for (const { point } of expecting('unsent')) {
      const answer = await buy(survivor, point)
      expect([answer.status, answer.body.code], answer.text).toEqual([503, 'settlement_unknown'])
      expect(answer.headers.get('retry-after')).toMatch(/^\d+$/)
      expect(answer.required).toBeUndefined()
      const url = answer.body.payment_url as string
      urls.set(point, url)
      expect((await read(url, point)).body).toMatchObject({ state: 'unknown', result: null, receipt: null })
    }
    // Only time proves that nobody will use what was signed.
    const later = (await chain.blockTime()) + 3600
    await chain.rpc('evm_setNextBlockTimestamp', [later])
    await chain.mine()
    for (const { point, at } of expecting('unsent')) {
      const { body } = await read(urls.get(point)!, point)
      expect(body).toMatchObject({ state: 'failed', reason: 'authorization_expired', result: null })
      expect(await spent(at)).toBe(0n)
      const answer = await buy(survivor, point)
      expect([answer.status, answer.body.code]).toEqual([402, 'settlement_failed'])
      expect(fetched(point)).toHaveLength(1)
    }
  })

  it('moved the price of one result for each payment that bought one, and nothing else', async () => {
    const bought = CASES.length - expecting('unsent').length
    expect(await chain.transfersTo(chain.payTo)).toBe(bought)
    expect(await chain.usdcOf(chain.payTo)).toBe(BigInt(bought) * PRICE)
  })
})
