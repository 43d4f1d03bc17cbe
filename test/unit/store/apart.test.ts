// Who found rows locked: with how many connections they try again, in which order, and until when.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createOwnSemaphores } from '../../../src/lib/semaphore.ts'
import { toStoreError } from '../../../src/store/failure.ts'
import { createApart } from '../../../src/store/postgres/apart.ts'

const WAIT_MS = 15_000
const LOCKED_OUT = toStoreError({ code: 'store_unavailable', detail: 'locked', reason: 'postgres 55P03' })

/** Rows of owners that the test locks and frees. */
function setUp(count: number) {
  const apart = createApart(count, WAIT_MS)
  const locked = new Set<string>()
  const tries: string[] = []
  const underWay = new Map<string, number>()
  const most = { together: 0, ofOne: 0 }
  const first = createOwnSemaphores(2)
  const work = (owner: string) => async (): Promise<string> => {
    tries.push(owner)
    underWay.set(owner, (underWay.get(owner) ?? 0) + 1)
    most.together = Math.max(
      most.together,
      [...underWay.values()].reduce((sum, n) => sum + n, 0),
    )
    most.ofOne = Math.max(most.ofOne, underWay.get(owner)!)
    await nextTurn()
    underWay.set(owner, underWay.get(owner)! - 1)
    if (locked.has(owner)) throw LOCKED_OUT
    return owner
  }
  const ask = (owner: string) => apart.run('debit', owner, work(owner), first)
  return { apart, locked, tries, most, work, ask }
}
async function turns(count = 20): Promise<void> {
  for (let i = 0; i < count; i++) await nextTurn()
}

describe('commands that find something locked', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
  afterEach(() => void vi.useRealTimers())

  it('try again in turns, a few together and one of each owner, until it is free', async () => {
    const { ask, locked, tries, most } = setUp(2)
    for (const owner of ['a', 'b', 'c']) locked.add(owner)
    const asked = ['a', 'a', 'b', 'c', 'c'].map(ask)
    await turns()
    // All of them have tried where everybody does.
    tries.length = 0
    Object.assign(most, { together: 0, ofOne: 0 })
    await turns(60)
    for (const owner of locked) expect(tries.filter((one) => one === owner).length).toBeGreaterThan(10)
    expect(most).toEqual({ together: 2, ofOne: 1 })
    // Whoever was only unlucky comes through, though the others stay locked.
    locked.delete('c')
    expect(await Promise.all([asked[3], asked[4]])).toEqual(['c', 'c'])
    locked.clear()
    expect(await Promise.all(asked)).toEqual(['a', 'a', 'b', 'c', 'c'])
  })

  it('keep whoever comes meanwhile from the place where everybody tries, and no other command of their owner', async () => {
    const { apart, ask, locked } = setUp(1)
    locked.add('a')
    const first = ask('a')
    await turns()
    let isThere = false
    const bound = { run: <T>(_owner: string, work: () => Promise<T>) => ((isThere = true), work()) }
    const second = apart.run('debit', 'a', () => Promise.resolve('second'), bound)
    expect(await second).toBe('second')
    expect(isThere).toBe(false)
    expect(await apart.run('read', 'a', () => Promise.resolve('read'), bound)).toBe('read')
    expect(isThere).toBe(true)
    locked.clear()
    expect(await first).toBe('a')
  })

  it('of nobody in particular try beside each other', async () => {
    const { apart, locked, work } = setUp(2)
    locked.add('nobody')
    const stuck = apart.run('sweep', undefined, work('nobody'))
    await turns()
    expect(await apart.run('sweep', undefined, work('free'))).toBe('free')
    locked.clear()
    expect(await stuck).toBe('nobody')
  })

  it('are told when it stayed locked for as long as they are let try, and that nothing was done', async () => {
    const { ask, locked } = setUp(1)
    for (const owner of ['a', 'b']) locked.add(owner)
    const told = Promise.allSettled(['a', 'a', 'b'].map(ask))
    await turns()
    vi.advanceTimersByTime(WAIT_MS)
    for (const end of await told)
      expect(end).toMatchObject({
        status: 'rejected',
        reason: {
          code: 'store_unavailable',
          reason: 'locked',
          message: expect.stringMatching(/nothing was/) as string,
        },
      })
  })

  it('that fail otherwise are not asked again', async () => {
    const { apart } = setUp(1)
    const asked = vi.fn(() => Promise.reject(new Error('refused')))
    await expect(apart.run('debit', 'a', asked)).rejects.toThrow('refused')
    expect(asked).toHaveBeenCalledTimes(1)
  })
})
