import { describe, expect, it } from 'vitest'
import { createReadiness, type ReadinessParts, watchAuthority } from '../../../src/app/readiness.ts'
import { KeyServiceError } from '../../../src/egress/authority/key-service.ts'
import { notStored } from '../../../src/egress/authority/service-authority.ts'
import type { Authority } from '../../../src/egress/ports.ts'

const OK = { state: 'ok', detail: 'fine', age_ms: 0 } as const
const WORKING = { isWorking: async () => true }
const FACILITATOR = { state: 'ok' } as const

function readinessOf(parts: Partial<ReadinessParts> = {}) {
  let now = 0
  const readiness = createReadiness({
    store: { health: async () => ({ ok: true }) },
    authority: WORKING,
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
    ['authority', { authority: { isWorking: async () => false } }],
  ] as const)('is not without its %s, and says no more than that', async (part, broken) => {
    const { status, failing } = await readinessOf(broken).readiness.report()
    expect(status).toBe('unready')
    expect(failing).toEqual([{ part, cannot: expect.stringMatching(/^(answer any call|open or store)/) }])
    expect(JSON.stringify(failing)).not.toContain('secret')
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

describe('the watch over a key service', () => {
  const unreachable = new KeyServiceError('unreachable', 'vault', '503')

  function watched() {
    let now = 0
    let failure: Error | undefined
    let wraps = 0
    const answer = async <T>(value: T): Promise<T> => {
      if (failure) throw failure
      return value
    }
    const authority: Authority = {
      current: () => ({ kid: 'k' }),
      unwrap: () => answer(Buffer.alloc(32)),
      wrap: () => {
        wraps++
        return answer({ kid: 'k', enc: '', wrapped: '' })
      },
      rewrap: () => answer({ kid: 'k', enc: '', wrapped: '' }),
      rotate: async () => ({ kid: 'k', previous: [] }),
      drop: async () => {},
    }
    const { watch, authority: used } = watchAuthority(authority, () => now)
    const open = () => used.unwrap({ kid: 'k', enc: '', wrapped: '' }, Buffer.alloc(0)).catch(() => {})
    return {
      watch,
      open,
      fail: (thrown: Error | undefined) => void (failure = thrown),
      wait: (ms: number) => void (now += ms),
      wraps: () => wraps,
    }
  }

  it('fails after a use that failed, asks again by itself only after a while, and is well once that works', async () => {
    const { watch, open, fail, wait, wraps } = watched()
    fail(unreachable)
    await open()
    expect([await watch.isWorking(), wraps()]).toEqual([false, 0])
    wait(5000)
    expect([await watch.isWorking(), wraps()]).toEqual([false, 1])
    expect([await watch.isWorking(), wraps()]).toEqual([false, 1])
    fail(undefined)
    wait(5000)
    expect([await watch.isWorking(), wraps()]).toEqual([true, 2])
  })

  it('hears of a failure that is wrapped in words for the caller', async () => {
    const { watch, open, fail } = watched()
    fail(notStored(unreachable))
    await open()
    expect(await watch.isWorking()).toBe(false)
  })

  it('asks nothing of a service that works, and is not moved by a record that does not open', async () => {
    const { watch, open, fail, wraps } = watched()
    fail(new KeyServiceError('refused', 'vault', 'the record names another key'))
    await open()
    expect([await watch.isWorking(), wraps()]).toEqual([true, 0])
  })
})
