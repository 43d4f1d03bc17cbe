import { describe, expect, it } from 'vitest'
import { createLogger } from '../../../src/lib/log.ts'
import type { Upstream } from '../../../src/payments/ports.ts'
import { createRouter } from '../../../src/payments/router.ts'
import { exactKind, fakeUpstream, networks, sepolia, SOLANA } from '../../support/payment-fakes.ts'

const EXACT = { scheme: 'exact', network: sepolia.network }

async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve))
}

function setUp(...upstreams: Upstream[]) {
  const clock = { at: 1_000_000 }
  const router = createRouter({ upstreams, networks, now: () => clock.at, log: createLogger('silent') })
  const ids = async (selector = EXACT) => (await router.routes(selector)).map(({ upstream }) => upstream.id)
  const fail = (id: string, times = 3, kind?: typeof EXACT) => {
    for (let i = 0; i < times; i++) router.report(id, { ok: false, ms: 1, kind })
  }
  return { router, clock, ids, fail }
}

describe('routes', () => {
  it('come cheapest first, then fastest, then those nobody has tried', async () => {
    const { router, ids, clock } = setUp(
      fakeUpstream('dear', { feeAtomic: 5n }),
      fakeUpstream('untried'),
      fakeUpstream('slow'),
      fakeUpstream('fast'),
    )
    await router.supported()
    router.report('dear', { ok: true, ms: 1 })
    for (let i = 0; i < 40; i++) {
      router.report('slow', { ok: true, ms: 900 })
      router.report('fast', { ok: true, ms: 100 })
      router.report('untried', { ok: true, ms: 950 })
    }
    clock.at += 1
    expect(await ids()).toEqual(['fast', 'slow', 'untried', 'dear'])
  })

  it('go on where too much waits to be sent, while nothing more is offered there', async () => {
    let isBusy = true
    const upstream = {
      ...fakeUpstream('a'),
      isBusy: (network: string) => isBusy && network === sepolia.network,
    }
    const { router, ids } = setUp(upstream)
    expect(await ids()).toEqual(['a'])
    // Sellers ask once, when they start.
    expect((await router.supported()).kinds).toEqual([exactKind()])
    expect(router.states()).toMatchObject([
      { state: 'ok', kinds: [], detail: expect.stringContaining(`more to send on ${sepolia.network}`) },
    ])
    isBusy = false
    expect(router.states()).toMatchObject([{ kinds: [exactKind()] }])
  })

  it('lead only to those that take the scheme and the network', async () => {
    const { ids } = setUp(
      fakeUpstream('a', { kinds: [exactKind('eip155:8453')] }),
      fakeUpstream('b', { kinds: [{ ...exactKind(), scheme: 'upto' }] }),
      fakeUpstream('c'),
    )
    expect(await ids()).toEqual(['c'])
    expect(await ids({ scheme: 'exact', network: 'eip155:8453' })).toEqual(['a'])
    expect(await ids({ scheme: 'exact', network: 'eip155:10' })).toEqual([])
  })

  it('offer on our own chains only what is checked here, and on others what an upstream says', async () => {
    const upto = { ...exactKind(), scheme: 'upto' }
    const svm = { ...exactKind(SOLANA), scheme: 'upto' }
    const { router, ids } = setUp(fakeUpstream('a', { kinds: [exactKind(), upto, svm] }))
    expect((await router.supported()).kinds).toEqual([exactKind(), svm])
    expect(await ids({ scheme: 'upto', network: 'eip155:84532' })).toEqual([])
    expect(await ids({ scheme: 'upto', network: SOLANA })).toEqual(['a'])
  })

  it('prefer the version of the payment and take another one otherwise', async () => {
    const v1 = { x402Version: 1, scheme: 'exact', network: 'base-sepolia' }
    const { router } = setUp(fakeUpstream('both', { kinds: [exactKind(), v1] }))
    const versionFor = async (x402Version?: number) =>
      (await router.routes({ ...EXACT, x402Version }))[0]?.kind.x402Version
    expect([await versionFor(1), await versionFor(2), await versionFor(undefined)]).toEqual([1, 2, 2])
    const old = setUp(fakeUpstream('old', { kinds: [v1] }))
    expect((await old.router.routes({ ...EXACT, x402Version: 2 }))[0]?.kind).toEqual(v1)
  })

  it('leave out EVM chains that are not ours, and pass Solana on', async () => {
    const { router, ids } = setUp(
      fakeUpstream('a', { kinds: [exactKind('eip155:1'), exactKind(SOLANA), exactKind('stellar:pubnet')] }),
    )
    expect((await router.supported()).kinds).toEqual([exactKind(SOLANA)])
    expect(await ids({ scheme: 'exact', network: 'eip155:1' })).toEqual([])
    expect(await ids({ scheme: 'exact', network: SOLANA })).toEqual(['a'])
  })

  it('do not lead to one that does not say what it takes, until it does again', async () => {
    const sick = fakeUpstream('sick', { kinds: new Error('down') })
    const { ids, clock, router } = setUp(sick, fakeUpstream('well'))
    expect(await ids()).toEqual(['well'])
    expect(router.states().map(({ state }) => state)).toEqual(['failing', 'ok'])
    sick.kinds = [exactKind()]
    clock.at += 2_999
    expect(await ids()).toEqual(['well'])
    clock.at += 1
    expect(await ids()).toEqual(['sick', 'well'])
  })

  describe('beside one that serves', () => {
    const never = () => new Promise<never>(() => {})

    it('wait for nobody who hangs, not even the first time', async () => {
      const { ids } = setUp(fakeUpstream('hangs', { supported: never }), fakeUpstream('well'))
      expect(await ids()).toEqual(['well'])
      expect(await ids()).toEqual(['well'])
    })

    it('do not wait at all for one that failed the last time', async () => {
      const sick = fakeUpstream('sick', { kinds: new Error('down') })
      const { ids, router, clock } = setUp(sick, fakeUpstream('well'))
      await ids()
      sick.supported = never
      clock.at += 3_000
      const found = await Promise.race([ids(), turns(20).then(() => 'waited')])
      expect(found).toEqual(['well'])
      expect((await router.supported()).kinds).toEqual([exactKind()])
    })

    it('wait a moment for one that may be cheaper', async () => {
      const dear = fakeUpstream('dear', { feeAtomic: 5n })
      const slow = fakeUpstream('slow')
      const answer = slow.supported
      slow.supported = async (deadlineMs) => {
        await turns(20)
        return answer(deadlineMs)
      }
      const { ids, clock } = setUp(dear, slow)
      expect(await ids()).toEqual(['slow', 'dear'])
      clock.at += 60_000
      expect(await ids()).toEqual(['slow', 'dear'])
    })
  })

  it('do not lead to one whose last three calls failed; later the others come first', async () => {
    const { ids, fail, clock, router } = setUp(fakeUpstream('a'), fakeUpstream('b'))
    await ids()
    fail('a', 2, EXACT)
    expect(await ids()).toEqual(['a', 'b'])
    fail('a', 1, EXACT)
    expect(await ids()).toEqual(['b'])
    clock.at += 5_000
    expect(await ids()).toEqual(['b', 'a'])
    fail('a', 1, EXACT)
    expect(await ids()).toEqual(['b'])
    clock.at += 10_000
    expect(await ids()).toEqual(['b', 'a'])
    router.report('a', { ok: true, ms: 1, kind: EXACT })
    expect((await ids()).toSorted()).toEqual(['a', 'b'])
  })

  it('judge every kind on its own', async () => {
    const { ids, fail, router } = setUp(fakeUpstream('a', { kinds: [exactKind(), exactKind('eip155:8453')] }))
    await ids()
    fail('a', 3, EXACT)
    expect(await ids()).toEqual([])
    expect(await ids({ scheme: 'exact', network: 'eip155:8453' })).toEqual(['a'])
    expect((await router.supported()).kinds).toEqual([exactKind('eip155:8453')])
    expect(router.states()[0]).toMatchObject({
      state: 'failing',
      breaker: 'open',
      kinds: [exactKind('eip155:8453')],
    })
  })

  it('know a network of v1 by its name in reports', async () => {
    const { ids, fail } = setUp(fakeUpstream('a'))
    await ids()
    fail('a', 3, { scheme: 'exact', network: 'base-sepolia' })
    expect(await ids()).toEqual([])
  })
})

