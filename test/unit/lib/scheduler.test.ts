// Spreading work over turns of the event loop: who comes through when, and that nobody is forgotten.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createScheduler } from '../../../src/lib/scheduler.ts'

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve))
const microtasks = async () => {
  for (let i = 0; i < 10; i++) await Promise.resolve()
}

/** Takes `count` turns at the same moment; says after each round of the loop who came through. */
async function takeAtOnce(perTurn: number, count: number): Promise<number[][]> {
  const scheduler = createScheduler(perTurn)
  let through: number[] = []
  for (let i = 0; i < count; i++) void scheduler.turn().then(() => through.push(i))
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

describe('a scheduler', () => {
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
    const scheduler = createScheduler(1)
    for (let i = 0; i < 3; i++) {
      let isThrough = false
      void scheduler.turn().then(() => (isThrough = true))
      await microtasks()
      expect(isThrough).toBe(true)
      await nextTurn()
      await nextTurn()
    }
  })

  it('lets nobody who comes later overtake who waits', async () => {
    const scheduler = createScheduler(1)
    const order: string[] = []
    void scheduler.turn().then(() => order.push('first'))
    void scheduler.turn().then(() => order.push('second'))
    void scheduler.turn().then(() => order.push('third'))
    await nextTurn()
    void scheduler.turn().then(() => order.push('late'))
    for (let i = 0; i < 5; i++) await nextTurn()
    expect(order).toEqual(['first', 'second', 'third', 'late'])
  })
})
