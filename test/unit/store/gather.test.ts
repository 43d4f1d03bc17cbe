// Calls that go to the database together: who goes with whom, and what becomes of each when the group or one of it fails.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { gather } from '../../../src/store/postgres/gathered/gather.ts'
import { times } from '../../support/store.ts'

const GUILTY = new Error('what a value says')
const DOWN = new Error('the server is gone')

/** A store that ends what it is asked when the test says so. */
function setUp() {
  const groups: {
    inputs: readonly number[]
    end: (answers?: (string | undefined)[]) => void
    fail: (why: Error) => void
  }[] = []
  const lonely: number[] = []
  const ask = gather<number, string>({
    together: (inputs) =>
      new Promise((resolve, reject) => {
        const end = (answers: (string | undefined)[] = inputs.map((input) => `together ${input}`)) =>
          resolve(answers)
        groups.push({ inputs, end, fail: reject })
      }),
    async alone(input) {
      lonely.push(input)
      if (input < 0) throw GUILTY
      return `alone ${input}`
    },
    isOfOne: (thrown) => thrown === GUILTY,
  })
  return { ask, groups, lonely, inputs: () => groups.map((group) => group.inputs) }
}

describe('calls that are gathered', () => {
  it('go together when they come in one turn, and alone when nobody else comes', async () => {
    const { ask, groups, lonely, inputs } = setUp()
    expect(await ask(7)).toBe('alone 7')
    const answers = [1, 2, 3].map(ask)
    await nextTurn()
    await nextTurn()
    expect(inputs()).toEqual([[1, 2, 3]])
    groups[0]!.end()
    expect(await Promise.all(answers)).toEqual(['together 1', 'together 2', 'together 3'])
    expect(lonely).toEqual([7])
  })

  it('wait while a group is under way, and fill the next one meanwhile', async () => {
    const { ask, groups, inputs } = setUp()
    const answers: Promise<string>[] = []
    for (const pair of [
      [1, 2],
      [3, 4],
      [5, 6],
    ]) {
      answers.push(...pair.map(ask))
      await nextTurn()
      await nextTurn()
    }
    expect(inputs()).toEqual([[1, 2]])
    groups[0]!.end()
    await nextTurn()
    await nextTurn()
    expect(inputs()).toEqual([
      [1, 2],
      [3, 4, 5, 6],
    ])
    groups[1]!.end()
    expect(await Promise.all(answers)).toEqual(times(6, (i) => `together ${i + 1}`))
  })

  it('go on beside a group that is held up', async () => {
    const { ask, groups, inputs } = setUp()
    const first = [1, 2].map(ask)
    await nextTurn()
    await nextTurn()
    const second = [3, 4].map(ask)
    // The first group has not ended.
    await expect.poll(inputs).toEqual([
      [1, 2],
      [3, 4],
    ])
    for (const { end } of groups) end()
    expect(await Promise.all([...first, ...second])).toEqual(times(4, (i) => `together ${i + 1}`))
    const third = [5, 6].map(ask)
    await nextTurn()
    await nextTurn()
    groups[2]!.end()
    expect(await Promise.all(third)).toEqual(['together 5', 'together 6'])
  })

  it('are 64 at most in one group', async () => {
    const { ask, groups, inputs } = setUp()
    const answers = times(100, ask)
    await nextTurn()
    await nextTurn()
    groups[0]!.end()
    await nextTurn()
    await nextTurn()
    expect(inputs().map(({ length }) => length)).toEqual([64, 36])
    groups[1]!.end()
    expect(await Promise.all(answers)).toHaveLength(100)
  })

  it('are asked for alone where the group says nothing of them', async () => {
    const { ask, groups, lonely } = setUp()
    const answers = [1, 2, 3].map(ask)
    await nextTurn()
    await nextTurn()
    groups[0]!.end(['together 1', undefined, 'together 3'])
    expect(await Promise.all(answers)).toEqual(['together 1', 'alone 2', 'together 3'])
    expect(lonely).toEqual([2])
  })

  it('fail alone where one of them was at fault, and all where the server was', async () => {
    const { ask, groups } = setUp()
    const guilty = [1, -2, 3].map(ask)
    const settled = Promise.allSettled(guilty)
    await nextTurn()
    await nextTurn()
    groups[0]!.fail(GUILTY)
    expect((await settled).map((end) => (end.status === 'fulfilled' ? end.value : end.reason))).toEqual([
      'alone 1',
      GUILTY,
      'alone 3',
    ])
    const lost = Promise.allSettled([4, 5].map(ask))
    await nextTurn()
    await nextTurn()
    groups[1]!.fail(DOWN)
    expect((await lost).map((end) => end.status === 'rejected' && end.reason)).toEqual([DOWN, DOWN])
    expect(await ask(6)).toBe('alone 6')
  })
})