describe('what is supported', () => {
  it('leaves out nobody who may be well for being slow', async () => {
    const slow = fakeUpstream('slow', { kinds: [exactKind(SOLANA)] })
    const answer = slow.supported
    let release = () => {}
    slow.supported = async (deadlineMs) => {
      await new Promise<void>((resolve) => (release = resolve))
      return answer(deadlineMs)
    }
    const { router } = setUp(fakeUpstream('fast'), slow)
    const supported = router.supported()
    // Longer than a buyer's payment waits for company.
    await new Promise((resolve) => setTimeout(resolve, 2_200))
    release()
    expect((await supported).kinds).toEqual([exactKind(), exactKind(SOLANA)])
  })

  it('is the union over live facilitators, each kind once, signers of a family together', async () => {
    const { router } = setUp(
      fakeUpstream('a', { kinds: [{ ...exactKind(), extra: { first: true } }] }),
      fakeUpstream('b', { kinds: [exactKind(), exactKind('eip155:8453')] }),
      fakeUpstream('dead', { kinds: new Error('down') }),
    )
    expect(await router.supported()).toEqual({
      kinds: [{ ...exactKind(), extra: { first: true } }, exactKind('eip155:8453')],
      extensions: ['bazaar'],
      signers: { 'eip155:*': ['0xa', '0xb'] },
    })
  })

  it('is asked once for many questions at the same time, and again after 30 s', async () => {
    const upstream = fakeUpstream('a')
    const { router, clock } = setUp(upstream)
    await Promise.all([router.supported(), router.routes(EXACT), router.supported()])
    clock.at += 29_999
    await router.supported()
    expect(upstream.asked).toBe(1)
    clock.at += 1
    await router.supported()
    expect(upstream.asked).toBe(2)
  })

  it('is answered from before while a new answer is on its way, for half a minute', async () => {
    const upstream = fakeUpstream('a')
    const { router, clock } = setUp(upstream)
    await router.supported()
    const never = fakeUpstream('a', { supported: () => new Promise(() => {}) })
    Object.assign(upstream, { supported: never.supported })
    clock.at += 59_999
    expect((await router.supported()).kinds).toHaveLength(1)
  })

  it('does not ask one that keeps failing before its breaker lets it', async () => {
    const upstream = fakeUpstream('a', { kinds: new Error('down') })
    const { router, clock } = setUp(upstream)
    for (let i = 0; i < 3; i++) {
      await router.supported()
      clock.at += 3_000
    }
    expect(upstream.asked).toBe(3)
    clock.at -= 1_001
    await router.supported()
    expect(upstream.asked).toBe(3)
    clock.at += 3_001
    await router.supported()
    expect(upstream.asked).toBe(4)
  })
})

