// What processes tell each other of the limits that they count, through a store that keeps the newest count of each.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createRateLimiter } from '../../../src/core/rate-limit.ts'
import { createRateSharing } from '../../../src/core/rate-sharing.ts'
import { createLogger } from '../../../src/lib/log.ts'
import type { RateCount } from '../../../src/store/ports.ts'

describe('a limit of several processes', () => {
  let rows: Map<string, RateCount & { readonly process: string; readonly endsAt: number }>
  let isAway: boolean
  const asked: number[] = []
  const closes: (() => void)[] = []
  beforeEach(() => {
    vi.useFakeTimers({ now: 1_800_000_000_000 })
    rows = new Map()
    isAway = false
    asked.length = 0
  })
  afterEach(() => {
    for (const close of closes.splice(0)) close()
    vi.useRealTimers()
  })

  function openProcess(process: string, perMinute?: number, limiter = 'calls') {
    const sharing = createRateSharing({
      elapsedMs: () => performance.now(),
      log: createLogger('silent'),
      async exchange(counts) {
        const at = performance.now()
        if (isAway) throw new Error('the store is away')
        asked.push(counts.length)
        for (const count of counts)
          rows.set(`${process} ${count.name}`, { ...count, process, endsAt: at + count.leftMs })
        const names = new Set(counts.map(({ name }) => name))
        return [...rows.values()]
          .filter((row) => row.process !== process && names.has(row.name) && row.endsAt > at)
          .map(({ name, used, endsAt }) => ({ name, used, leftMs: endsAt - at }))
      },
    })
    closes.push(() => sharing.close())
    const { take, isSpent } = createRateLimiter(perMinute, sharing.of(limiter))
    return {
      take: (who = 'caller') => take('tool', who, 10),
      isSpent: (who = 'caller') => isSpent('tool', who, 10),
    }
  }
  const seconds = (count: number) => vi.advanceTimersByTimeAsync(count * 1000)
  async function takeMany(process: ReturnType<typeof openProcess>, count: number): Promise<number> {
    let taken = 0
    for (let i = 0; i < count; i++) if (!(await process.take())!.exceeded) taken++
    return taken
  }

  it('is the limit of one, for who goes from one process to the next', async () => {
    const [one, two] = [openProcess('one'), openProcess('two')]
    expect(await takeMany(one, 6)).toBe(6)
    await seconds(1)
    // The first call at a process is the one by which it hears of the others.
    expect(await two.take()).toMatchObject({ limit: 10, remaining: 9, exceeded: false })
    await seconds(1)
    expect(await two.take()).toMatchObject({ remaining: 2, exceeded: false })
    expect(await takeMany(two, 10)).toBe(2)
    expect(await two.isSpent()).toBe(true)
    await seconds(1)
    await one.take()
    await seconds(1)
    expect(await one.take()).toMatchObject({ remaining: 0, exceeded: true })
    expect(await one.isSpent()).toBe(true)
    expect(await one.isSpent('somebody else')).toBe(false)
  })

  it('begins anew when the windows of the others close, also for who is refused meanwhile', async () => {
    const [one, two] = [openProcess('one'), openProcess('two')]
    await takeMany(one, 10)
    await seconds(50)
    await two.take()
    await seconds(1)
    expect((await two.take())!.exceeded).toBe(true)
    await seconds(10)
    expect((await two.take())!.exceeded).toBe(false)
  })

  it('is counted for each limiter and each caller alone', async () => {
    const [one, two, other] = [openProcess('one'), openProcess('two'), openProcess('two', undefined, 'edge')]
    await takeMany(one, 10)
    await Promise.all([two.take('somebody else'), other.take()])
    await seconds(2)
    expect(await two.take('somebody else')).toMatchObject({ remaining: 8 })
    expect(await other.take()).toMatchObject({ remaining: 8 })
  })

  it('is that of the process alone while the store is away', async () => {
    const [one, two] = [openProcess('one'), openProcess('two')]
    await takeMany(one, 10)
    isAway = true
    await two.take()
    await seconds(3)
    expect((await two.take())!.exceeded).toBe(false)
    isAway = false
    await one.take()
    await two.take()
    await seconds(1)
    await one.take()
    await two.take()
    await seconds(1)
    expect((await two.take())!.exceeded).toBe(true)
  })

  it('tells of two thousand callers at once, and of nobody who did not call', async () => {
    const one = openProcess('one')
    for (let i = 0; i < 2500; i++) await one.take(`caller ${i}`)
    await seconds(1)
    expect(asked).toEqual([2000])
    await seconds(5)
    expect(asked).toEqual([2000, 500])
    expect(JSON.stringify([...rows.keys()])).not.toContain('caller')
  })
})
