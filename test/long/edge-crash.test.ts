// kill -9 of the real server at every step of a call through the edge, then a restart: what the merchant's account paid
// for is what the merchant's own log says, and nothing is sent again.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AttemptRecord } from '../../schemas/egress.ts'
import { EGRESS_POINTS } from '../../src/lib/fault-points.ts'
import { JWS_TYPES, verifyJws } from '../../src/receipts/types.ts'
import { type CrashCase, crashCases, faultOf, isCharged, labelOf } from '../support/crash-cases.ts'
import { createWorld, ENGINES, UPSTREAM_HOST, type World } from '../support/gateway.ts'
import { type GatewayProcess, startGatewayProcess, untilUnlocked } from '../support/gateway-process.ts'

const CREDITS = 100
/** No credential is opened for a merchant. */
const CASES = crashCases(
  ['POST'],
  EGRESS_POINTS.filter((point) => point !== 'after_decrypt'),
)

interface Left {
  readonly attempts: readonly AttemptRecord[]
  readonly spent: number
}

describe.each(ENGINES)('kill -9 in a call through the edge (%s)', (engine) => {
  let world: World
  let survivor: GatewayProcess
  const left = new Map<string, Left>()

  const look = async (gateway: GatewayProcess) => ({
    attempts: (await gateway.rest('GET', '/v1/egress/attempts?limit=100')).body.attempts as AttemptRecord[],
    balance: await gateway.balance(),
  })

  const call = (gateway: GatewayProcess, path: string) =>
    fetch(`${gateway.baseUrl}/edge/${UPSTREAM_HOST}:${world.upstream.port}${path}`, {
      method: 'POST',
      body: 'order',
    })

  beforeAll(async () => {
    world = await createWorld({
      engine,
      nameTtlSeconds: 60,
      env: { GATEWAY_SERVICE_KEY_CREDITS: String(CREDITS) },
    })
    let before: { one: CrashCase; attempts: readonly AttemptRecord[]; balance: number } | undefined
    let published = false

    async function collect(gateway: GatewayProcess): Promise<void> {
      if (!before) return
      const now = await look(gateway)
      left.set(labelOf(before.one), {
        attempts: now.attempts.slice(0, now.attempts.length - before.attempts.length),
        spent: before.balance - now.balance,
      })
    }

    for (const one of CASES) {
      // The process of the next case is the one that recovers from this one.
      const gateway = await startGatewayProcess(world, { GATEWAY_FAULT: faultOf(one) })
      if (!published) {
        const check = async () => (await gateway.rest('POST', '/v1/edge/check', { host: UPSTREAM_HOST })).body
        const { name, expected } = await check()
        world.dns.set(name, { TXT: [expected], ttl: 60 })
        // Also so that the answer before the record is not remembered.
        expect((await check()).authorized).toBe(true)
        published = true
      }
      await collect(gateway)
      if (one.remembered) expect((await call(gateway, '/before')).status).toBe(200)
      before = { one, ...(await look(gateway)) }
      await expect(call(gateway, `/${labelOf(one)}`)).rejects.toThrow()
      expect((await gateway.process.ended).signal).toBe('SIGKILL')
      await untilUnlocked(world)
    }
    survivor = await startGatewayProcess(world)
    await collect(survivor)
  }, 1_200_000)
  afterAll(async () => {
    await survivor?.stop()
    await world?.close()
  })

  const seenByMerchant = (one: CrashCase) =>
    world.upstream.requests.filter(({ target }) => target === `/${labelOf(one)}`)

  it.each(CASES)(
    '$point, name remembered: $remembered: the merchant pays for what it may have got',
    async (one) => {
      const { expected } = one
      const { attempts, spent } = left.get(labelOf(one))!
      const requests = seenByMerchant(one)
      expect(expected.sent).toContain(requests.length)
      expect(attempts.map(({ state }) => state)).toEqual(expected.state === 'none' ? [] : [expected.state])
      expect(spent).toBe(isCharged(one) ? 1 : 0)
      for (const attempt of attempts) {
        expect(attempt).toMatchObject({ credits_charged: spent, method: 'POST' })
        for (const { headers } of requests)
          expect(headers).toContainEqual(['idempotency-key', attempt.idempotency_key])
        if (!isCharged(one)) {
          expect(attempt.receipt_id).toBeNull()
          continue
        }
        const { jws } = (await survivor.rest('GET', `/v1/receipts/${attempt.receipt_id}`, undefined, '')).body
        const jwks = (await survivor.rest('GET', '/.well-known/gateway-egress-key.json', undefined, '')).body
        expect(await verifyJws(jws, jwks, JWS_TYPES.receipt)).toMatchObject({
          ok: true,
          payload: { attempt_id: attempt.attempt_id, state: expected.state, charge: { amount: 1 } },
        })
      }
    },
  )

  it('loses and invents no credit', async () => {
    const { balance, ledger } = (await survivor.rest('GET', '/v1/credits?limit=100')).body
    const entries = (kind: string): { amount: number; reference: string }[] =>
      ledger.filter((entry: { kind: string }) => entry.kind === kind)
    const sum = (kind: string) => entries(kind).reduce((total, { amount }) => total + amount, 0)
    const { attempts } = await look(survivor)
    expect(sum('grant')).toBe(CREDITS)
    expect(balance).toBe(CREDITS + sum('edge') + sum('refund'))
    expect(new Set(entries('edge').map(({ reference }) => reference)).size).toBe(attempts.length)
    expect(-sum('edge') - sum('refund')).toBe(
      CASES.filter(isCharged).length +
        // The calls that went well, so that the name is remembered.
        CASES.filter(({ remembered }) => remembered).length,
    )
  })

  it('sends nothing again, and works on', async () => {
    const before = world.upstream.requests.length
    expect((await call(survivor, '/after')).status).toBe(200)
    expect(world.upstream.requests.length).toBe(before + 1)
  })
})