it('names the accounts of the facilitator in this process, and what is wrong with one', async () => {
  const settlers = (['ok', 'unknown', 'low_on_gas', 'out_of_gas', 'stuck'] as const).map((state, i) => ({
    address: `0x${i}`,
    network: 'eip155:84532',
    state,
    waiting: 0,
    oldest_ms: null,
    gas_wei: null,
    settlements_left: null,
  }))
  const upstream = fakeUpstream('a', { settlers: () => settlers })
  const { router, clock } = setUp(upstream)
  await router.supported()
  const troubles =
    '0x2 on eip155:84532 is low on gas; 0x3 on eip155:84532 is out of gas; ' +
    '0x4 on eip155:84532 waits for a transaction that is not mined'
  expect(router.states()).toMatchObject([
    { state: 'ok', detail: `takes 1 kinds of payment; ${troubles}`, settlers },
  ])
  upstream.kinds = new Error('no chain answers')
  clock.at += 60_000
  await router.supported()
  expect(router.states()).toMatchObject([
    { state: 'failing', detail: `does not say what it takes; ${troubles}`, settlers },
  ])
})

it('says nothing about a facilitator that nobody asked yet, and asks none to say so', () => {
  const upstream = fakeUpstream('a')
  const { router } = setUp(upstream)
  expect(router.states()).toEqual([
    {
      id: 'a',
      url: 'https://a',
      state: 'unknown',
      detail: 'not asked yet',
      age_ms: null,
      kinds: [],
      latency_ms: null,
      breaker: 'closed',
    },
  ])
  expect(upstream.asked).toBe(0)
})
