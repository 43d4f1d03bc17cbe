// Keys of email verification and their days, on every engine.
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../src/ids.ts'
import type { EmailKey, Store } from '../../src/store/ports.ts'
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

  async function addKey(): Promise<{ key: EmailKey; keyHash: Buffer }> {
    const made = { key: { id: newId('ek', NOW), createdAt: NOW, revokedAt: null }, keyHash: randomBytes(32) }
    await store.createEmailKey(made)
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
})
