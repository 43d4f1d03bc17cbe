// Rows that PostgreSQL's processes remember: never older than what was committed before the call that asks came.
import { afterEach, describe, expect, it, vi } from 'vitest'
import { rememberRows } from '../../../src/store/postgres/remembered.ts'
import { times } from '../../support/store.ts'

/** A database with one row and its word; each look can be held. */
function setUp() {
  let value = 'first'
  let version = 1
  let looks = 0
  let reads = 0
  const held: (() => void)[] = []
  let isHeld = false
  const rows = rememberRows(async () => {
    looks++
    const seen = String(version)
    if (isHeld) await new Promise<void>((resolve) => held.push(resolve))
    return seen
  })
  const read = async () => {
    reads++
    return { value }
  }
  return {
    find: (name = 'row') => rows.through(name, read),
    rows,
    change(to: string) {
      value = to
      version++
    },
    hold: () => (isHeld = true),
    letGo() {
      isHeld = false
      for (const go of held.splice(0)) go()
    },
    counts: () => ({ looks, reads }),
  }
}

afterEach(() => vi.useRealTimers())

describe('remembered rows', () => {
  it('are read once, and their word at every call', async () => {
    const { find, counts } = setUp()
    for (const _ of times(3, String)) expect(await find()).toEqual({ value: 'first' })
    expect(counts()).toEqual({ looks: 3, reads: 1 })
  })

  it('are read again after any change', async () => {
    const { find, change, counts } = setUp()
    await find('a')
    await find('b')
    change('second')
    expect(await find('a')).toEqual({ value: 'second' })
    expect(await find('b')).toEqual({ value: 'second' })
    expect(counts().reads).toBe(4)
  })

  it('share one look among all that wait for it, and never one that began before they came', async () => {
    const { find, hold, letGo, change, counts } = setUp()
    await find()
    hold()
    const early = find()
    await Promise.resolve()
    await Promise.resolve()
    expect(counts().looks).toBe(2)
    // The look under way has read its word by now.
    change('second')
    const late = times(50, () => find())
    letGo()
    await early
    for (const row of await Promise.all(late)) expect(row).toEqual({ value: 'second' })
    expect(counts().looks).toBe(3)
  })

  it('are not kept where the word changed while they were read', async () => {
    const { rows, change, find } = setUp()
    const slow = rows.through('row', async () => {
      // Another call sees the new word meanwhile.
      change('second')
      await find('other')
      return { value: 'first' }
    })
    expect(await slow).toEqual({ value: 'first' })
    expect(await find()).toEqual({ value: 'second' })
  })

  it('are asked for every time where there are none, and forgotten when there are too many', async () => {
    const { rows, counts, find } = setUp()
    let asked = 0
    for (const _ of times(2, String))
      expect(await rows.through('none', async () => void asked++)).toBeUndefined()
    expect(asked).toBe(2)
    await find('oldest')
    for (let i = 0; i < 5_000; i++) await find(`row ${i}`)
    const before = counts().reads
    await find('row 4999')
    expect(counts().reads).toBe(before)
    await find('oldest')
    expect(counts().reads).toBe(before + 1)
  })

  it('are forgotten when they are too long together', async () => {
    const { rows } = setUp()
    const MiB = 'x'.repeat(1024 * 1024)
    let reads = 0
    const read = async () => {
      reads++
      return { MiB }
    }
    for (let i = 0; i < 40; i++) await rows.through(`row ${i}`, read)
    expect(reads).toBe(40)
    await rows.through('row 39', read)
    expect(reads).toBe(40)
    await rows.through('row 0', read)
    expect(reads).toBe(41)
  })

  it('fail after five seconds at a connection that says nothing, and go on with the next one', async () => {
    vi.useFakeTimers()
    let isSilent = true
    const rows = rememberRows(() => (isSilent ? new Promise(() => {}) : Promise.resolve('1')))
    const read = async () => 'row'
    const early = rows.through('a', read).catch((thrown: unknown) => thrown)
    await vi.advanceTimersByTimeAsync(0)
    const late = rows.through('a', read)
    isSilent = false
    await vi.advanceTimersByTimeAsync(5000)
    expect(await early).toMatchObject({ code: 'store_unavailable' })
    expect(await late).toBe('row')
  })

  it('fail where the word cannot be read, and work when it can again', async () => {
    let isDown = true
    const rows = rememberRows(async () => {
      if (isDown) throw new Error('down')
      return '1'
    })
    const read = async () => 'row'
    const ends = await Promise.allSettled([rows.through('a', read), rows.through('a', read)])
    expect(ends.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    isDown = false
    expect(await rows.through('a', read)).toBe('row')
  })
})
