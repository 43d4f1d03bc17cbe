// Calls that go to the database together: who goes with whom, and what becomes of each when the group or one of it fails.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createApart } from '../../../src/store/postgres/apart.ts'
import { gather } from '../../../src/store/postgres/gathered/gather.ts'
import { times } from '../../support/store.ts'

const GUILTY = new Error('what a value says')
const DOWN = new Error('the server is gone')
const LOCKED = new Error('somebody keeps a row locked')
const WAIT_MS = 15_000
/** Owners whose rows are locked, of all that try again at once. */
const PLACES = 3
const apart = () => ({ waitMs: WAIT_MS, takeTurn: createApart(PLACES, WAIT_MS).takeTurn })

/** A store that ends what it is asked when the test says so. */
function setUp() {
  const groups: {
    inputs: readonly number[]
    end: (answers?: (string | undefined)[]) => void
    fail: (why: Error) => void
  }[] = []
  const lonely: number[] = []
  async function alone(input: number): Promise<string> {
    lonely.push(input)
    if (input < 0) throw GUILTY
    return `alone ${input}`
  }
  const ask = gather<number, string>({
    together: (inputs) =>
      new Promise((resolve, reject) => {
        const end = (answers: (string | undefined)[] = inputs.map((input) => `together ${input}`)) =>
          resolve(answers)
        groups.push({ inputs, end, fail: reject })
      }),
    once: alone,
    alone,
    ...apart(),
    // One owner for each hundred.
    ownerOf: (input) => String(Math.floor(input / 100)),
    isOfOne: (thrown) => thrown === GUILTY,
    isHeldUp: (thrown) => thrown === LOCKED,
  })
  return { ask, groups, lonely, inputs: () => groups.map((group) => group.inputs) }
}

async function turns(): Promise<void> {
  for (let i = 0; i < 4; i++) await nextTurn()
}
/** Longer than a group that is not held up. */
async function heldUp(): Promise<void> {
  vi.advanceTimersByTime(200)
  await turns()
}

