// Whether anybody can pay, by network: where no facilitator takes a payment, nobody can, however well the chain answers.
import { expect, it } from 'vitest'
import { createLogger } from '../../../src/lib/log.ts'
import type { Upstream } from '../../../src/payments/ports.ts'
import { createRouter } from '../../../src/payments/router.ts'
import { observeParts, type StateParts } from '../../../src/telemetry/observe-state.ts'
import type { Reading, Telemetry } from '../../../src/telemetry/port.ts'
import { exactKind, fakeUpstream, networks, sepolia } from '../../support/payment-fakes.ts'

const BASE = 'eip155:8453'
const BOTH = [exactKind(), exactKind(BASE)]

function watch(
  upstreams: readonly Upstream[],
  { hindered = [], isPaid = true }: { hindered?: readonly string[]; isPaid?: boolean } = {},
) {
  const clock = { at: 1_000_000 }
  const shown = {
    ...networks,
    hindrance: (network: string) => (hindered.includes(network) ? 'its token is not proven' : undefined),
  }
  const router = createRouter({
    upstreams,
    networks: shown,
    now: () => clock.at,
    log: createLogger('silent'),
  })
  let read: () => readonly Reading[] | Promise<readonly Reading[]> = () => []
  const telemetry: Telemetry = {
    add() {},
    record() {},
    observe(name, reader) {
      if (name === 'agent_gateway.payable') read = reader
    },
    tracing: undefined,
  }
  // Nothing else of them is read here.
  const parts = {
    router,
    networks: shown,
    payTo: isPaid ? '0x1' : undefined,
    chains: new Map(),
  } as Partial<StateParts> as StateParts
  observeParts(telemetry, parts)
  return {
    clock,
    router,
    async payable() {
      const readings = await read()
      return Object.fromEntries(
        readings.map(({ value, labels }) => [labels!['agent_gateway.network'], value]),
      )
    },
  }
}

it('is so until a facilitator was asked, and where one takes payments', async () => {
  const upstream = fakeUpstream('a', { kinds: [exactKind()] })
  const { payable, router } = watch([upstream, fakeUpstream('b', { kinds: [exactKind('base')] })])
  expect(await payable()).toEqual({ [sepolia.network]: 1, [BASE]: 1 })
  // A collection asks nobody whom no buyer has asked.
  expect(upstream.asked).toBe(0)
  await router.supported()
  expect(await payable()).toEqual({ [sepolia.network]: 1, [BASE]: 1 })
})

it('ends where no facilitator offers the network, and is asked for again until one does', async () => {
  const upstream = fakeUpstream('a', { kinds: [exactKind(BASE)] })
  const { payable, router, clock } = watch([upstream])
  await router.supported()
  expect(await payable()).toEqual({ [sepolia.network]: 0, [BASE]: 1 })
  upstream.kinds = BOTH
  clock.at += 60_000
  await payable()
  await expect.poll(payable).toEqual({ [sepolia.network]: 1, [BASE]: 1 })
  const { asked } = upstream
  clock.at += 60_000
  await payable()
  expect(upstream.asked).toBe(asked)
})

it('ends everywhere where every facilitator fails', async () => {
  const { payable, router } = watch([
    fakeUpstream('a', { kinds: new Error('away') }),
    fakeUpstream('b', { kinds: new Error('away') }),
  ])
  await router.supported()
  expect(await payable()).toEqual({ [sepolia.network]: 0, [BASE]: 0 })
})

it('ends while the last settlements on the network failed, and on no other', async () => {
  const { payable, router } = watch([fakeUpstream('a', { kinds: BOTH })])
  await router.supported()
  for (let i = 0; i < 3; i++)
    router.report('a', { ok: false, ms: 1, kind: { scheme: 'exact', network: BASE } })
  expect(await payable()).toEqual({ [sepolia.network]: 1, [BASE]: 0 })
})

it('is not so on a chain whose token is not proven, and is no question without facilitators', async () => {
  const upstream = fakeUpstream('a', { kinds: BOTH })
  expect(await watch([upstream], { hindered: [BASE] }).payable()).toEqual({ [sepolia.network]: 1, [BASE]: 0 })
  expect(upstream.asked).toBe(0)
  expect(await watch([]).payable()).toEqual({})
})

it('is looked after without keeping a buyer away once a facilitator is back', async () => {
  const upstream = fakeUpstream('a', { kinds: new Error('away') })
  const { payable, router, clock } = watch([upstream])
  await router.supported()
  for (let scrape = 0; scrape < 120; scrape++) {
    clock.at += 15_000
    expect(await payable()).toEqual({ [sepolia.network]: 0, [BASE]: 0 })
    await router.look()
  }
  expect(upstream.asked).toBeGreaterThan(100)
  upstream.kinds = BOTH
  clock.at += 15_000
  expect(await router.routes({ scheme: 'exact', network: BASE })).toHaveLength(1)
  expect(await payable()).toEqual({ [sepolia.network]: 1, [BASE]: 1 })
})

it('asks for an account out of gas again, though another one pays', async () => {
  const settlers = [{ address: '0x1', network: BASE, state: 'out_of_gas' as const, waiting: 0 }]
  const upstream = fakeUpstream('a', {
    kinds: BOTH,
    settlers: () =>
      settlers.map((one) => ({ ...one, oldest_ms: null, gas_wei: null, settlements_left: null })),
  })
  const { payable, router, clock } = watch([upstream])
  await router.supported()
  clock.at += 60_000
  expect(await payable()).toEqual({ [sepolia.network]: 1, [BASE]: 1 })
  expect(upstream.asked).toBe(2)
})

it('is no question where payments are off', async () => {
  const { payable, router } = watch([fakeUpstream('a', { kinds: [] })], { isPaid: false })
  await router.supported()
  expect(await payable()).toEqual({})
})
