// Keys of email verification and their days, on every engine.
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../src/lib/ids.ts'
import type { EmailKey, KeyLimit, Store } from '../../src/store/ports.ts'
import { createPlace, ENGINES, NOW, type Place, times } from '../support/store.ts'

const DAY = '2026-06-01'

describe.each(ENGINES)('keys of email verification in %s', (engine) => {
  let place: Place
  let store: Store
  beforeAll(async () => {
    place = await createPlace(engine, 'email')
    store = await place.open()
  })
  afterAll(() => place.remove())

  const newKey = (createdAt = NOW, limits: readonly KeyLimit[] = []) => {
    const lastSeenDay = new Date(createdAt).toISOString().slice(0, 10)
    const key: EmailKey = { id: newId('ek', createdAt), createdAt, revokedAt: null, lastSeenDay }
    return { key, keyHash: randomBytes(32), limits }
  }
  async function addKey(createdAt = NOW) {
    const made = newKey(createdAt)
    expect(await store.createEmailKey(made)).toEqual({ ok: true })
    return made
  }
  const used = async (keyId: string) =>
    (await place.query(`SELECT day, used FROM email_quota WHERE key_id = '${keyId}' ORDER BY day`)).map(
      (row) => [row['day'], Number(row['used'])],
    )

  it('are found by their hash, and no longer once they are revoked, which happens once', async () => {
    const { key, keyHash } = await addKey()
    expect(await store.findEmailKey(keyHash)).toEqual(key)
    expect(await store.findEmailKey(randomBytes(32))).toBeUndefined()
    const revoked = { ...key, revokedAt: NOW + 5 }
    expect(await store.revokeEmailKey({ id: key.id, now: NOW + 5 })).toEqual(revoked)
    expect(await store.revokeEmailKey({ id: key.id, now: NOW + 9 })).toEqual(revoked)
    expect(await store.findEmailKey(keyHash)).toBeUndefined()
    expect(await store.revokeEmailKey({ id: newId('ek', NOW), now: NOW })).toBeUndefined()
  })

  it('have a day of so many addresses: what does not fit is refused whole and counts nothing', async () => {
    const keyId = newId('ek', NOW)
    const take = (count: number) => store.takeEmailQuota({ keyId, day: DAY, count, limit: 10 })
    expect(await take(11)).toEqual({ ok: false, used: 0 })
    expect(await used(keyId)).toEqual([])
    expect(await take(8)).toEqual({ ok: true, used: 8 })
    expect(await take(3)).toEqual({ ok: false, used: 8 })
    expect(await take(2)).toEqual({ ok: true, used: 10 })
    expect(await take(1)).toEqual({ ok: false, used: 10 })
    expect(await used(keyId)).toEqual([[DAY, 10]])
    // The next day, and another key, are not concerned.
    expect(await store.takeEmailQuota({ keyId, day: '2026-06-02', count: 10, limit: 10 })).toMatchObject({
      ok: true,
    })
    expect(
      await store.takeEmailQuota({ keyId: newId('ek', NOW), day: DAY, count: 10, limit: 10 }),
    ).toMatchObject({ ok: true })
  })

  it('never get more than their day from a hundred requests at once', async () => {
    const keyId = newId('ek', NOW)
    const taken = await Promise.all(
      times(100, () => store.takeEmailQuota({ keyId, day: DAY, count: 3, limit: 50 })),
    )
    expect(taken.filter(({ ok }) => ok)).toHaveLength(16)
    expect(await used(keyId)).toEqual([[DAY, 48]])
  })

  it('get back what they did not use, and never more than they had', async () => {
    const keyId = newId('ek', NOW)
    await store.takeEmailQuota({ keyId, day: DAY, count: 8, limit: 10 })
    await store.returnEmailQuota({ keyId, day: DAY, count: 5 })
    expect(await used(keyId)).toEqual([[DAY, 3]])
    await store.returnEmailQuota({ keyId, day: DAY, count: 4 })
    await store.returnEmailQuota({ keyId, day: '2026-06-02', count: 1 })
    expect(await used(keyId)).toEqual([[DAY, 3]])
  })

  it('lose the days that are over, and nothing else', async () => {
    const keyId = newId('ek', NOW)
    const { keyHash } = await addKey()
    for (const day of ['2026-05-28', '2026-05-30', '2026-05-31', DAY])
      await store.takeEmailQuota({ keyId, day, count: 1, limit: 10 })
    expect((await store.sweep(NOW))['emailDays']).toBe(2)
    expect((await used(keyId)).map(([day]) => day)).toEqual(['2026-05-31', DAY])
    expect(await store.findEmailKey(keyHash)).toBeDefined()
  })

  it('are listed newest first, with what they have of the day, in pages', async () => {
    const later = Date.parse('2030-01-01T00:00:00Z')
    const keys = [await addKey(later), await addKey(later + 1), await addKey(later + 2)]
    const [oldest, middle, newest] = keys.map(({ key }) => key)
    await store.takeEmailQuota({ keyId: middle!.id, day: '2030-01-01', count: 7, limit: 10 })
    await store.takeEmailQuota({ keyId: middle!.id, day: '2030-01-02', count: 9, limit: 10 })
    await store.revokeEmailKey({ id: newest!.id, now: later + 9 })
    const page = await store.listEmailKeys({ limit: 2, day: '2030-01-01' })
    expect(page).toEqual({
      items: [
        { ...newest, revokedAt: later + 9, usedToday: 0 },
        { ...middle, usedToday: 7 },
      ],
      next: middle!.id,
    })
    const rest = await store.listEmailKeys({ limit: 1, before: page.next!, day: '2030-01-01' })
    expect(rest.items).toEqual([{ ...oldest, usedToday: 0 }])
    expect(await store.listEmailKeys({ limit: 1, before: 'ek_', day: DAY })).toEqual({
      items: [],
      next: null,
    })
  })

  it('are made within the limits of who asks: all of them count, or none', async () => {
    const holder = '192.0.2.0/24'
    const limits = (hour: string): KeyLimit[] => [
      { holder, period: `${DAY}T${hour}`, keys: 2 },
      { holder, period: DAY, keys: 3 },
    ]
    const make = (hour: string) => store.createEmailKey(newKey(NOW, limits(hour)))
    expect(await make('00')).toEqual({ ok: true })
    expect(await make('00')).toEqual({ ok: true })
    expect(await make('00')).toEqual({ ok: false, reached: 0 })
    expect(await make('01')).toEqual({ ok: true })
    const refused = newKey(NOW, limits('01'))
    expect(await store.createEmailKey(refused)).toEqual({ ok: false, reached: 1 })
    expect(await store.findEmailKey(refused.keyHash)).toBeUndefined()
    expect(await used(holder)).toEqual([
      [DAY, 3],
      [`${DAY}T00`, 2],
      [`${DAY}T01`, 1],
    ])
  })

  it('are never more than the limit for a hundred who ask at once', async () => {
    const limits = [{ holder: '198.51.100.0/24', period: DAY, keys: 5 }]
    const made = await Promise.all(times(100, () => store.createEmailKey(newKey(NOW, limits))))
    expect(made.filter(({ ok }) => ok)).toHaveLength(5)
  })

  it('go when nobody used them for 180 days, and stay for as long when somebody did', async () => {
    const made = Date.parse('2025-01-01T12:00:00Z')
    const dayMs = 24 * 3600 * 1000
    const [unused, revoked, inUse] = [await addKey(made), await addKey(made), await addKey(made)]
    await store.revokeEmailKey({ id: revoked.key.id, now: made })
    await store.touchEmailKey({ id: inUse.key.id, day: '2025-03-01' })
    await store.touchEmailKey({ id: inUse.key.id, day: '2025-02-01' })
    expect(await store.findEmailKey(inUse.keyHash)).toMatchObject({ lastSeenDay: '2025-03-01' })
    expect(await store.sweep(made + 180 * dayMs)).toMatchObject({ emailKeys: 0 })
    expect(await store.findEmailKey(unused.keyHash)).toBeDefined()
    expect(await store.sweep(made + 181 * dayMs)).toMatchObject({ emailKeys: 2 })
    expect(await store.findEmailKey(unused.keyHash)).toBeUndefined()
    expect(await store.findEmailKey(inUse.keyHash)).toBeDefined()
    expect(await store.sweep(Date.parse('2025-08-28T23:59:59Z'))).toMatchObject({ emailKeys: 0 })
    expect(await store.sweep(Date.parse('2025-08-29T00:00:00Z'))).toMatchObject({ emailKeys: 1 })
  })

  it('without a day, as an older release makes them beside this one, are not swept as if they were old', async () => {
    const { key, keyHash } = newKey(NOW)
    await store.createEmailKey({ key: { ...key, lastSeenDay: '' }, keyHash, limits: [] })
    expect(await store.sweep(NOW)).toMatchObject({ emailKeys: 0 })
    expect(await store.findEmailKey(keyHash)).toBeDefined()
  })
})
