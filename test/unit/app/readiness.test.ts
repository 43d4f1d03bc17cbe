import { describe, expect, it, vi } from 'vitest'
import type { AuthorityState } from '../../../src/app/authority-watch.ts'
import { createReadiness, type ReadinessParts } from '../../../src/app/readiness.ts'

const OK = { state: 'ok', detail: 'fine', age_ms: 0 } as const
const authorityIn = (state: AuthorityState) => ({ look: async () => {}, state: () => state })
const FACILITATOR = { state: 'ok' } as const

function readinessOf(parts: Partial<ReadinessParts> = {}) {
  let now = 0
  const readiness = createReadiness({
    store: { health: async () => ({ ok: true }) },
    authority: authorityIn('working'),
    resolver: { state: () => OK },
    payTo: '0xpayee',
    router: { states: () => [FACILITATOR] },
    chains: new Map(),
    elapsedMs: () => now,
    ...parts,
  })
  return { readiness, wait: (ms: number) => void (now += ms) }
}

describe('readiness', () => {
  it('is ready where everything answers', async () => {
    expect(await readinessOf().readiness.report()).toEqual({ status: 'ready', failing: [], degraded: [] })
  })

  it.each([
    ['database', { store: { health: async () => ({ ok: false }) } }],
    ['database', { store: { health: () => Promise.reject(new Error('postgres://user:secret@db')) } }],
    ['authority', { authority: authorityIn('failing') }],
  ] as const)('is not without its %s, and says no more than that', async (part, broken) => {
    const { status, failing } = await readinessOf(broken).readiness.report()
    expect(status).toBe('unready')
    expect(failing).toEqual([{ part, cannot: expect.stringMatching(/^(answer any call|open or store)/) }])
    expect(JSON.stringify(failing)).not.toContain('secret')
  })

  it('stays ready where the key file cannot be used and what is stored opens', async () => {
    const { readiness } = readinessOf({ authority: authorityIn('file_unusable') })
    expect(await readiness.report()).toEqual({
      status: 'ready',
      failing: [],
      degraded: [{ part: 'authority', cannot: expect.stringMatching(/^store a credential/) }],
    })
  })

  it('names a database that hangs, and not the keys, whose look waits for it', async () => {
    vi.useFakeTimers()
    try {
      const hangs = () => new Promise<never>(() => {})
      const { readiness } = readinessOf({
        store: { health: hangs },
        authority: { ...authorityIn('working'), look: hangs },
      })
      const report = readiness.report()
      await vi.advanceTimersByTimeAsync(2000)
      expect((await report).failing.map(({ part }) => part)).toEqual(['database'])
    } finally {
      vi.useRealTimers()
    }
  })

  it('is not while it drains, at once and whatever it said a moment ago', async () => {
    const { readiness } = readinessOf()
    await readiness.report()
    readiness.drain()
    expect(await readiness.report()).toMatchObject({ status: 'unready', failing: [{ part: 'draining' }] })
  })

  it('stays ready where a chain, a facilitator, a settler or the resolver fails, and names what nobody can do', async () => {
    const { readiness } = readinessOf({
      payTo: undefined,
      resolver: { state: () => ({ ...OK, state: 'failing', detail: '192.0.2.53 is silent' }) },
      router: {
        states: () => [
          {
            state: 'failing',
            settlers: [
              {
                address: '0xSettler',
                network: 'eip155:8453',
                state: 'out_of_gas',
                waiting: 0,
                oldest_ms: null,
                gas_wei: '0',
                settlements_left: 0,
              },
            ],
          },
        ],
      },
      chains: new Map([['eip155:8453', { state: () => ({ ...OK, state: 'failing' as const }) }]]),
    })
    const report = await readiness.report()
    expect(report.status).toBe('ready')
    expect(report.degraded.map(({ part, network }) => (network ? `${part} ${network}` : part))).toEqual([
      'payments',
      'payments',
      'facilitator',
      'settler eip155:8453',
      'chain eip155:8453',
      'resolver',
    ])
    expect(JSON.stringify(report)).not.toMatch(/0xSettler|192\.0\.2/)
  })

  it('asks the database once for many who poll, and again after a second', async () => {
    let asked = 0
    const { readiness, wait } = readinessOf({
      store: {
        async health() {
          asked++
          return { ok: true }
        },
      },
    })
    await Promise.all(Array.from({ length: 50 }, () => readiness.report()))
    wait(999)
    await readiness.report()
    expect(asked).toBe(1)
    wait(1)
    await readiness.report()
    expect(asked).toBe(2)
  })
})
