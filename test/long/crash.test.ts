// kill -9 of the real server at every step of an attempt, then a restart: what the store says must be what the
// upstream's own log says, and no credit may be lost or invented.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AttemptRecord } from '../../schemas/egress.ts'
import { JWS_TYPES, verifyJws } from '../../src/receipts/types.ts'
import { crashCases, faultOf, isCharged, labelOf, type CrashCase } from '../support/crash-cases.ts'
import { createWorld, ENGINES, type World } from '../support/gateway.ts'
import { type GatewayProcess, startGatewayProcess, untilUnlocked } from '../support/gateway-process.ts'

const CREDITS = 100

const CASES = crashCases(['GET', 'POST'])

describe.each(ENGINES)('kill -9 (%s)', (engine) => {
  let world: World
  let survivor: GatewayProcess
  const found = new Map<string, { attempts: AttemptRecord[]; spent: number }>()

  beforeAll(async () => {
    world = await createWorld({
      engine,
      nameTtlSeconds: 60,
      env: { GATEWAY_SERVICE_KEY_CREDITS: String(CREDITS) },
    })
    let capability: string | undefined
    let before: { label: string; attempts: AttemptRecord[]; balance: number } | undefined

    const observe = async (gateway: GatewayProcess) => {
      const attempts: AttemptRecord[] = (await gateway.rest('GET', '/v1/egress/attempts?limit=100')).body
        .attempts
      const balance = await gateway.balance()
      if (before)
        found.set(before.label, {
          attempts: attempts.slice(0, attempts.length - before.attempts.length),
          spent: before.balance - balance,
        })
      return { attempts, balance }
    }

    for (const one of CASES) {
      const { point, method, remembered } = one
      // The process of the next case is the one that recovers from this one.
      const gateway = await startGatewayProcess(world, {
        GATEWAY_FAULT: faultOf(one),
      })
      const state = await observe(gateway).catch((cause: unknown) => {
        throw new Error(`the process for ${point} ${method} does not answer:\n${gateway.process.stderr()}`, {
          cause,
        })
      })
      capability ??= (await gateway.grant({ capability: { ttl_seconds: 86_400 } })).capability
      let { attempts, balance } = state
      if (remembered) {
        expect((await gateway.fetch(capability, { url: world.url('/before'), method })).status).toBe(200)
        attempts = (await gateway.rest('GET', '/v1/egress/attempts?limit=100')).body.attempts
        balance = await gateway.balance()
      }
      before = { label: labelOf(one), attempts, balance }
      await expect(
        gateway.fetch(capability, { url: world.url(`/${labelOf(one)}`), method }),
      ).rejects.toThrow()
      expect((await gateway.process.ended).signal).toBe('SIGKILL')
      await untilUnlocked(world)
    }
    survivor = await startGatewayProcess(world)
    await observe(survivor)
  }, 600_000)
  afterAll(async () => {
    await survivor?.stop()
    await world?.close()
  })

  const seenByUpstream = (one: CrashCase) =>
    world.upstream.requests.filter(({ target }) => target === `/${labelOf(one)}`)

  it.each(CASES)(
    '$point, $method, name remembered: $remembered: is settled as the upstream saw it',
    async (one) => {
      const { method, expected } = one
      const { attempts, spent } = found.get(labelOf(one))!
      const requests = seenByUpstream(one)
      expect(expected.sent).toContain(requests.length)
      expect(attempts.map(({ state }) => state)).toEqual(expected.state === 'none' ? [] : [expected.state])
      expect(spent).toBe(isCharged(one) ? 1 : 0)
      for (const attempt of attempts) {
        expect(attempt.credits_charged).toBe(spent)
        expect(attempt.idempotency_key === null).toBe(method === 'GET')
        const sentKeys = requests.map(
          ({ headers }) => headers.find(([name]) => name === 'idempotency-key')?.[1],
        )
        if (requests.length > 0) expect(sentKeys).toEqual([attempt.idempotency_key ?? undefined])
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
    const sum = (kind: string) =>
      ledger
        .filter((entry: { kind: string }) => entry.kind === kind)
        .reduce((total: number, entry: { amount: number }) => total + entry.amount, 0)
    expect(sum('grant')).toBe(CREDITS)
    expect(balance).toBe(sum('grant') + sum('egress') + sum('refund'))
    const references = ledger
      .filter((entry: { kind: string }) => entry.kind !== 'grant')
      .map((entry: { kind: string; reference: string }) => `${entry.kind} ${entry.reference}`)
    expect(new Set(references).size).toBe(references.length)
    expect(-sum('egress') - sum('refund')).toBe(
      CASES.filter(isCharged).length +
        // The attempts that went well, so that the name is remembered.
        CASES.filter(({ remembered }) => remembered).length,
    )
  })

  it('resends nothing, and works on', async () => {
    const before = world.upstream.requests.length
    const { capability } = await survivor.grant()
    expect((await survivor.fetch(capability, { url: world.url('/after'), method: 'POST' })).status).toBe(200)
    expect(world.upstream.requests.length).toBe(before + 1)
  })
})
