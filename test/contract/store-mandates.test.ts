// Mandates: one row for the same terms, its limits taken atomically, its revocation final; on every engine.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../src/lib/ids.ts'
import type { Store } from '../../src/store/ports.ts'
import { addAccount, addCredential, createPlace, ENGINES, NOW, type Place, times } from '../support/store.ts'
import {
  addGrant,
  addPermit,
  brokenActions,
  execution,
  heldOf,
  newMandate,
  preparation,
} from '../support/store-actions.ts'

describe.each(ENGINES)('mandates in %s', (engine) => {
  let place: Place
  let store: Store
  beforeAll(async () => {
    place = await createPlace(engine, 'mandates')
    store = await place.open('boot-1')
  })
  afterEach(async () => expect(await brokenActions(place)).toEqual([]))
  afterAll(() => place.remove())

  const addOwner = async () => {
    const accountId = await addAccount(store, 10)
    return { accountId, credentialId: (await addCredential(store, accountId)).id }
  }

  it('keeps every term as it was given', async () => {
    const owner = await addOwner()
    const all = [
      newMandate(owner),
      newMandate(owner, {
        maxCalls: null,
        maxCredits: 7,
        requiresApproval: true,
        methods: ['DELETE'],
        pathPrefix: '/',
        host: 'api.example.com:8443',
      }),
    ]
    for (const mandate of all) {
      const stored = { ...mandate, calls: 0, credits: 0, revokedAt: null }
      expect(await store.insertMandate(mandate)).toEqual(stored)
      expect(await store.getMandate(mandate.id, owner.accountId)).toEqual(stored)
    }
  })

  it('is one row for the same account and digest, however many ask at once', async () => {
    const owner = await addOwner()
    const { digest } = newMandate(owner)
    const stored = await Promise.all(times(20, () => store.insertMandate(newMandate(owner, { digest }))))
    expect(new Set(stored.map(({ id }) => id)).size).toBe(1)
    expect((await store.listMandates(owner.accountId, { limit: 9 })).items).toEqual([stored[0]])
    // The digest of one account is nobody else's.
    const other = await store.insertMandate(newMandate(await addOwner(), { digest }))
    expect(other.id).not.toBe(stored[0]!.id)
  })

  it('comes back with its counters and its revocation when the same terms are given again', async () => {
    const grant = await addGrant(store, 10)
    const { mandate, accountId } = grant
    await addPermit(store, grant)
    const again = { ...newMandate(grant), digest: mandate.digest }
    expect(await store.insertMandate(again)).toEqual({ ...mandate, calls: 1, credits: 1 })
    const revoked = await store.revokeMandate({ id: mandate.id, accountId, now: NOW + 5 })
    expect(revoked).toEqual({ ...mandate, calls: 1, credits: 1, revokedAt: NOW + 5 })
    expect(await store.insertMandate(again)).toEqual(revoked)
  })

  it('refuses an id that another mandate has, and a purpose that no engine could hold', async () => {
    const { mandate, ...owner } = await addGrant(store, 1)
    await expect(store.insertMandate(newMandate(owner, { id: mandate.id }))).rejects.toMatchObject({
      code: 'state_conflict',
    })
    await expect(store.insertMandate(newMandate(owner, { purpose: 'a\0b' }))).rejects.toMatchObject({
      code: 'input_invalid',
    })
    expect((await store.listMandates(owner.accountId, { limit: 9 })).items).toEqual([mandate])
  })

  it('is listed newest first in pages, to its account only', async () => {
    const owner = await addOwner()
    const ids = times(5, (i) => newId('mdt', NOW + i))
    for (const id of ids) await store.insertMandate(newMandate(owner, { id }))
    const first = await store.listMandates(owner.accountId, { limit: 3 })
    expect(first.items.map(({ id }) => id)).toEqual(ids.slice(2).toReversed())
    const second = await store.listMandates(owner.accountId, { limit: 3, before: first.next! })
    expect(second).toMatchObject({ items: [{ id: ids[1] }, { id: ids[0] }], next: null })
    expect(await store.listMandates('acct_other', { limit: 3 })).toEqual({ items: [], next: null })
    expect(await store.getMandate(ids[0]!, 'acct_other')).toBeUndefined()
  })

  it('is revoked once, by its account, and takes neither a preparation nor an execution any more', async () => {
    const grant = await addGrant(store, 10)
    const { mandate, accountId } = grant
    const permit = await addPermit(store, grant)
    const revoke = (by: string, now: number) => store.revokeMandate({ id: mandate.id, accountId: by, now })
    expect(await revoke('acct_other', NOW)).toBeUndefined()
    expect(await revoke(accountId, NOW + 1)).toMatchObject({ revokedAt: NOW + 1 })
    expect(await revoke(accountId, NOW + 2)).toMatchObject({ revokedAt: NOW + 1 })
    expect(await store.preparePermit(preparation(grant))).toEqual({ ok: false, reason: 'mandate_gone' })
    expect(await store.reserveAction(execution(permit))).toEqual({ ok: false, reason: 'mandate_gone' })
    expect(await store.getPermit(permit.id)).toMatchObject({ state: 'ready', attemptId: null })
    expect(await store.balance(accountId)).toBe(10)
  })

  it.each<[string, { maxCalls: number | null; maxCredits: number | null }, number, number]>([
    ['calls', { maxCalls: 7, maxCredits: null }, 1, 7],
    ['credits', { maxCalls: null, maxCredits: 7 }, 1, 7],
    ['credits of permits that cost two', { maxCalls: null, maxCredits: 7 }, 2, 3],
    ['the smaller of both', { maxCalls: 5, maxCredits: 7 }, 1, 5],
  ])(
    'gives %s to forty preparations at once exactly as often as it allows',
    async (_, limits, cost, fits) => {
      const grant = await addGrant(store, 10, limits)
      const results = await Promise.all(times(40, () => store.preparePermit(preparation(grant, { cost }))))
      expect(results.filter((result) => result.ok)).toHaveLength(fits)
      expect(results.filter((result) => !result.ok && result.reason === 'mandate_used_up')).toHaveLength(
        40 - fits,
      )
      expect(await heldOf(store, grant)).toEqual([fits, fits * cost])
      const { items } = await store.listPermits({ accountId: grant.accountId, now: NOW }, { limit: 50 })
      expect(items).toHaveLength(fits)
    },
  )
})

describe('one mandate and two processes on one PostgreSQL database', () => {
  it('is stored once and never exceeded', async () => {
    const place = await createPlace('postgres', 'mandate_replicas')
    try {
      const [a, b] = await Promise.all([place.open('boot-a'), place.open('boot-b')])
      const grant = await addGrant(a, 10, { maxCalls: 9 })
      const { digest } = grant.mandate
      const stored = await Promise.all(
        times(20, (i) => (i % 2 ? a : b).insertMandate(newMandate(grant, { digest }))),
      )
      expect(new Set(stored.map(({ id }) => id))).toEqual(new Set([grant.mandate.id]))
      const results = await Promise.all(times(40, (i) => (i % 2 ? a : b).preparePermit(preparation(grant))))
      expect(results.filter((result) => result.ok)).toHaveLength(9)
      expect(await brokenActions(place)).toEqual([])
    } finally {
      await place.remove()
    }
  })
})
