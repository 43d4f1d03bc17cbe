// What is to be told, where the clock of one replica goes a day ahead: it keeps nobody waiting, whatever it took, put off or added.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../src/lib/ids.ts'
import type { Store } from '../../src/store/ports.ts'
import { addAccount, createPlace, NOW, type Place } from '../support/store.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const AHEAD = 24 * HOUR

describe('queues in postgres', () => {
  let place: Place
  let store: Store
  beforeAll(async () => {
    place = await createPlace('postgres', 'queue_clock')
    store = await place.open()
  })
  afterAll(() => place.remove())

  const ahead = () => Date.now() + AHEAD
  /** By the clock of the database: how long a row is put off still. */
  async function leftOf(table: string, id: string): Promise<number> {
    const [row] =
      await place.query(`SELECT next_at - (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS left_ms
      FROM ${table} WHERE id = '${id}'`)
    return Number(row!['left_ms'])
  }

  it('of notifications', async () => {
    const accountId = await addAccount(store, 0)
    const targetId = newId('ntg', NOW)
    const kinds = ['approval'] as const
    const target = { id: targetId, accountId, host: 'h', sealed: Buffer.from('s'), kinds, admin: false }
    await store.addNotificationTarget({ ...target, createdAt: NOW, createdBy: 'key_1' }, 9)
    const alert = { accountId, kind: 'approval', about: 'pmt_1', body: '{}', againAfter: HOUR } as const
    expect(await store.queueNotifications({ ...alert, now: ahead() })).toBe(1)
    const take = (now: number) => store.takeNotifications({ now, busyUntil: now + MINUTE, limit: 9 })

    const [{ id } = { id: '' }] = await take(ahead())
    expect(await leftOf('notifications', id)).toBeGreaterThan(0)
    expect(await leftOf('notifications', id)).toBeLessThanOrEqual(MINUTE)
    // It is busy with that one, for everybody.
    expect(await take(ahead())).toEqual([])
    const now = ahead()
    await store.finishNotification({ id, targetId, problem: 'reset', nextAt: now, now })
    expect(await leftOf('notifications', id)).toBeLessThanOrEqual(0)
    expect(await take(Date.now() + 1)).toMatchObject([{ id, tries: 2 }])
    // What it told is told again when its time is over, and not a day later.
    expect(await store.queueNotifications({ ...alert, againAfter: -MINUTE, now: Date.now() })).toBe(1)
  })

  it('of events for sellers, of which it puts off all', async () => {
    const tell = (id: string, now: number) =>
      store.addMarketEvent({ sellerId: 'acme', event: { id, type: 't', data: {} }, now })
    await tell('evt_a', NOW)
    await tell('evt_b', NOW + 1)
    const take = async (now: number) =>
      (await store.takeMarketEvents({ now, busyUntil: now + MINUTE, limit: 1 })).map(({ id }) => id)
    expect(await take(ahead())).toEqual(['evt_a'])
    expect(await leftOf('market_events', 'evt_a')).toBeLessThanOrEqual(MINUTE)
    const now = ahead()
    await store.finishMarketEvent({
      id: 'evt_a',
      state: 'pending',
      nextAt: now + HOUR,
      problem: 'timeout',
      now,
    })
    for (const id of ['evt_a', 'evt_b']) {
      expect(await leftOf('market_events', id)).toBeGreaterThan(0)
      expect(await leftOf('market_events', id)).toBeLessThanOrEqual(HOUR)
    }
    expect(await take(ahead())).toEqual([])
  })

  it('of pushes of tasks', async () => {
    const taskId = newId('task', NOW)
    const task = { id: taskId, contextId: 'c', owner: 'acct_1', json: '{}', updatedAt: NOW, revision: 1 }
    await store.saveTask({ ...task, state: 'TASK_STATE_COMPLETED', expiresAt: Date.now() + 9 * AHEAD })
    const config = {
      taskId,
      id: 'one',
      holder: 'acct_1',
      url: 'https://a.example/hook',
      host: 'a.example:443',
      scheme: null,
      sealed: null,
      wire: '1.0',
      toldState: null,
      toldRevision: 0,
      createdAt: ahead(),
    } as const
    await store.savePushConfig({ config, limits: { perTask: 9, perHolder: 9 } })
    expect(await leftOf('push_configs', 'one')).toBeLessThanOrEqual(0)
    const take = async (now: number) =>
      (
        await store.takePushes({
          now,
          busyUntil: now + MINUTE,
          limit: 9,
          share: { perHost: 9, perHolder: 9 },
          busy: [],
        })
      ).taken
    const [taken] = await take(ahead())
    expect(taken).toMatchObject({ id: 'one', tries: 1 })
    expect(await leftOf('push_configs', 'one')).toBeLessThanOrEqual(MINUTE)
    const now = ahead()
    await store.finishPush({ taken: taken!, nextAt: now, now, ended: { problem: 'timeout', tries: 1 } })
    expect(await leftOf('push_configs', 'one')).toBeLessThanOrEqual(0)
    expect(await take(Date.now() + 1)).toMatchObject([{ id: 'one', tries: 2 }])
  })
})
