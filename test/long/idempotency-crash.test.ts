// kill -9 of the real server at every step of a call under an idempotency key, then a restart and the same call again: what was
// refunded is sent now, what may have left is never sent again, and what was answered is answered again. One debit in any case.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type CrashCase, crashCases, faultOf, labelOf } from '../support/crash-cases.ts'
import { createWorld, ENGINES, type RestAnswer, type World } from '../support/gateway.ts'
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts'

const CASES = crashCases(['POST'])

interface Found {
  readonly again: RestAnswer
  readonly once: RestAnswer
  readonly spent: number
}

describe.each(ENGINES)('a repeat after kill -9 (%s)', (engine) => {
  let world: World
  const found = new Map<string, Found>()

  beforeAll(async () => {
    world = await createWorld({ engine, nameTtlSeconds: 60, env: { GATEWAY_SERVICE_KEY_CREDITS: '1000' } })
    let capability: string | undefined
    let last: { readonly one: CrashCase; readonly key: string; readonly balance: number } | undefined
    const call = (gateway: GatewayProcess, one: CrashCase, key: string) =>
      gateway.fetch(capability ?? '', {
        url: world.url(`/${labelOf(one)}`),
        method: 'POST',
        body: 'pay once',
        idempotency_key: key,
      })

    for (const one of [...CASES, undefined]) {
      // The process of the next case is the one that is asked again after this one.
      const gateway = await startGatewayProcess(world)
      capability ??= (await gateway.grant({ capability: { ttl_seconds: 86_400 } })).capability
      if (last) {
        const again = await call(gateway, last.one, last.key)
        const once = await call(gateway, last.one, last.key)
        found.set(labelOf(last.one), { again, once, spent: last.balance - (await gateway.balance()) })
      }
      const balance = await gateway.balance()
      await gateway.stop()
      if (!one) break
      const doomed = await startGatewayProcess(world, { GATEWAY_FAULT: faultOf(one) })
      let spentBefore = 0
      if (one.remembered) {
        expect((await doomed.fetch(capability, { url: world.url('/before') })).status).toBe(200)
        spentBefore = 1
      }
      const key = randomUUID()
      await expect(call(doomed, one, key)).rejects.toThrow()
      expect((await doomed.process.ended).signal).toBe('SIGKILL')
      last = { one, key, balance: balance - spentBefore }
    }
  }, 900_000)
  afterAll(() => world?.close())

  it.each(CASES)('$point, name remembered: $remembered', (one) => {
    const result = found.get(labelOf(one))
    if (!result) throw new Error('the case was not run')
    const { again, once, spent } = result
    const requests = world.upstream.requests.filter(({ target }) => target === `/${labelOf(one)}`)
    expect(spent).toBe(1)
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
