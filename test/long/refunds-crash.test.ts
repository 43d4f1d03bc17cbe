// kill -9 on the way of a refund: whoever starts next finishes it, its payer gets it once, and asking again sends nothing.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadConfig } from '../../src/app/config.ts'
import type { FaultPoint } from '../../src/lib/fault-points.ts'
import { requirementsOf, signPayment, startTestChain, type TestChain, toHeader } from '../support/chain.ts'
import { createWorld, ENGINES, type World } from '../support/gateway.ts'
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts'
import { post } from '../support/paid-tools.ts'
import { queryOf } from '../support/store.ts'

const PATH = '/v1/tools/web.fetch/testnet'
/** How the row stands after the kill, and whether its transfer has left. */
const LEFT_BEHIND = {
  after_refund_recorded: { state: 'recorded', sent: 0 },
  before_broadcast: { state: 'submitted', sent: 0 },
  after_broadcast: { state: 'submitted', sent: 1 },
  after_mined: { state: 'submitted', sent: 1 },
} as const satisfies Partial<Record<FaultPoint, object>>
type Point = keyof typeof LEFT_BEHIND
const POINTS = Object.keys(LEFT_BEHIND) as Point[]
const KEY = `0x${0xeefd_0000_0002n.toString(16).padStart(64, '0')}` as const
const AMOUNT = 700n

interface Place {
  readonly world: World
  readonly claimId: string
  readonly payer: string
  readonly survivor: GatewayProcess
  readonly leftBehind: unknown
}

describe.each(ENGINES)('kill -9 of a refund (%s)', (engine) => {
  let chain: TestChain
  const places = new Map<Point, Place>()

  // Each point has data of its own: whoever starts takes up every refund that is open there.
  beforeAll(async () => {
    chain = await startTestChain(84532)
    await chain.fund(privateKeyToAccount(KEY).address, 1_000_000n)
    for (const [i, point] of POINTS.entries()) places.set(point, await open(point, i))
  }, 1_200_000)
  afterAll(async () => {
    for (const { survivor, world } of places.values()) {
      await survivor.stop()
      await world.close()
    }
    await chain?.close()
  })

  async function open(point: Point, i: number): Promise<Place> {
    const created = await createWorld({ engine, env: chain.env })
    const file = join(created.dataDir, 'refund.key')
    await writeFile(file, KEY, { mode: 0o600 })
    const world = { ...created, env: { ...created.env, GATEWAY_REFUND_KEY_FILE: file } }
    world.upstream.respond((_request, res) => {
      res.writeHead(200, { 'content-type': 'text/plain' }).end('a page')
    })
    const query = queryOf(loadConfig(world.env))
    const wallet = privateKeyToAccount(`0x${(0xdeae_0000_0000n + BigInt(i)).toString(16).padStart(64, '0')}`)
    const payer = wallet.address
    await chain.fund(payer, 1000n)
    const seller = await startGatewayProcess(world)
    const payment = toHeader(await signPayment({ account: wallet, requirements: requirementsOf(chain) }))
    const request = { url: world.url('/page') }
    const answer = await post(seller.baseUrl + PATH, request, { 'payment-signature': payment })
    expect(answer.status, answer.text).toBe(200)
    await seller.stop()
    const [claim] = await query(`SELECT id FROM payment_claims WHERE state = 'settled'`)
    const claimId = String(claim!['id'])

    const victim = await startGatewayProcess(world, { GATEWAY_FAULT: `${point}:kill` })
    await expect(refund(victim, { world, claimId })).rejects.toThrow()
    expect((await victim.process.ended).signal).toBe('SIGKILL')
    const [row] = await query('SELECT state FROM refunds')
    const leftBehind = { state: row?.['state'], sent: await chain.transfersTo(payer) }
    return { world, claimId, payer, survivor: await startGatewayProcess(world), leftBehind }
  }

  const refund = (gateway: GatewayProcess, { world, claimId }: Pick<Place, 'world' | 'claimId'>) =>
    gateway.rest(
      'POST',
      `/v1/payments/${claimId}/refunds`,
      { reason: 'the page was empty', reference: 'ticket 1', amount_atomic: AMOUNT.toString() },
      world.operatorKey,
    )

  it.each(POINTS)('%s: it is finished, once', async (point) => {
    const place = places.get(point)!
    expect(place.leftBehind).toEqual(LEFT_BEHIND[point])
    // Where other replicas may be alive a refund that was sent is left to them for a while.
    const state = async () => (await refund(place.survivor, place)).body.state as string
    await expect.poll(state, { timeout: 110_000, interval: 500 }).toBe('settled')
    const again = await refund(place.survivor, place)
    expect(again.body).toMatchObject({ repeated: true, amount_atomic: '700', failure: null })
    expect(again.body.transaction).toMatch(/^0x[0-9a-f]{64}$/)
    expect(await chain.usdcOf(place.payer)).toBe(AMOUNT)
    expect(await chain.transfersTo(place.payer)).toBe(1)
  })
})
