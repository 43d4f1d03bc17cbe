// A rotation of the wrapping authority as rows: one at a time, its progress kept, taken over from the dead alone.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Store } from '../../src/store/ports.ts'
import { addAccount, NOW, type Place, sealedCredential } from '../support/store.ts'
import { createPlaceWith, PLACES } from '../support/useless-locks.ts'

const begin = (store: Store, id: string, bootId: string) =>
  store.beginRotation({ id, fromKid: 'k1', bootId, now: NOW })
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
    const begun = await Promise.all(Array.from({ length: 8 }, (_, i) => begin(store, `rot_${i}`, 'boot_1')))
    const [winner] = begun.flatMap((each) => (each.ok ? [each.rotation.id] : []))
    expect(begun.filter(({ ok }) => ok)).toHaveLength(1)
    for (const each of begun) if (!each.ok) expect(each.running.id).toBe(winner)
    await store.finishRotation({ ...end, id: winner ?? '', bootId: 'boot_1' })
    expect((await begin(store, 'rot_9', 'boot_1')).ok).toBe(true)
  })

  it('keeps its progress, for whoever works on it and nobody else', async () => {
    await begin(store, 'rot_1', 'boot_1')
    const ours = { id: 'rot_1', bootId: 'boot_1', now: NOW + 5 }
    const change = { step: 'key_made', kid: 'k2', retired: ['k1'], total: 7 } as const
    expect(await store.advanceRotation({ ...ours, change })).toBe(true)
    for (const rewrapped of [3, 4]) await store.advanceRotation({ ...ours, change: { rewrapped } })
    expect(await store.advanceRotation({ ...ours, bootId: 'boot_2', change: { rewrapped: 9 } })).toBe(false)
    expect(await store.finishRotation({ ...end, id: 'rot_1', bootId: 'boot_2' })).toBeUndefined()
    expect(await store.latestRotation()).toMatchObject({
      ...change,
      rewrapped: 7,
      state: 'running',
      updatedAt: NOW + 5,
    })
    expect(await store.finishRotation({ ...end, id: 'rot_1', bootId: 'boot_1' })).toMatchObject({
      state: 'done',
    })
    expect(await store.advanceRotation({ ...ours, change: { rewrapped: 1 } })).toBe(false)
  })

  it('is taken over once its process is dead, and not before', async () => {
    await begin(store, 'rot_1', 'boot_1')
    expect(await store.takeOverRotation({ bootId: 'boot_1', now: NOW })).toBeUndefined()
    if (engine === 'postgres') {
      const replica = await place.open('boot_2')
      expect(await replica.takeOverRotation({ bootId: 'boot_2', now: NOW })).toBeUndefined()
    }
    await store.close()
    const next = await place.open('boot_3')
    expect(await next.takeOverRotation({ bootId: 'boot_3', now: NOW })).toMatchObject({
      id: 'rot_1',
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
