// kill -9 of the real server at every step of a call under an idempotency key, then a restart and the same call again: what was
// refunded is sent now, what may have left is never sent again, and what was answered is answered again. One debit in any case.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type CrashCase, crashCases, faultOf, isCharged, labelOf } from '../support/crash-cases.ts'
import { createWorld, ENGINES, type RestAnswer, type World } from '../support/gateway.ts'
import { type GatewayProcess, startGatewayProcess, untilUnlocked } from '../support/gateway-process.ts'

const CASES = crashCases(['POST'])

interface Found {
  readonly again: RestAnswer
  readonly once: RestAnswer
  /** By the call that died, and by those after it. */
  readonly spent: readonly [died: number, repeated: number]
}

describe.each(ENGINES)('a repeat after kill -9 (%s)', (engine) => {
  let world: World
  let gateway: GatewayProcess | undefined
  const found = new Map<string, Found>()

  beforeAll(async () => {
    world = await createWorld({ engine, nameTtlSeconds: 60, env: { GATEWAY_SERVICE_KEY_CREDITS: '1000' } })
    let capability = ''
    const call = (one: CrashCase, key: string) =>
      gateway!.fetch(capability, {
        url: world.url(`/${labelOf(one)}`),
        method: 'POST',
        body: 'pay once',
        idempotency_key: key,
      })

    // Each process recovers from the one before it and dies in its own case; the last one is asked again after all of them.
    const died: { readonly one: CrashCase; readonly key: string; readonly before: number; after: number }[] =
      []
    for (const one of CASES) {
      gateway = await startGatewayProcess(world, { GATEWAY_FAULT: faultOf(one) })
      if (died.length > 0) died.at(-1)!.after = await gateway.balance()
      else capability = (await gateway.grant({ capability: { ttl_seconds: 86_400 } })).capability
      if (one.remembered) {
        const before = await gateway.fetch(capability, { url: world.url('/before') })
        expect(before.status, before.text).toBe(200)
      }
      const key = randomUUID()
      died.push({ one, key, before: await gateway.balance(), after: Number.NaN })
      await expect(call(one, key)).rejects.toThrow()
      expect((await gateway.process.ended).signal).toBe('SIGKILL')
      await untilUnlocked(world)
    }
    gateway = await startGatewayProcess(world)
    died.at(-1)!.after = await gateway.balance()
    for (const { one, key, before, after } of died) {
      const start = await gateway.balance()
      const again = await call(one, key)
      const once = await call(one, key)
      found.set(labelOf(one), {
        again,
        once,
        spent: [before - after, start - (await gateway.balance())],
      })
    }
  }, 1_200_000)
  afterAll(async () => {
    await gateway?.stop()
    await world?.close()
  })

  it.each(CASES)('$point, name remembered: $remembered', (one) => {
    const result = found.get(labelOf(one))
    if (!result) throw new Error('the case was not run')
    const { again, once, spent } = result
    const requests = world.upstream.requests.filter(({ target }) => target === `/${labelOf(one)}`)
    expect(spent).toEqual(isCharged(one) ? [1, 0] : [0, 1])
    switch (one.expected.state) {
      case 'none':
      case 'refunded':
        expect(again, again.text).toMatchObject({ status: 200, body: { credits: { charged: 1 } } })
        expect(again.body.replayed).toBeUndefined()
        expect(once.body).toMatchObject({ attempt_id: again.body.attempt_id, replayed: true })
        expect(requests).toHaveLength(1)
        break
      case 'ambiguous':
        for (const { status, body } of [again, once])
          expect({ status, body }).toMatchObject({
            status: 503,
            body: { code: 'outcome_ambiguous', credits: { charged: 0 }, replayed: true },
          })
        expect(one.expected.sent).toContain(requests.length)
        break
      case 'settled':
        for (const { status, body } of [again, once])
          expect({ status, body }).toMatchObject({
            status: 200,
            body: { upstream: { status: 200, body: '{"ok":true}' }, credits: { charged: 0 }, replayed: true },
          })
        expect(requests).toHaveLength(1)
    }
    expect(
      new Set(requests.map(({ headers }) => headers.find(([name]) => name === 'idempotency-key')?.[1])).size,
    ).toBe(requests.length === 0 ? 0 : 1)
  })
})
