// Who is told, and what is still to be told: on every engine.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Store } from '../../src/store/ports.ts'
import { newId } from '../../src/lib/ids.ts'
import { addAccount, createPlace, ENGINES, NOW, type Place, times } from '../support/store.ts'

describe.each(ENGINES)('notifications in %s', (engine) => {
  let place: Place
  let store: Store
  beforeAll(async () => {
    place = await createPlace(engine, 'notifications')
    store = await place.open()
  })
  afterAll(() => place.remove())

  const target = (accountId: string, admin = false) => ({
    id: newId('ntg', NOW),
    accountId,
    host: 'hooks.example.com:443',
    sealed: Buffer.from('sealed'),
    kinds: ['approval', 'settler_low'] as const,
    admin,
    createdAt: NOW,
    createdBy: 'key_1',
  })
  const queue = (
    accountId: string | undefined,
    about: string,
    kind: 'approval' | 'settler_low' = 'approval',
    now = NOW,
  ) => store.queueNotifications({ accountId, kind, about, body: '{}', againAfter: 60_000, now })
  const take = (now: number) => store.takeNotifications({ now, busyUntil: now + 60_000, limit: 9 })

  it('are queued once for the same thing, taken by one, and gone when they were told', async () => {
    const accountId = await addAccount(store, 0)
    const added = target(accountId)
    expect(await store.addNotificationTarget(added, 9)).toBe(true)
    expect(await queue(accountId, 'pmt_1')).toBe(1)
    expect(await queue(accountId, 'pmt_1', 'approval', NOW + 59_999)).toBe(0)
    expect(await queue(await addAccount(store, 0), 'pmt_1')).toBe(0)
    const taken = (await Promise.all(times(4, () => take(NOW)))).flat()
    expect(taken).toMatchObject([{ tries: 1, target: { id: added.id, admin: false } }])
    const [{ id } = { id: '' }] = taken
    await store.finishNotification({
      id,
      targetId: added.id,
      problem: 'reset',
      nextAt: NOW + 5,
      now: NOW + 1,
    })
    expect(await take(NOW + 4)).toEqual([])
    expect(await take(NOW + 5)).toMatchObject([{ id, tries: 2 }])
    await store.finishNotification({ id, targetId: added.id, problem: null, nextAt: null, now: NOW + 6 })
    expect(await take(NOW + 1e9)).toEqual([])
    expect(await store.listNotificationTargets(accountId)).toMatchObject([
      { toldAt: NOW + 6, problem: 'reset', problemAt: NOW + 1 },
    ])
    expect(await store.forgetNotifications({ before: NOW + 1, limit: 9 })).toBe(1)
    expect(await queue(accountId, 'pmt_1', 'approval', NOW + 60_001)).toBe(1)
    expect(
      await store.removeNotificationTarget({ id: added.id, accountId: 'acct_other', now: NOW }),
    ).toBeUndefined()
    await store.removeNotificationTarget({ id: added.id, accountId, now: NOW })
    expect(await take(NOW + 1e9)).toEqual([])
  })

  it('are queued once, of thirty that have the same to tell at once', async () => {
    const accountId = await addAccount(store, 0)
    await store.addNotificationTarget(target(accountId), 9)
    const queued = await Promise.all(times(30, () => queue(accountId, 'pmt_2')))
    expect(queued.reduce((sum, one) => sum + one)).toBe(1)
    expect(await take(NOW)).toHaveLength(1)
  })

  it('about the installation go to those who look after it, and no account has more than it may', async () => {
    const [accountId, other] = [await addAccount(store, 0), await addAccount(store, 0)]
    await store.addNotificationTarget(target(accountId, true), 9)
    await store.addNotificationTarget(target(other), 9)
    expect(await queue(undefined, '0xabc', 'settler_low')).toBe(1)
    const answers = await Promise.all(times(8, () => store.addNotificationTarget(target(other), 3)))
    expect(answers.filter(Boolean)).toHaveLength(2)
    expect(await store.listNotificationTargets(other)).toHaveLength(3)
  })
})
