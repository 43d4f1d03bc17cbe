import { expect, it } from 'vitest'
import { everyTurn } from '../../../src/lib/every-turn.ts'

it('takes what comes after one that failed, and says at the end what failed first', async () => {
  const taken: number[] = []
  const taking = everyTurn([1, 2, 3, 4], async (n) => {
    taken.push(n)
    if (n % 2 === 0) throw new Error(`no ${n}`)
  })
  await expect(taking).rejects.toThrow('no 2')
  expect(taken).toEqual([1, 2, 3, 4])
})

it('takes one after the other', async () => {
  const steps: string[] = []
  await everyTurn(['a', 'b'], async (name) => {
    steps.push(`${name} begins`)
    await Promise.resolve()
    steps.push(`${name} ends`)
  })
  expect(steps).toEqual(['a begins', 'a ends', 'b begins', 'b ends'])
})

it('ends at once where there are no more to take', async () => {
  const taken: number[] = []
  async function* cut() {
    yield 1
    throw new Error('away')
  }
  await expect(everyTurn(cut(), (n) => taken.push(n))).rejects.toThrow('away')
  expect(taken).toEqual([1])
})
