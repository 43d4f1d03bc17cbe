// Who gets a place and when: nobody is forgotten, nobody overtakes, and no place is lost.
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createOwnSemaphores, createSemaphore } from '../../../src/lib/semaphore.ts'

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve))
const microtasks = async () => {
  for (let i = 0; i < 10; i++) await Promise.resolve()
}

describe('a place of a semaphore', () => {
  beforeEach(() => {
    vi.useFakeTimers()
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  it('is handed on in the order of arrival, and free again when nobody waits', async () => {
    const semaphore = createSemaphore(1)
    const release = await semaphore.acquire(1_000)
    const order: string[] = []
    const second = semaphore.acquire(1_000).then((given) => (order.push('second'), given))
    const third = semaphore.acquire(1_000).then((given) => (order.push('third'), given))
    release?.()
    ;(await second)?.()
    ;(await third)?.()
    expect(order).toEqual(['second', 'third'])
    expect(await semaphore.acquire(0)).toBeDefined()
  })

  it('is not given to who waited longer than it may, and not lost by that either', async () => {
    const semaphore = createSemaphore(1)
    const release = await semaphore.acquire(1_000)
    const impatient = semaphore.acquire(10)
    const patient = semaphore.acquire(1_000)
    vi.advanceTimersByTime(10)
    expect(await impatient).toBeUndefined()
    release?.()
    expect(await patient).toBeDefined()
  })
})

describe('work under a semaphore', () => {
  it('has so many under way, and the next one when one of them ended, however it ended', async () => {
    const semaphore = createSemaphore(2)
    const started: number[] = []
    const ends = Array.from({ length: 4 }, () => Promise.withResolvers<number>())
    const results = ends.map(({ promise }, i) =>
      semaphore.run(() => {
        started.push(i)
        return promise
      }),
    )
    await nextTurn()
    expect(started).toEqual([0, 1])
    ends[1]!.reject(new Error('failed'))
    await expect(results[1]).rejects.toThrow('failed')
    await nextTurn()
    expect(started).toEqual([0, 1, 2])
    ends[0]!.resolve(0)
    ends[2]!.resolve(2)
    await nextTurn()
    expect(started).toEqual([0, 1, 2, 3])
    ends[3]!.resolve(3)
    expect(await Promise.all([results[0], results[2], results[3]])).toEqual([0, 2, 3])
  })

  it('never has more under way than it has places, and ends all of them', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 4 }),
        fc.array(fc.record({ rounds: fc.integer({ min: 0, max: 3 }), fails: fc.boolean() }), {
          maxLength: 20,
        }),
        async (places, jobs) => {
          const semaphore = createSemaphore(places)
          let underWay = 0
          let most = 0
          const ended = await Promise.allSettled(
            jobs.map(({ rounds, fails }) =>
              semaphore.run(async () => {
                most = Math.max(most, ++underWay)
                for (let i = 0; i < rounds; i++) await Promise.resolve()
                underWay--
                if (fails) throw new Error('failed')
              }),
            ),
          )
          expect(ended.map(({ status }) => status)).toEqual(
            jobs.map(({ fails }) => (fails ? 'rejected' : 'fulfilled')),
          )
          expect(most).toBeLessThanOrEqual(places)
          // Nothing was kept: as many as ever start at once.
          let started = 0
          const after = Array.from({ length: places }, () => semaphore.run(async () => void started++))
          await microtasks()
          expect(started).toBe(places)
          await Promise.all(after)
        },
      ),
    )
  })
})

describe('places of each owner', () => {
  it('are waited for by that owner alone, in the order of arrival, and given back by work that fails', async () => {
    const places = createOwnSemaphores(2)
    const ends = new Map<string, { resolve: () => void; reject: (reason: Error) => void }>()
    const work = (owner: string, name: string) =>
      places.run(owner, () => new Promise<void>((resolve, reject) => ends.set(name, { resolve, reject })))
    const all = ['a1', 'a2', 'a3', 'a4'].map((name) => work('a', name))
    const other = work('b', 'b1')
    await microtasks()
    expect([...ends.keys()]).toEqual(['a1', 'a2', 'b1'])
    ends.get('b1')!.resolve()
    await other
    const failed = expect(all[0]).rejects.toThrow('it failed')
    ends.get('a1')!.reject(new Error('it failed'))
    await failed
    await microtasks()
    expect([...ends.keys()]).toEqual(['a1', 'a2', 'b1', 'a3'])
    for (const name of ['a2', 'a3']) ends.get(name)!.resolve()
    await Promise.all(all.slice(1, 3))
    await microtasks()
    ends.get('a4')!.resolve()
    await all[3]
    // Forgotten, and as at first.
    void work('a', 'a5')
    void work('a', 'a6')
    void work('a', 'a7')
    await microtasks()
    expect(ends.has('a6')).toBe(true)
    expect(ends.has('a7')).toBe(false)
  })
})
