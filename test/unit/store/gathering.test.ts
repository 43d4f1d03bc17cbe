// Commands of the embedded store go to its thread in groups: what becomes of each of them, and when.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { MessagePort } from 'node:worker_threads'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Store } from '../../../src/store/ports.ts'
import {
  addAccount,
  createPlace,
  log,
  NOW,
  type Place,
  sealedCredential,
  times,
} from '../../support/store.ts'
import { openSqliteStore } from '../../../src/store/sqlite/store.ts'

let place: Place
let store: Store
/** What was posted to the thread, since the store was opened. */
let posted: unknown[][]
beforeEach(async () => {
  place = await createPlace('sqlite')
  store = await openSqliteStore({ dataDir: place.config.dataDir, log })
  posted = vi.spyOn(MessagePort.prototype, 'postMessage').mock.calls
})
afterEach(async () => {
  vi.restoreAllMocks()
  await store.close()
  await place.remove()
})

/** Names and a mark of the arguments, message by message. */
const groups = () =>
  posted.flatMap(([message]) =>
    Array.isArray(message)
      ? [times(message.length / 2, (i) => [message[2 * i], JSON.stringify(message[2 * i + 1])].join(' '))]
      : [],
  )
/** Of one resource every change of its price is kept, in the order in which they were done. */
const seen = async (price: string) => {
  await store.seeResources({ seen: [{ id: 'r', price }], keepPrices: 1000, now: NOW })
  return price
}
const stored = async () => {
  const [row] = await place.query('SELECT prices FROM discovery_resources')
  return (JSON.parse(String(row?.['prices'])) as { price: string }[]).map(({ price }) => price)
}
const list = async () => void (await store.listPublishedKeys())

describe('commands of the embedded store', () => {
  it('are on their way after two turns of the loop at most when nobody else comes', async () => {
    const answer = seen('a')
    await nextTurn()
    await nextTurn()
    expect(groups()).toHaveLength(1)
    expect(await answer).toBe('a')
  })

  it('share a group when they come in the same turn', async () => {
    await Promise.all([seen('a'), list(), seen('b')])
    expect(groups().map((group) => group.length)).toEqual([3])
  })

  it('do not wait for the group before, and are done in their order, lists and writes alike', async () => {
    const ended: string[] = []
    const note = (id: string) => () => void ended.push(id)
    const first = seen('a').then(note('a'))
    while (groups().length === 0) await nextTurn()
    const rest = [seen('b').then(note('b')), list().then(note('list')), seen('c').then(note('c'))]
    await nextTurn()
    await nextTurn()
    expect(groups().map((group) => group.map((each) => each.split(' ')[0]))).toEqual([
      ['seeResources'],
      ['seeResources', 'listPublishedKeys', 'seeResources'],
    ])
    await Promise.all([first, ...rest])
    expect(ended).toEqual(['a', 'b', 'list', 'c'])
  })

  it('are each answered once, in order, whatever number comes in whatever turn', async () => {
    const ids = times(500, (i) => `r${i}`)
    const ended: string[] = []
    const all: Promise<unknown>[] = []
    for (const [i, id] of ids.entries()) {
      all.push(seen(id).then((answer) => ended.push(answer)))
      if (i % 7 === 0) await nextTurn()
    }
    await Promise.all(all)
    expect(ended).toEqual(ids)
    expect(await stored()).toEqual(ids)
    expect(groups().flat()).toHaveLength(ids.length)
  })

  it('do not wait for the end of a stream that never ends', async () => {
    const answered: string[] = []
    const first = seen('first').then((id) => answered.push(id))
    // Reads, because each further price of one resource makes its row longer: a busy machine wrote for minutes.
    const stream: Promise<unknown>[] = []
    while (answered.length === 0) {
      stream.push(list())
      await nextTurn()
    }
    await Promise.all([first, ...stream])
  })

  it('fail alone among others that are done', async () => {
    const accountId = await addAccount(store, 0)
    const credential = sealedCredential(accountId)
    const results = await Promise.allSettled([
      seen('a'),
      store.insertCredential(credential),
      seen('b'),
      store.insertCredential(credential),
      seen('c'),
    ])
    expect(results.map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'fulfilled',
      'rejected',
      'fulfilled',
    ])
    expect(results[3]).toMatchObject({ reason: { code: 'state_conflict' } })
    expect(await stored()).toEqual(['a', 'b', 'c'])
  })

  it.each<[string, () => Promise<void>]>([
    ['before a turn of the loop', async () => {}],
    ['while they gather', () => nextTurn()],
    [
      'while others are under way',
      async () => {
        while (groups().length === 0) await nextTurn()
      },
    ],
  ])('are done before the store is closed %s, and later ones are refused', async (_when, wait) => {
    const before = [seen('a'), seen('b')]
    await wait()
    const meanwhile = [seen('c'), seen('d')]
    const closed = store.close()
    const late = Promise.allSettled([seen('e'), list(), store.getAccount('acct_1')])
    expect(await Promise.all([...before, ...meanwhile])).toEqual(['a', 'b', 'c', 'd'])
    for (const refused of await late)
      expect(refused).toMatchObject({ status: 'rejected', reason: { code: 'store_unavailable' } })
    await closed
    expect(await stored()).toEqual(['a', 'b', 'c', 'd'])
  })
})
