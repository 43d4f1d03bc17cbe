// A day of addresses, taken from the store in portions: never more than the limit, and to the last one.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createQuota } from '../../../src/email/quota.ts'

const MIDNIGHT = Date.UTC(2026, 10, 22)
const TEN_PAST = Date.UTC(2026, 10, 21, 0, 10)

/** As the store counts: all or nothing, up to the limit. */
function createCounter() {
  const used = new Map<string, number>()
  let writes = 0
  return {
    used,
    writes: () => writes,
    async takeEmailQuota(input: { keyId: string; day: string; count: number; limit: number }) {
      writes++
      await Promise.resolve()
      const key = `${input.keyId} ${input.day}`
      const before = used.get(key) ?? 0
      if (before + input.count > input.limit) return { ok: false, used: before }
      used.set(key, before + input.count)
      return { ok: true, used: before + input.count }
    },
    async returnEmailQuota(input: { keyId: string; day: string; count: number }) {
      const key = `${input.keyId} ${input.day}`
      used.set(key, (used.get(key) ?? 0) - input.count)
    },
  }
}

describe('a quota', () => {
  it('can be used up one by one, exactly, with far fewer writes', async () => {
    const store = createCounter()
    const quota = createQuota({ store, limit: 1000, now: () => TEN_PAST })
    for (let left = 999; left >= 0; left--)
      expect(await quota.take('ek_1', 1)).toMatchObject({ exceeded: false, remaining: left })
    expect(await quota.take('ek_1', 1)).toEqual({
      name: 'daily',
      windowSeconds: 86_400,
      limit: 1000,
      remaining: 0,
      resetSeconds: (23 * 60 + 50) * 60,
      exceeded: true,
    })
    expect(store.writes()).toBeLessThan(100)
  })

  it('refuses what does not fit whole, and still grants what fits', async () => {
    const store = createCounter()
    const quota = createQuota({ store, limit: 100, now: () => TEN_PAST })
    await quota.take('ek_1', 60)
    expect(await quota.take('ek_1', 41)).toMatchObject({ exceeded: true, remaining: 40 })
    expect(await quota.take('ek_1', 40)).toMatchObject({ exceeded: false, remaining: 0 })
    expect(await quota.take('ek_2', 100)).toMatchObject({ exceeded: false })
  })

  it('begins anew at midnight, UTC', async () => {
    let now = MIDNIGHT - 1
    const quota = createQuota({ store: createCounter(), limit: 5, now: () => now })
    await quota.take('ek_1', 5)
    expect(await quota.take('ek_1', 1)).toMatchObject({ exceeded: true, resetSeconds: 1 })
    now = MIDNIGHT
    expect(await quota.take('ek_1', 5)).toMatchObject({ exceeded: false, remaining: 0, resetSeconds: 86_400 })
  })

  it('gives back what is held of a key that rests, and everything at the end', async () => {
    const store = createCounter()
    const quota = createQuota({ store, limit: 1000, now: () => TEN_PAST })
    const usedOf = (key: string) => store.used.get(`${key} 2026-11-21`)
    await quota.take('ek_1', 1)
    expect(usedOf('ek_1')).toBeGreaterThan(1)
    await quota.settle()
    expect(usedOf('ek_1')).toBeGreaterThan(1)
    await quota.take('ek_2', 2)
    await quota.settle()
    expect(usedOf('ek_1')).toBe(1)
    expect(usedOf('ek_2')).toBeGreaterThan(2)
    await quota.settle('all')
    expect(usedOf('ek_2')).toBe(2)
    expect(await quota.take('ek_1', 1)).toMatchObject({ remaining: 998 })
  })

  it('is never exceeded by several processes, whatever they ask for at once', async () => {
    const asks = fc.array(fc.tuple(fc.nat({ max: 2 }), fc.integer({ min: 1, max: 30 })), { maxLength: 60 })
    await fc.assert(
      fc.asyncProperty(asks, fc.integer({ min: 1, max: 300 }), async (list, limit) => {
        const store = createCounter()
        const processes = [0, 1, 2].map(() => createQuota({ store, limit, now: () => TEN_PAST }))
        const states = await Promise.all(list.map(([i, count]) => processes[i]!.take('ek_1', count)))
        const granted = list.reduce((sum, [, count], i) => sum + (states[i]!.exceeded ? 0 : count), 0)
        expect(granted).toBeLessThanOrEqual(limit)
        for (const each of processes) await each.settle('all')
        expect(store.used.get('ek_1 2026-11-21') ?? 0).toBe(granted)
      }),
    )
  })

  it('asks again after the store failed', async () => {
    const store = createCounter()
    let isDown = true
    const quota = createQuota({
      store: {
        ...store,
        takeEmailQuota: (input) => (isDown ? Promise.reject(new Error('down')) : store.takeEmailQuota(input)),
      },
      limit: 10,
      now: () => TEN_PAST,
    })
    await expect(quota.take('ek_1', 1)).rejects.toThrow('down')
    isDown = false
    expect(await quota.take('ek_1', 1)).toMatchObject({ exceeded: false, remaining: 9 })
  })
})
