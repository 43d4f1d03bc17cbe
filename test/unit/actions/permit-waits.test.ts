// Those who wait for people: told by this process at once, by a look at the store otherwise; bounded, and nothing is done while nobody waits.
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createPermitWaits, LOOK_MS, MOST_WAITS } from '../../../src/actions/permit-waits.ts'
import { untilDecided } from '../../../src/actions/until-decided.ts'
import type { PermitLook } from '../../../src/store/ports.ts'

const NOW = 1_800_000_000_000
afterEach(() => vi.useRealTimers())

function open(rows: PermitLook[] = []) {
  const looked: (readonly string[])[] = []
  const warned: unknown[] = []
  let at = NOW
  const said = { rows, fail: false }
  const waits = createPermitWaits({
    store: {
      async lookAtPermits(ids) {
        looked.push(ids)
        if (said.fail) throw new Error('the store is away')
        return said.rows.filter(({ id }) => ids.includes(id))
      },
    },
    log: { warn: (...given: unknown[]) => void warned.push(given) },
    now: () => at,
  })
  return { waits, looked, warned, said, later: (ms: number) => (at += ms) }
}
const pending = (id: string): PermitLook => ({
  id,
  state: 'pending_approval',
  expiresAt: NOW + 60_000,
  decisions: 0,
  isRevoked: false,
})
const permit = (id: string, accountId = 'acct_1') => ({ id, accountId })
const tick = (looks = 1) => vi.advanceTimersByTimeAsync(looks * LOOK_MS)

describe('waits for permits', () => {
  it('ask the store nothing while nobody waits, and once for all who do', async () => {
    vi.useFakeTimers()
    const { waits, looked } = open([pending('pmt_1'), pending('pmt_2')])
    await tick(10)
    expect([looked, vi.getTimerCount()]).toEqual([[], 0])
    const leave = ['pmt_1', 'pmt_1', 'pmt_2'].map((id) => waits.enter(permit(id), { news: () => {} }))
    await tick(2)
    expect(looked).toEqual([
      ['pmt_1', 'pmt_2'],
      ['pmt_1', 'pmt_2'],
    ])
    for (const end of [...leave, ...leave]) end()
    expect([waits.count, vi.getTimerCount()]).toEqual([0, 0])
    await tick(10)
    expect(looked).toHaveLength(2)
  })

  it.each<[string, Partial<PermitLook>, number]>([
    ['is approved', { state: 'ready' }, 0],
    ['has one approval of two', { decisions: 1 }, 0],
    ['loses its mandate or its credential', { isRevoked: true }, 0],
    ['expires', {}, 60_000],
  ])('hear by the look that a permit %s elsewhere', async (_what, changed, ms) => {
    vi.useFakeTimers()
    const { waits, said, later } = open([pending('pmt_1')])
    const news = vi.fn<() => void>()
    waits.enter(permit('pmt_1'), { news })
    await tick(3)
    // The first look tells once, whatever it finds: what it saw before nobody knows.
    expect(news).toHaveBeenCalledTimes(1)
    said.rows = [{ ...pending('pmt_1'), ...changed }]
    later(ms)
    await tick()
    expect(news).toHaveBeenCalledTimes(2)
    said.rows = []
    await tick()
    expect(news).toHaveBeenCalledTimes(3)
  })

  it('go on when the store is away for a while', async () => {
    vi.useFakeTimers()
    const { waits, said, looked, warned } = open([pending('pmt_1')])
    const news = vi.fn<() => void>()
    waits.enter(permit('pmt_1'), { news })
    said.fail = true
    await tick(3)
    expect([looked.length, warned.length]).toEqual([3, 3])
    said.fail = false
    await tick()
    expect(news).toHaveBeenCalledTimes(1)
  })

  it('are bounded for a permit, for an account and over all, and no account has what is left of all', () => {
    const { waits } = open()
    const enter = (id: string, account: string) => waits.enter(permit(id, account), { news: () => {} })
    const entered = (count: number, account: string) => {
      let got = 0
      try {
        for (; got < count; got++) enter(`pmt_${account}_${Math.floor(got / MOST_WAITS.perPermit)}`, account)
      } catch (thrown) {
        expect(thrown).toMatchObject({ code: 'rate_limited', extras: { retry_after_seconds: 5 } })
      }
      return got
    }
    for (let at = 0; at < MOST_WAITS.perPermit; at++) enter('pmt_one', 'one')
    expect(() => enter('pmt_one', 'one')).toThrow(/one permit/)
    const had = Array.from({ length: 1000 }, (_, at) => entered(5000, `acct_${at}`))
    expect(had[0]).toBe(MOST_WAITS.perAccount)
    expect(Math.max(...had)).toBe(MOST_WAITS.perAccount)
    expect(waits.count).toBeLessThanOrEqual(MOST_WAITS.all)
    expect(waits.count).toBeGreaterThan(MOST_WAITS.all * 0.9)
  })
})

describe('one wait', () => {
  const wait = (seconds: number, gone = new AbortController()) => ({
    seconds,
    signal: () => gone.signal,
    report: () => {},
  })

  it('loses no decision between its look at the permit and its sleep', async () => {
    const { waits } = open()
    let looks = 0
    const waited = untilDecided(waits, permit('pmt_1'), wait(300), async () => {
      // It is decided while the row, as it was before, is on its way.
      if (++looks === 1) waits.changed('pmt_1')
      return looks === 1
    })
    expect([await waited, looks, waits.count]).toEqual([false, 2, 0])
  })

  it('ends with its time, its caller, and the gateway, and leaves nothing', async () => {
    vi.useFakeTimers()
    const { waits } = open([pending('pmt_1')])
    const gone = new AbortController()
    const begin = (seconds: number, its = gone) =>
      untilDecided(waits, permit('pmt_1'), wait(seconds, its), async () => true)
    const short = begin(1, new AbortController())
    const aborted = begin(300)
    const drained = begin(300, new AbortController())
    await vi.advanceTimersByTimeAsync(1001)
    expect(await short).toBe(true)
    gone.abort()
    expect(await aborted).toBe(true)
    waits.close()
    expect([await drained, waits.count, vi.getTimerCount()]).toEqual([true, 0, 0])
    expect(await begin(300, new AbortController())).toBe(true)
  })

  it('gives signs of life while nothing happens', async () => {
    vi.useFakeTimers()
    const { waits } = open([pending('pmt_1')])
    const reports: unknown[] = []
    const gone = new AbortController()
    const waited = untilDecided(
      waits,
      permit('pmt_1'),
      { ...wait(300, gone), report: (report) => void reports.push(report) },
      async () => true,
    )
    await tick(11)
    gone.abort()
    await waited
    expect(reports.at(-1)).toMatchObject({ done: 20, total: 300, waitsFor: 'approval' })
  })
})
