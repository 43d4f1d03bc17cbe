// Counts of attempts, from which charts are drawn: of one account, since a moment, on every engine.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../src/lib/ids.ts'
import type { AttemptCount, Store } from '../../src/store/ports.ts'
import type { Attempt } from '../../src/store/model.ts'
import {
  addSetting,
  createPlace,
  ending,
  ENGINES,
  NOW,
  type Place,
  reservation,
  type Setting,
} from '../support/store.ts'

const BOOT = 'boot-1'
const MINUTE = 60_000

describe.each(ENGINES)('figures in %s', (engine) => {
  let place: Place
  let store: Store
  let setting: Setting
  beforeAll(async () => {
    place = await createPlace(engine, 'figures')
    store = await place.open(BOOT)
    setting = await addSetting(store, 10_000)
  })
  afterAll(() => place.remove())

  async function reserve(at: number, over: Partial<Attempt> = {}, of = setting): Promise<Attempt> {
    const input = reservation(of, BOOT, { id: newId('att', at), createdAt: at, ...over })
    expect(await store.reserveAttempt(input)).toMatchObject({ ok: true })
    return input.attempt
  }

  it('count attempts by time, host, end and how long the upstream took', async () => {
    await reserve(NOW, {}, await addSetting(store, 10))
    await reserve(NOW - 1)
    for (const ms of [7, 8, 60]) {
      const sent = await reserve(NOW + ms)
      await store.markSending({ id: sent.id, bootId: BOOT, now: NOW })
      await store.finishAttempt({ ...ending(sent, BOOT), upstreamStatus: 204, now: NOW + ms })
    }
    const refunded = await reserve(NOW + MINUTE, { host: 'other.example.com' })
    await store.refundAttempt({
      id: refunded.id,
      bootId: BOOT,
      outcome: 'dns_refused',
      transactionId: newId('txn', NOW),
      now: NOW,
    })
    const found = await store.countAttempts({
      accountId: setting.accountId,
      since: NOW,
      slotMs: MINUTE,
    })
    expect([found.since, found.isCut]).toEqual([NOW, false])
    const expected: Partial<AttemptCount>[] = [
      { host: 'api.example.com', state: 'settled', statusClass: 2, took: 0, count: 2 },
      { host: 'api.example.com', state: 'settled', statusClass: 2, took: 3, count: 1 },
      {
        host: 'other.example.com',
        state: 'refunded',
        outcome: 'dns_refused',
        statusClass: null,
        took: -1,
        count: 1,
      },
    ]
    const rows = found.rows.toSorted((a, b) => a.slot - b.slot || a.took - b.took)
    expect(rows).toMatchObject(expected)
    expect(rows.map(({ slot }) => slot * MINUTE)).toEqual([NOW, NOW, NOW + MINUTE])
  })

  it('say since when they count where there are too many', async () => {
    const own = await addSetting(store, 100)
    for (let n = 0; n < 10; n++) await reserve(NOW + n * MINUTE, {}, own)
    const found = await store.countAttempts({
      accountId: own.accountId,
      since: NOW,
      slotMs: MINUTE,
      lookAt: 4,
    })
    expect([found.isCut, found.since]).toEqual([true, NOW + 5 * MINUTE])
    expect(found.rows.reduce((sum, { count }) => sum + count, 0)).toBe(4)
  })
})
