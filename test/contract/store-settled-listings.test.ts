// Resources that were paid through our own facilitator; on every engine.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Input, Store } from '../../src/store/ports.ts'
import { createPlace, ENGINES, NOW, type Place, times } from '../support/store.ts'

const A_DAY_MS = 24 * 3600 * 1000
const LIMITS = { perPayee: 3, total: 6, payers: 4 }

describe.each(ENGINES)('settled listings in %s', (engine) => {
  let place: Place
  let store: Store
  beforeEach(async () => {
    place = await createPlace(engine, 'settled-listings')
    store = await place.open('boot-1')
  })
  afterEach(() => place.remove())

  const note = (over: Partial<Input<'noteSettledListing'>> = {}) =>
    store.noteSettledListing({
      id: 'l1',
      payee: 'eip155:8453 0xseller',
      payer: '0xa',
      item: 'one',
      digest: 'd-one',
      limits: LIMITS,
      now: NOW,
      ...over,
    })
  const listed = (since = 0) => store.listSettledListings({ since, limit: 100 })

  it('count a payer once, and its payments once a day, however many there are', async () => {
    for (const i of times(40, (n) => n)) await note({ now: NOW + i })
    await note({ payer: '0xb' })
    await note({ now: NOW + A_DAY_MS })
    expect(await listed()).toEqual([
      {
        id: 'l1',
        payee: 'eip155:8453 0xseller',
        item: 'one',
        settlements: 3,
        payers: 2,
        firstSettled: NOW,
        lastSettled: NOW + A_DAY_MS,
      },
    ])
  })

  it('tell a bounded number of payers apart', async () => {
    for (const i of times(9, (n) => n)) await note({ payer: `0x${i}` })
    expect(await listed()).toMatchObject([{ payers: 4, settlements: 4 }])
  })

  it('keep the text of most payments, whatever one wallet pays for', async () => {
    for (const payer of ['0xa', '0xb', '0xc']) await note({ payer })
    for (const i of times(20, (n) => n))
      await note({ payer: '0xevil', item: 'two', digest: 'd-two', now: NOW + i })
    expect(await listed()).toMatchObject([{ item: 'one' }])
    // Sellers change their text too: the days of their buyers carry it.
    for (const day of [1, 2])
      for (const payer of ['0xa', '0xb'])
        await note({ payer, item: 'two', digest: 'd-two', now: NOW + day * A_DAY_MS })
    expect(await listed()).toMatchObject([{ item: 'two' }])
  })

  it('of one payee are no more than it may have', async () => {
    for (const i of times(3, (n) => n)) expect(await note({ id: `l${i}` })).toBe(true)
    expect(await note({ id: 'l9' })).toBe(false)
    expect(await note({ id: 'l0', payer: '0xb' })).toBe(true)
    expect(await note({ id: 'l9', payee: 'eip155:8453 0xother' })).toBe(true)
    expect(await listed()).toHaveLength(4)
  })

  it('beyond their number lose the ones that fewest paid for, the oldest first', async () => {
    for (const payer of ['0xa', '0xb']) await note({ id: 'good', payee: 'good', payer, now: NOW })
    for (const i of times(30, (n) => n)) await note({ id: `flood${i}`, payee: `p${i}`, now: NOW + 1 + i })
    const rows = await listed()
    expect(rows).toHaveLength(LIMITS.total)
    expect(rows[0]).toMatchObject({ id: 'good', payers: 2 })
    expect(rows.at(-1)).toMatchObject({ id: 'flood29' })
  })

  it('go when nobody pays for them any more, with what is known of their payers', async () => {
    await note()
    await note({ id: 'l2', now: NOW + 5 })
    expect(await listed(NOW + 1)).toMatchObject([{ id: 'l2' }])
    expect(await store.forgetSettledListings({ notSettledSince: NOW + 1, limit: 10 })).toBe(1)
    expect(await listed()).toMatchObject([{ id: 'l2' }])
    await note()
    expect(await listed()).toMatchObject([{ id: 'l1', settlements: 1 }, { id: 'l2' }])
  })

  it('of many payments at once count each payer once, and outlive a restart', async () => {
    await Promise.all(times(24, (i) => note({ payer: `0x${i % 3}`, now: NOW + (i % 2) })))
    await store.close()
    store = await place.open('boot-2')
    expect(await listed()).toMatchObject([{ payers: 3, settlements: 3 }])
  })
})
