// kill -9 while a wallet has an open payment: what it has bound is neither forgotten by the restart nor bound for ever.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import type { FaultPoint } from '../../src/lib/fault-points.ts'
import type { PaymentPayloadV2 } from '../../schemas/x402.ts'
import { requirementsOf, signPayment, startTestChain, type TestChain, toHeader } from '../support/chain.ts'
import { createWorld, ENGINES, type World } from '../support/gateway.ts'
import { type GatewayProcess, startGatewayProcess, untilUnlocked } from '../support/gateway-process.ts'
import { unguessableIdentifier } from '../support/identifiers.ts'
import { post } from '../support/paid-tools.ts'

const PATH = '/v1/tools/web.fetch/testnet'
const POINTS = ['after_claim', 'after_submitted', 'after_broadcast'] as const satisfies readonly FaultPoint[]
type Point = (typeof POINTS)[number]

describe.each(ENGINES)('kill -9 of a poor wallet’s payment (%s)', (engine) => {
  let chain: TestChain
  let world: World
  let survivor: GatewayProcess
  const wallets = new Map<Point, PrivateKeyAccount>()
  const payments = new Map<Point, PaymentPayloadV2>()

  beforeAll(async () => {
    chain = await startTestChain(84532)
    world = await createWorld({ engine, env: { ...chain.env, GATEWAY_RPC_8453: 'http://127.0.0.1:1' } })
    world.upstream.respond((request, res) => {
      res.writeHead(200, { 'content-type': 'text/plain' }).end(`page ${request.target}`)
    })
    for (const [i, point] of POINTS.entries()) {
      const wallet = privateKeyToAccount(
        `0x${(0xdead_0000_0000n + BigInt(i)).toString(16).padStart(64, '0')}`,
      )
      await chain.fund(wallet.address, 1000n)
      wallets.set(point, wallet)
      const gateway = await startGatewayProcess(world, { GATEWAY_FAULT: `${point}:kill` })
      // With an identifier whoever sends it again hears what became of it.
      const info = { required: false, id: `funds_at_${point}_${unguessableIdentifier()}` }
      const payment = await sign(point, { 'payment-identifier': { info, schema: {} } })
      payments.set(point, payment)
      await expect(send(gateway, point, 'first', payment)).rejects.toThrow()
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

  const sign = (point: Point, extensions: Readonly<Record<string, unknown>> = {}) =>
    signPayment({ account: wallets.get(point)!, requirements: requirementsOf(chain), extensions })
  const send = (gateway: GatewayProcess, point: Point, which: string, payment: PaymentPayloadV2) =>
    post(
      gateway.baseUrl + PATH,
      { url: world.url(`/${point}/${which}`) },
      { 'payment-signature': toHeader(payment) },
    )
  const buy = async (gateway: GatewayProcess, point: Point, which: string) =>
    send(gateway, point, which, await sign(point))
  const fetched = (point: Point, which: string) =>
    world.upstream.requests.filter(({ target }) => target === `/${point}/${which}`).length
  const heldBy = (point: Point) => chain.usdcOf(wallets.get(point)!.address)

  it('after_claim: nothing was submitted, so all of it can be spent', async () => {
    // Recovery runs beside the first calls.
    await expect.poll(async () => (await buy(survivor, 'after_claim', 'second')).status).toBe(200)
    expect(await heldBy('after_claim')).toBe(0n)
    expect((await buy(survivor, 'after_claim', 'third')).status).toBe(402)
    expect(fetched('after_claim', 'third')).toBe(0)
  })

  it('after_broadcast: it was paid, so nothing is left', async () => {
    expect(await heldBy('after_broadcast')).toBe(0n)
    const answer = await buy(survivor, 'after_broadcast', 'second')
    expect([answer.status, answer.body.check]).toEqual([402, 'balance'])
    expect(fetched('after_broadcast', 'second')).toBe(0)
  })

  it('after_submitted: it is bound while nobody knows, and free as soon as the chain decides', async () => {
    const bound = await buy(survivor, 'after_submitted', 'second')
    expect([bound.status, bound.body.invalid_reason], bound.text).toEqual([402, 'insufficient_funds'])
    expect(bound.body.detail).toMatch(/holds 1000 .* 1000 are bound by 1 of its payments/)
    expect(fetched('after_submitted', 'second')).toBe(0)
    const first = payments.get('after_submitted')!
    const { nonce } = first.payload['authorization'] as { nonce: string }
    await chain.cancelAuthorization(wallets.get('after_submitted')!, nonce)
    // Whoever asks about the payment has its chain asked.
    const asked = await send(survivor, 'after_submitted', 'first', first)
    expect([asked.status, asked.body.invalid_reason]).toEqual([402, 'authorization_canceled'])
    expect((await buy(survivor, 'after_submitted', 'third')).status).toBe(200)
    expect(await heldBy('after_submitted')).toBe(0n)
  })
})
