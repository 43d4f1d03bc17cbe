import { describe, expect, it } from 'vitest'
import type { SettlerState } from '../../../src/payments/ports.ts'
import { ResolveError } from '../../../src/egress/ports.ts'
import { createHealth, observeResolver } from '../../../src/app/health.ts'

const healthyStore = {
  engine: 'sqlite' as const,
  health: async () => ({ ok: true, latencyMs: 0.1234, detail: 'fine' }),
  countOpenClaims: async () => ({ pending: 0, unknown: 2 }),
}

function resolverThat(answer: () => Promise<string[]>) {
  let now = 0
  const resolver = observeResolver({ resolve: answer }, ['192.0.2.53'], () => now)
  return { resolver, wait: (ms: number) => void (now += ms) }
}

describe('the resolver, as health sees it', () => {
  it('is unknown before its first question, and ages after it', async () => {
    const { resolver, wait } = resolverThat(async () => ['192.0.2.1'])
    expect(resolver.state()).toMatchObject({ state: 'unknown', age_ms: null })
    await resolver.resolve('a.example', 1000)
    wait(1500)
    expect(resolver.state()).toMatchObject({ state: 'ok', age_ms: 1500 })
  })

  it.each([
    ['not_found', 'ok'],
    ['timeout', 'failing'],
    ['server_failure', 'failing'],
  ] as const)('after %s is %s', async (reason, state) => {
    const { resolver } = resolverThat(() => Promise.reject(new ResolveError(reason)))
    await expect(resolver.resolve('a.example', 1000)).rejects.toThrow(ResolveError)
    expect(resolver.state().state).toBe(state)
  })
})

const LOCAL = {
  id: 'local',
  url: null,
  state: 'ok',
  detail: 'answers',
  age_ms: 10,
  kinds: [],
  latency_ms: null,
  breaker: 'closed',
} as const

describe('health', () => {
  const health = (
    store: typeof healthyStore,
    mode: 'sandbox' | 'production' = 'sandbox',
    chainState: 'ok' | 'failing' = 'ok',
    settlers: readonly SettlerState[] = [],
  ) =>
    createHealth({
      config: { mode },
      store,
      resolver: resolverThat(async () => []).resolver,
      router: { states: () => [{ ...LOCAL, settlers }] },
      chains: new Map([
        ['eip155:8453', { state: () => ({ state: chainState, detail: 'block 7', age_ms: 40 }) }],
      ]),
      analyser: { load: () => ({ processes: 2, busy: 2, waiting: 5 }) },
      startedAt: 1_000,
      now: () => 62_000,
    }).report()

  it('names the sandbox, versions, uptime and every part', async () => {
    expect(await health(healthyStore)).toMatchObject({
      status: 'ok',
      mode: 'sandbox',
      banner: expect.stringContaining('SANDBOX'),
      uptime_seconds: 61,
      versions: { api: '5.0.2', catalogue: '5.1.0', egress: '1.0.0' },
      store: { engine: 'sqlite', state: 'ok', latency_ms: 0.12 },
      resolver: { state: 'unknown' },
      facilitators: [{ id: 'local', state: 'ok', age_ms: 10 }],
      chains: [{ network: 'eip155:8453', state: 'ok', detail: 'block 7', age_ms: 40 }],
      payments: { pending: 0, unknown: 2 },
      analyses: { processes: 2, busy: 2, waiting: 5 },
    })
    expect(await health(healthyStore, 'production')).toMatchObject({ banner: null })
  })

  it.each([
    ['ok', 'ok'],
    ['low_on_gas', 'ok'],
    ['out_of_gas', 'degraded'],
    ['stuck', 'degraded'],
  ] as const)('shows an account that settles; while one is %s it is %s', async (state, status) => {
    const settler: SettlerState = {
      address: '0x1',
      network: 'eip155:8453',
      state,
      waiting: 1,
      oldest_ms: 5,
      gas_wei: '7',
      settlements_left: 3,
    }
    expect(await health(healthyStore, 'sandbox', 'ok', [settler])).toMatchObject({
      status,
      facilitators: [{ id: 'local', settlers: [settler] }],
    })
  })

  it('is degraded while a chain does not answer', async () => {
    expect(await health(healthyStore, 'sandbox', 'failing')).toMatchObject({ status: 'degraded' })
  })

  it('still answers when the store does not, without repeating what a driver said', async () => {
    const report = await health({
      engine: 'sqlite',
      health: () => Promise.reject(new Error('password=hunter2')),
      countOpenClaims: () => Promise.reject(new Error('password=hunter2')),
    })
    expect(report).toMatchObject({ status: 'degraded', store: { state: 'failing' }, payments: null })
    expect(JSON.stringify(report)).not.toContain('hunter2')
  })
})
