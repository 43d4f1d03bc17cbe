// Spreading work over turns of the event loop: who comes through when, and that nobody is forgotten.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createLane, createTurns } from '../../../src/lib/scheduler.ts'

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve))
const microtasks = async () => {
  for (let i = 0; i < 10; i++) await Promise.resolve()
}

/** Takes `count` turns at the same moment; says after each round of the loop who came through. */
async function takeAtOnce(perTurn: number, count: number): Promise<number[][]> {
  const turns = createTurns(perTurn)
  let through: number[] = []
  for (let i = 0; i < count; i++) void turns.take().then(() => through.push(i))
  const rounds: number[][] = []
  await microtasks()
  for (let left = count; left > 0;) {
    rounds.push(through)
    left -= through.length
    through = []
    await nextTurn()
    await microtasks()
  }
  return rounds
}

describe('turns', () => {
  it('lets so many through at once and the others in the next rounds, in their order', async () => {
    expect(await takeAtOnce(2, 5)).toEqual([[0, 1], [2, 3], [4]])
    expect(await takeAtOnce(1, 3)).toEqual([[0], [1], [2]])
  })

  it('lets everybody through once, never more of them in a round than may', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 0, max: 30 }),
        async (perTurn, count) => {
          const rounds = await takeAtOnce(perTurn, count)
          expect(rounds.flat()).toEqual(Array.from({ length: count }, (_, i) => i))
          for (const round of rounds) expect(round.length).toBeLessThanOrEqual(perTurn)
        },
      ),
    )
  })

  it('keeps nobody waiting where nobody else is', async () => {
    const turns = createTurns(1)
    for (let i = 0; i < 3; i++) {
      let isThrough = false
      void turns.take().then(() => (isThrough = true))
      await microtasks()
      expect(isThrough).toBe(true)
      await nextTurn()
      await nextTurn()
    }
  })

  it('lets nobody who comes later overtake who waits', async () => {
    const turns = createTurns(1)
    const order: string[] = []
    void turns.take().then(() => order.push('first'))
    void turns.take().then(() => order.push('second'))
    void turns.take().then(() => order.push('third'))
    await nextTurn()
    void turns.take().then(() => order.push('late'))
    for (let i = 0; i < 5; i++) await nextTurn()
    expect(order).toEqual(['first', 'second', 'third', 'late'])
  })
})

describe('a lane', () => {
  it('has so many under way, and the next one when one of them ended, however it ended', async () => {
    const inLane = createLane(2)
    const started: number[] = []
    const ends = Array.from({ length: 4 }, () => Promise.withResolvers<number>())
    const results = ends.map(({ promise }, i) =>
      inLane(() => {
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
          const inLane = createLane(places)
          let underWay = 0
          let most = 0
          const ended = await Promise.allSettled(
            jobs.map(({ rounds, fails }) =>
              inLane(async () => {
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
          const after = Array.from({ length: places }, () => inLane(async () => void started++))
          await microtasks()
          expect(started).toBe(places)
          await Promise.all(after)
        },
      ),
    )
  })
})
