// A rotation of the wrapping authority as rows: one at a time, its progress kept, taken over from the dead alone.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Store } from '../../src/store/ports.ts'
import { runRaw } from '../support/raw-sql.ts'
import { addAccount, NOW, type Place, sealedCredential } from '../support/store.ts'
import { createPlaceWith, PLACES } from '../support/useless-locks.ts'

const begin = (store: Store, bootId: string, now = NOW) => store.beginRotation({ fromKid: 'k1', bootId, now })
/** Its id. */
async function begun(store: Store, bootId: string, now = NOW): Promise<string> {
  const made = await begin(store, bootId, now)
  if (!made.ok) throw new Error('another one runs')
  return made.rotation.id
}
const end = { state: 'done', credentialIds: [], broken: 0, now: NOW } as const

describe.each(PLACES)('a rotation in %s with locks that are %s', (...kind) => {
  const [engine] = kind
  let place: Place
  let store: Store
  beforeEach(async () => {
    place = await createPlaceWith(kind, 'rotations')
    store = await place.open('boot_1')
  })
  afterEach(() => place.remove())

  it('is begun by one of many at once', async () => {
    const all = await Promise.all(Array.from({ length: 8 }, () => begin(store, 'boot_1')))
    const [winner] = all.flatMap((each) => (each.ok ? [each.rotation.id] : []))
    expect(all.filter(({ ok }) => ok)).toHaveLength(1)
    for (const each of all) if (!each.ok) expect(each.running.id).toBe(winner)
    await store.finishRotation({ ...end, id: winner ?? '', bootId: 'boot_1' })
    expect((await begin(store, 'boot_1')).ok).toBe(true)
  })

  it('is the newest by when it began, whatever the clock said then', async () => {
    const ids: string[] = []
    // An hour forward, an hour back, and one of the very same moment.
    for (const now of [NOW, NOW + 3_600_000, NOW, NOW]) {
      const id = await begun(store, 'boot_1', now)
      expect(await store.latestRotation()).toMatchObject({ id, state: 'running', createdAt: now })
      await store.finishRotation({ ...end, id, bootId: 'boot_1' })
      expect(await store.latestRotation()).toMatchObject({ id, state: 'done' })
      ids.push(id)
    }
    expect(ids.toSorted()).toEqual(ids)
    for (const id of ids) expect((await store.getRotation(id))?.id).toBe(id)
    expect(await store.getRotation('rot_none')).toBeUndefined()
  })

  it('is the newest while it runs, also behind one of an earlier release that had the later clock', async () => {
    const id = await begun(store, 'boot_1')
    await runRaw(
      place,
      `INSERT INTO authority_rotations (id, state, step, from_kid, retired, rewrapped, broken, credential_ids, boot_id, created_at, updated_at)
       VALUES ('rot_zzz', 'failed', 'begun', 'k1', '[]', 0, 0, '[]', 'boot_1', 1, 1)`,
    )
    expect((await store.latestRotation())?.id).toBe(id)
  })

  it('keeps its progress, for whoever works on it and nobody else', async () => {
    const id = await begun(store, 'boot_1')
    const ours = { id, bootId: 'boot_1', now: NOW + 5 }
    const change = { step: 'key_made', kid: 'k2', retired: ['k1'], total: 7 } as const
    expect(await store.advanceRotation({ ...ours, change })).toBe(true)
    for (const rewrapped of [3, 4]) await store.advanceRotation({ ...ours, change: { rewrapped } })
    expect(await store.advanceRotation({ ...ours, bootId: 'boot_2', change: { rewrapped: 9 } })).toBe(false)
    expect(await store.finishRotation({ ...end, id, bootId: 'boot_2' })).toBeUndefined()
    expect(await store.latestRotation()).toMatchObject({
      ...change,
      rewrapped: 7,
      state: 'running',
      updatedAt: NOW + 5,
    })
    expect(await store.finishRotation({ ...end, id, bootId: 'boot_1' })).toMatchObject({
      state: 'done',
    })
    expect(await store.advanceRotation({ ...ours, change: { rewrapped: 1 } })).toBe(false)
  })

  it('is taken over once its process is dead, and not before', async () => {
    const id = await begun(store, 'boot_1')
    expect(await store.takeOverRotation({ bootId: 'boot_1', now: NOW })).toBeUndefined()
    if (engine === 'postgres') {
      const replica = await place.open('boot_2')
      expect(await replica.takeOverRotation({ bootId: 'boot_2', now: NOW })).toBeUndefined()
    }
    await store.close()
    const next = await place.open('boot_3')
    expect(await next.takeOverRotation({ bootId: 'boot_3', now: NOW })).toMatchObject({
      id,
      bootId: 'boot_3',
    })
    expect(await next.takeOverRotation({ bootId: 'boot_3', now: NOW })).toBeUndefined()
  })

  it('lets no record be stored under a key that was retired', async () => {
    const accountId = await addAccount(store, 0)
    const credential = sealedCredential(accountId)
    const { kid } = credential.sealed.wrap
    await store.insertCredential(credential)
    expect(await store.countWrapsNotUnder(kid)).toEqual({ total: 0, kids: [] })
    expect(await store.countWrapsNotUnder('other')).toEqual({ total: 1, kids: [kid] })
    await store.publishKey({ kid, purpose: 'wrap', jwk: '{}', notBefore: NOW, retiredAt: null })
    await store.retireKey(kid, NOW)
    const refusal = { code: 'state_conflict', reason: 'wrapping_key_retired' }
    await expect(store.insertCredential(sealedCredential(accountId))).rejects.toMatchObject(refusal)
    const { id, sealed } = credential
    await expect(
      store.rotateCredential({ id, accountId, fromVersion: 1, sealed, now: NOW }),
    ).rejects.toMatchObject(refusal)
  })
})