describe('calls that are gathered', () => {
  // However slow the machine is, only the groups of which it is said are held up.
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
  afterEach(() => void vi.useRealTimers())

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
    const second = [3, 101, 4, 102].map(ask)
    await heldUp()
    // The first group has not ended, and whoever wants the same as it goes with nobody else.
    expect(inputs().toSorted()).toEqual([
      [1, 2],
      [101, 102],
      [3, 4],
    ])
    for (const { end } of groups) end()
    expect(await Promise.all([...first, ...second])).toEqual(
      [1, 2, 3, 101, 4, 102].map((n) => `together ${n}`),
    )
    await turns()
    const third = [5, 6].map(ask)
    await turns()
    groups[3]!.end()
    expect(await Promise.all(third)).toEqual(['together 5', 'together 6'])
  })

  it('wait for a lock in a line of their owner, and the others go on', async () => {
    const { ask, groups, inputs } = setUp()
    const first = [101, 102, 201].map(ask)
    await turns()
    expect(groups[0]).toMatchObject({ inputs: [101, 102, 201] })
    groups[0]!.fail(LOCKED)
    await turns()
    // The innocent one leaves alone.
    expect(await first[2]).toBe('alone 201')
    expect(groups[1]).toMatchObject({ inputs: [101, 102] })

    const later = [103, 202, 104, 203].map(ask)
    await turns()
    expect(groups[2]).toMatchObject({ inputs: [202, 203] })
    expect(groups).toHaveLength(3)
    await heldUp()
    groups[2]!.end()
    expect(await Promise.all([later[1], later[3]])).toEqual(['together 202', 'together 203'])
    groups[1]!.end()
    expect(await Promise.all(first)).toEqual(['together 101', 'together 102', 'alone 201'])

    // It took long, so those who came meanwhile are still apart; they find the lock gone, and whoever comes now goes with everybody.
    await turns()
    expect(groups[3]).toMatchObject({ inputs: [103, 104] })
    const last = [105, 106].map(ask)
    groups[3]!.end()
    await turns()
    expect(groups[4]).toMatchObject({ inputs: [105, 106] })
    groups[4]!.end()
    await Promise.all([...later, ...last])
    expect(inputs()).toHaveLength(5)
  })

  it('leave the line of the others where one alone is held up, and only the first of its owner is', async () => {
    const held: ((answer: string) => void)[] = []
    const asked: number[] = []
    function alone(input: number): Promise<string> {
      asked.push(input)
      return input < 200 ? new Promise((resolve) => held.push(resolve)) : Promise.resolve(`alone ${input}`)
    }
    const ask = gather<number, string>({
      together: async (inputs) => inputs.map((input) => `together ${input}`),
      once: alone,
      alone,
      ...apart(),
      ownerOf: (input) => String(Math.floor(input / 100)),
      isOfOne: () => false,
      isHeldUp: () => false,
    })
    const first = ask(101)
    await turns()
    await heldUp()
    expect(await ask(201)).toBe('alone 201')
    const second = ask(102)
    await turns()
    const third = ask(103)
    // Those of the owner wait for each other now, and nobody else for them.
    expect(await ask(202)).toBe('alone 202')
    expect(asked).toEqual([101, 201, 102, 202])
    for (const end of held) end('at last')
    expect(await Promise.all([first, second])).toEqual(['at last', 'at last'])
    await turns()
    held[2]!('at last')
    expect(await third).toBe('at last')
  })

  it('leave the line of the others also where one alone finds something locked, of however many owners', async () => {
    const locked = new Set(times(10, (i) => String(i + 1)))
    const ownerOf = (input: number) => String(Math.floor(input / 100))
    const alone = async (input: number) => {
      if (locked.has(ownerOf(input))) throw LOCKED
      return `alone ${input}`
    }
    let trying = 0
    let most = 0
    const { waitMs, takeTurn } = apart()
    const ask = gather<number, string>({
      together: (inputs) => Promise.all(inputs.map(alone)),
      async once(input) {
        most = Math.max(most, ++trying)
        await nextTurn()
        trying--
        return alone(input)
      },
      alone,
      waitMs,
      takeTurn,
      ownerOf,
      isOfOne: () => false,
      isHeldUp: (thrown) => thrown === LOCKED,
    })
    const waiting = [...locked].map((owner) => ask(100 * Number(owner)))
    for (let n = 0; n < 10; n++) expect(await ask(2000 + 100 * n)).toMatch(/^alone 2/)
    // And one of the common line.
    expect(most).toBeLessThanOrEqual(PLACES + 1)
    locked.clear()
    expect(await Promise.all(waiting)).toEqual(times(10, (i) => `alone ${100 * (i + 1)}`))
  })

  it('are told when the rows of their owner stayed locked for as long as they are let try, and not before', async () => {
    const { ask, groups } = setUp()
    const told = Promise.allSettled([101, 102].map(ask))
    await turns()
    for (let n = 0; n < 5; n++) {
      groups[n]!.fail(LOCKED)
      await turns()
    }
    expect(groups).toHaveLength(6)
    vi.advanceTimersByTime(WAIT_MS - 1)
    const later = [103, 104].map(ask)
    vi.advanceTimersByTime(1)
    groups[5]!.fail(LOCKED)
    for (const end of await told)
      expect(end).toMatchObject({
        status: 'rejected',
        reason: { code: 'store_unavailable', reason: 'locked' },
      })
    await turns()
    expect(groups[6]).toMatchObject({ inputs: [103, 104] })
    groups[6]!.end()
    expect(await Promise.all(later)).toEqual(['together 103', 'together 104'])
  })

  it('of a few owners are let wait at once, the others after them', async () => {
    const { ask, groups } = setUp()
    const answers = times(20, (i) => ask(100 * Math.floor(i / 2) + i))
    await turns()
    groups[0]!.fail(LOCKED)
    await turns()
    expect(groups).toHaveLength(4)
    for (let n = 1; n < groups.length; n++) {
      groups[n]!.end()
      await turns()
    }
    expect(await Promise.all(answers)).toEqual(times(20, (i) => `together ${100 * Math.floor(i / 2) + i}`))
  })

  it('go with the others again as soon as the lock of their owner is gone, though other owners wait yet', async () => {
    // Whoever is answered calls again at once, or a few steps later.
    for (let steps = 0; steps < 12; steps++) {
      const { ask, groups } = setUp()
      const answers = times(10, (i) => ask(100 * Math.floor(i / 2) + i))
      await turns()
      groups[0]!.fail(LOCKED)
      await turns()
      const again = answers[0]!.then(async () => {
        for (let step = 0; step < steps; step++) await Promise.resolve()
        return Promise.all([50, 51].map(ask))
      })
      groups[1]!.end()
      await turns()
      expect(groups.at(-1), `${steps} steps`).toMatchObject({ inputs: [50, 51] })
      for (let n = 2; n < groups.length; n++) {
        groups[n]!.end()
        await turns()
      }
      await Promise.all([...answers, again])
    }
  })

  /** How many calls a second of 100 owners with 4 callers each come through, one second after the other. */
  async function measure(latencyMs: (second: number) => number, seconds: number): Promise<readonly number[]> {
    const done = Array.from({ length: seconds }, () => 0)
    const began = performance.now()
    const second = () => Math.floor((performance.now() - began) / 1000)
    const answerLater = <T>(answer: T) =>
      new Promise<T>((resolve) => setTimeout(() => resolve(answer), latencyMs(second())))
    const ask = gather<number, number>({
      together: (inputs) => answerLater(inputs),
      once: answerLater,
      alone: answerLater,
      ...apart(),
      ownerOf: (input) => String(input % 100),
      isOfOne: () => false,
      isHeldUp: (thrown) => thrown === LOCKED,
    })
    const callOn = async (input: number): Promise<void> => {
      while (second() < seconds) {
        await ask(input)
        if (second() < seconds) done[second()]!++
      }
    }
    for (let input = 0; input < 400; input++) void callOn(input)
    while (second() < seconds) {
      await turns()
      vi.advanceTimersByTime(10)
    }
    return done
  }

  it('go together however slow the database is for all of them', async () => {
    for (const latencyMs of [140, 170, 500, 2000]) {
      const done = await measure(() => latencyMs, 10)
      // 64 in each of the groups that fit into the last eight seconds.
      const groups = Math.floor(8000 / latencyMs) - 1
      expect(
        done.slice(2).reduce((sum, n) => sum + n),
        `${latencyMs} ms`,
      ).toBeGreaterThanOrEqual(64 * groups)
    }
  })

  it('go together again soon after the database has become slow, and after it stood still', async () => {
    // As long as it takes to make the connections, and no two alike.
    const fresh = await measure((second) => (second === 0 ? 1000 : 200 + 60 * Math.random()), 12)
    expect(fresh.slice(6).reduce((sum, n) => sum + n)).toBeGreaterThanOrEqual(64 * 20)
    const slow = await measure((second) => (second < 2 ? 20 : 400), 12)
    expect(slow[1]).toBeGreaterThan(2000)
    expect(slow.slice(6).reduce((sum, n) => sum + n)).toBeGreaterThanOrEqual(64 * 14)
    const stood = await measure((second) => (second === 2 ? 3000 : 20), 10)
    expect(stood.slice(7).every((n) => n > 2000)).toBe(true)
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
