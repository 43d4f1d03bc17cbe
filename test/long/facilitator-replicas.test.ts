// Several gateways on one PostgreSQL: a payment that reaches all of them at once is settled by one.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { packAuthorizationState } from '../../src/payments/adapters/usdc-abi.ts'
import { requirementsOf, signPayment, startTestChain, type TestChain } from '../support/chain.ts'
import { createWorld, startTestGateway, type TestGateway, type World } from '../support/gateway.ts'

const SELLER = '0x0000000000000000000000000000000000C0FFEE'

let chain: TestChain
let world: World
let gateways: TestGateway[]
beforeAll(async () => {
  chain = await startTestChain(84532)
  world = await createWorld({
    engine: 'postgres',
    env: { ...chain.env, GATEWAY_RPC_8453: 'http://127.0.0.1:1', GATEWAY_SETTLE_FREE_ALLOWANCE: '2' },
  })
  gateways = [await startTestGateway({ world }), await startTestGateway({ world })]
})
afterAll(async () => {
  await Promise.all(gateways.map((gateway) => gateway.close()))
  await world.close()
  await chain.close()
})

const settle = async (body: unknown, copies: number) =>
  (
    await Promise.all(
      Array.from({ length: copies }, (_, i) => gateways[i % 2]!.rest('POST', '/settle', body, '')),
    )
  ).toSorted((a, b) => a.status - b.status)
interface Authorization {
  readonly from: string
  readonly nonce: string
}
async function isUsed({ from, nonce }: Authorization): Promise<boolean> {
  const call = { to: chain.network.asset.address, data: packAuthorizationState(from, nonce) }
  return BigInt((await chain.rpc('eth_call', [call, 'latest'])) as string) !== 0n
}
async function makeBody() {
  const requirements = { ...requirementsOf(chain, '1000'), payTo: SELLER }
  const paymentPayload = await signPayment({ account: chain.payers[0]!, requirements })
  return { x402Version: 2, paymentPayload, paymentRequirements: requirements }
}

it('of copies sent to both, one is settled, the others name its claim, and the allowance is used once', async () => {
  const before = await chain.transfersTo(SELLER)
  const [won, ...others] = await settle(await makeBody(), 32)
  expect(won!.status).toBe(200)
  for (const { status, body } of others)
    expect([status, body.code, body.claim_id]).toEqual([400, 'settlement_replayed', won!.body.extra.claim_id])
  expect((await chain.transfersTo(SELLER)) - before).toBe(1)
  expect((await settle(await makeBody(), 1))[0]!.status).toBe(200)
  expect((await settle(await makeBody(), 1))[0]!.status).toBe(402)
})

// An account has one sequence of nonces, so replicas should have a settler each; where they share one, some lose.
it('different payments to both at once, with one settler between them, are settled once or not known', async () => {
  const bodies = await Promise.all(Array.from({ length: 12 }, () => makeBody()))
  const before = await chain.transfersTo(SELLER)
  const answers = await Promise.all(bodies.map((body, i) => gateways[i % 2]!.rest('POST', '/settle', body)))
  const settled = answers.filter(({ status }) => status === 200)
  const unknown = answers.filter(({ body }) => body.code === 'settlement_unknown')
  expect(settled.length).toBeGreaterThan(0)
  expect(settled.length + unknown.length).toBe(12)
  expect(new Set(settled.map(({ body }) => body.transaction)).size).toBe(settled.length)
  // The settler looks after what is not known yet, and may bring it to its end: then its authorization is used.
  const used = async () => {
    const nonces = bodies.map(
      ({ paymentPayload }) => paymentPayload.payload['authorization'] as Authorization,
    )
    const areUsed = await Promise.all(nonces.map(isUsed))
    return areUsed.flatMap((is, i) => (is ? [i] : []))
  }
  expect(await used()).toEqual(
    expect.arrayContaining(answers.flatMap(({ status }, i) => (status === 200 ? [i] : []))),
  )
  await expect.poll(async () => (await chain.transfersTo(SELLER)) - before - (await used()).length).toBe(0)
})
