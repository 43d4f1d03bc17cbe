// How payments of a seller spread over payers and days; on every engine.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ServiceOutcome, ServiceRef, Store } from '../../src/store/ports.ts'
import { sold } from '../support/market-money.ts'
import { createPlace, ENGINES, NOW, type Place } from '../support/store.ts'

const A_DAY_MS = 24 * 3600 * 1000
const DAY = Math.floor(NOW / A_DAY_MS)
const KEY: ServiceRef = { sellerId: 'acme', serviceId: 'quotes', environment: 'live' }

const paid = (over: Partial<Extract<ServiceOutcome, { kind: 'settled' }>> = {}): ServiceOutcome => ({
  ...KEY,
  kind: 'settled',
  claimId: '',
  at: NOW,
  payer: '0xa',
  amount: 1000,
  latencyMs: 120,
  isSelf: false,
  ...over,
})

describe.each(ENGINES)('shares of payers in %s', (engine) => {
  let place: Place
  let store: Store
  beforeEach(async () => {
    place = await createPlace(engine, 'market-shares')
    store = await place.open('boot-1')
  })
  afterEach(() => place.remove())

  const record = async (...outcomes: ServiceOutcome[]) =>
    store.recordServiceOutcomes({ outcomes: await sold(store, 'boot-1', outcomes), now: NOW })

  it('name the largest payer of a service, and of all services of its seller, without what does not count', async () => {
    const none = { payers: 0, repeating: 0, calls: 0, volume: 0, largestVolume: 0 }
    expect(await store.sumPayerShares(KEY)).toEqual(none)
    await record(
      paid({ payer: '0xself', isSelf: true, amount: 90_000 }),
      paid({ environment: 'test', amount: 70_000 }),
      paid({ sellerId: 'acme-too', amount: 80_000 }),
      paid(),
      paid({ amount: 3000 }),
      paid({ payer: '0xb', amount: 5000 }),
      paid({ serviceId: 'other', amount: 2000 }),
    )
    expect(await store.sumPayerShares(KEY)).toEqual({
      payers: 2,
      repeating: 1,
      calls: 3,
      volume: 9000,
      largestVolume: 5000,
    })
    expect(await store.sumPayerShares({ ...KEY, serviceId: null })).toEqual({
      payers: 2,
      repeating: 1,
      calls: 4,
      volume: 11_000,
      largestVolume: 6000,
    })
  })

  it('sum the days of all services, oldest first, since a day', async () => {
    await record(
      paid({ at: NOW - 2 * A_DAY_MS }),
      paid(),
      paid({ serviceId: 'other', amount: 500 }),
      { ...KEY, kind: 'schema', at: NOW },
      { ...KEY, serviceId: 'other', kind: 'timeout', at: NOW },
      { ...KEY, kind: 'refunded', amount: 400, at: NOW },
    )
    const of = { sellerId: 'acme', environment: 'live' } as const
    const days = await store.listSellerDays({ ...of, sinceDay: DAY - 29 })
    expect(days).toEqual([
      { day: DAY - 2, settled: 1, volume: 1000, failed: 0, refunds: 0, refunded: 0 },
      { day: DAY, settled: 2, volume: 1500, failed: 2, refunds: 1, refunded: 400 },
    ])
    expect(await store.listSellerDays({ ...of, sinceDay: DAY })).toHaveLength(1)
  })
})
