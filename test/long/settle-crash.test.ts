// kill -9 of the real server at every step of a settlement, then restarts: every payment ends settled once with its
// receipt, or nothing was charged; and nothing is ever submitted a second time.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PAYMENT_POINTS } from '../../src/lib/fault-points.ts'
import { JWS_TYPES, verifyJws } from '../../src/receipts/types.ts'
import { requirementsOf, signPayment, startTestChain, type TestChain } from '../support/chain.ts'
import { createWorld, ENGINES, type RestAnswer, type World } from '../support/gateway.ts'
import { type GatewayProcess, startGatewayProcess, untilUnlocked } from '../support/gateway-process.ts'

const SELLER = '0x0000000000000000000000000000000000C0FFEE'
const CREDITS = 100

type Point = (typeof PAYMENT_POINTS)[number]
type Outcome =
  /** Nothing was submitted: the payment is free again. */
  | 'free'
  /** Submitted on disk and nothing broadcast: only its expiry decides. */
  | 'open'
  | 'settled'
const EXPECTED: Readonly<Record<Point, Outcome>> = {
  before_claim: 'free',
  after_claim: 'free',
  // Claimed and charged, not submitted.
  after_work: 'free',
  after_submitted: 'open',
  before_broadcast: 'open',
  after_broadcast: 'settled',
  after_mined: 'settled',
  after_settled: 'settled',
  before_release: 'settled',
}

describe.each(ENGINES)('kill -9 (%s)', (engine) => {
  let chain: TestChain
  let world: World
  let survivor: GatewayProcess
  const bodies = new Map<Point, Awaited<ReturnType<typeof makeBody>>>()
  const movedBefore = new Map<Point, number>()

  async function makeBody(payer: number) {
    const requirements = { ...requirementsOf(chain, '1000'), payTo: SELLER }
    const paymentPayload = await signPayment({ account: chain.payers[payer]!, requirements })
    return { x402Version: 2, paymentPayload, paymentRequirements: requirements }
  }
  const settle = (point: Point): Promise<RestAnswer> => survivor.rest('POST', '/settle', bodies.get(point))

  beforeAll(async () => {
    chain = await startTestChain(84532)
    world = await createWorld({
      engine,
      env: {
        ...chain.env,
        // One chain is enough, and no other one has to start.
        GATEWAY_RPC_8453: 'http://127.0.0.1:1',
        GATEWAY_SETTLE_FREE_ALLOWANCE: '0',
        GATEWAY_SERVICE_KEY_CREDITS: String(CREDITS),
      },
    })
    for (const [i, point] of PAYMENT_POINTS.entries()) {
      const gateway = await startGatewayProcess(world, { GATEWAY_FAULT: `${point}:kill` })
      const body = await makeBody(i)
      bodies.set(point, body)
      await expect(gateway.rest('POST', '/settle', body)).rejects.toThrow()
      expect((await gateway.process.ended).signal).toBe('SIGKILL')
      await untilUnlocked(world)
      movedBefore.set(point, Number(await spentBy(i)))
    }
    survivor = await startGatewayProcess(world)
  }, 1_200_000)
  afterAll(async () => {
    await survivor?.stop()
    await world?.close()
    await chain?.close()
  })

  const spentBy = async (payer: number) => 1_000_000_000n - (await chain.usdcOf(chain.payers[payer]!.address))
  const charged = async () => CREDITS - (await survivor.balance())

  it('charges for what was submitted and for nothing else', async () => {
    const submitted = Object.values(EXPECTED).filter((outcome) => outcome !== 'free').length
    // Recovery runs beside the first calls.
    await expect.poll(charged).toBe(submitted)
  })

  it.each(PAYMENT_POINTS)('%s: is settled at most once, and its owner can tell', async (point) => {
    const payer = PAYMENT_POINTS.indexOf(point)
    const outcome = EXPECTED[point]
    expect(movedBefore.get(point)).toBe(outcome === 'settled' ? 1000 : 0)
    const answer = await settle(point)
    switch (outcome) {
      case 'free':
        expect([answer.status, answer.body.success]).toEqual([200, true])
        break
      case 'open':
        expect([answer.status, answer.body.code]).toEqual([503, 'settlement_unknown'])
        break
      case 'settled': {
        expect([answer.status, answer.body.code]).toEqual([400, 'settlement_replayed'])
        const { jws } = (await survivor.rest('GET', `/v1/receipts/${answer.body.receipt_id}`)).body
        const jwks = (await survivor.rest('GET', '/.well-known/gateway-egress-key.json')).body
        expect(await verifyJws(jws, jwks, JWS_TYPES.receipt)).toMatchObject({
          ok: true,
          payload: { claim_id: answer.body.claim_id, amount: '1000', pay_to: SELLER },
        })
      }
    }
    expect(Number(await spentBy(payer))).toBe(outcome === 'open' ? 0 : 1000)
  })

  it('nothing is submitted again: what was open ends when it has expired, and is not charged', async () => {
    const open = PAYMENT_POINTS.filter((point) => EXPECTED[point] === 'open')
    const chargedBefore = await charged()
    const last = bodies.get(open.at(-1)!)!.paymentPayload.payload['authorization'] as { validBefore: string }
    await chain.rpc('evm_setNextBlockTimestamp', [Number(last.validBefore) + 61])
    await chain.mine()
    for (const point of open) {
      const { status, body } = await settle(point)
      expect([status, body.code, body.errorReason]).toEqual([400, 'payment_blocked', 'authorization_expired'])
      expect(Number(await spentBy(PAYMENT_POINTS.indexOf(point)))).toBe(0)
    }
    expect(await charged()).toBe(chargedBefore - open.length)
    expect(await chain.transfersTo(SELLER)).toBe(PAYMENT_POINTS.length - open.length)
  })
})
