// Sellers, their hosts, what they offer and what they are told; on every engine.
import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Input, Store } from '../../src/store/ports.ts'
import { listingDocument, newSeller, PAYOUT, registration } from '../support/market-sellers.ts'
import { addAccount, createPlace, ENGINES, NOW, type Place, times } from '../support/store.ts'

const A_DAY_MS = 24 * 3600 * 1000
describe.each(ENGINES)('sellers in %s', (engine) => {
  let place: Place
  let store: Store
  beforeEach(async () => {
    place = await createPlace(engine, 'market-sellers')
    store = await place.open('boot-1')
  })
  afterEach(() => place.remove())

  const register = (id: string, over: Partial<Input<'createSeller'>> = {}, keyHash = randomBytes(32)) =>
    store.createSeller(registration(over.seller ?? newSeller(id), keyHash, over))
  let told = 0
  const event = (type = 'test') => ({ id: `evt_${String(++told).padStart(4, '0')}`, type, data: { n: told } })
  const offer = (sellerId: string, serviceId: string, over: Partial<Input<'createListing'>> = {}) =>
    store.createListing({
      sellerId,
      serviceId,
      skeleton: serviceId,
      host: 'api.example.com',
      document: listingDocument(),
      limit: 3,
      now: NOW,
      ...over,
    })
  const move = (serviceId: string, over: Partial<Input<'setListingState'>> = {}) =>
    store.setListingState({
      sellerId: 'acme',
      serviceId,
      from: ['draft'],
      to: 'active',
      reason: null,
      event: event(),
      now: NOW,
      ...over,
    })
  const prove = (sellerId: string, over: Partial<Input<'proveHost'>> = {}) =>
    store.proveHost({
      sellerId,
      host: 'api.example.com',
      method: 'dns',
      signature: { kind: 'eip191', text: '0xab', address: PAYOUT },
      event: event('host.proven'),
      now: NOW + 1,
      ...over,
    })
  const claim = (sellerId: string, host = 'api.example.com', challenge = `challenge of ${sellerId}`) =>
    store.claimHost({ sellerId, host, challenge, limit: 2, now: NOW })

  it('come with an account without credits and a key of their role', async () => {
    const keyHash = randomBytes(32)
    expect(await register('acme', {}, keyHash)).toEqual({ ok: true })
    expect(await store.findSeller('acme')).toEqual(newSeller('acme'))
    expect(await store.findSellerOfAccount('acct_acme')).toEqual(newSeller('acme'))
    expect(await store.findKey(keyHash)).toMatchObject({
      role: 'seller',
      accountId: 'acct_acme',
      admin: false,
    })
    expect(await store.balance('acct_acme')).toBe(0)
    expect(await store.findSeller('other')).toBeUndefined()
  })

  it('have names that none looks like, and accounts of one seller each; a refusal leaves nothing behind', async () => {
    await register('acme')
    expect(await register('acne', { skeleton: 'acme' })).toEqual({ ok: false, reason: 'name' })
    expect(await store.getAccount('acct_acne')).toBeUndefined()
    const accountId = await addAccount(store, 5)
    const known = (id: string) => {
      const { opening: _, ...rest } = registration(newSeller(id, { accountId }), randomBytes(32), {
        from: null,
      })
      return store.createSeller(rest)
    }
    expect(await known('first')).toEqual({ ok: true })
    expect(await known('second')).toEqual({ ok: false, reason: 'account' })
    expect(await store.balance(accountId)).toBe(5)
  })

  it('are at most so many of an address, and of everybody, in a day', async () => {
    expect(await register('a-one')).toEqual({ ok: true })
    expect(await register('a-two')).toEqual({ ok: true })
    expect(await register('a-three')).toEqual({ ok: false, reason: 'address' })
    expect(await register('b-one', { from: '192.0.2.2' })).toEqual({ ok: true })
    expect(await register('c-one', { from: '192.0.2.3' })).toEqual({ ok: false, reason: 'day' })
    const later = newSeller('a-three', { createdAt: NOW + A_DAY_MS + 1 })
    expect(await register('a-three', { seller: later })).toEqual({ ok: true })
    // The addresses of the day before are forgotten.
    expect(
      await place.query('SELECT registered_from FROM market_sellers WHERE registered_from IS NOT NULL'),
    ).toEqual([{ registered_from: '192.0.2.1' }])
  })

  it('are edited from the version that was read', async () => {
    await register('acme')
    const edit = { name: 'Acme', description: 'd', payoutAddress: PAYOUT, contact: 'c', webhookUrl: null }
    expect(await store.updateSeller({ id: 'acme', fromVersion: 1, edit, now: NOW + 5 })).toMatchObject({
      name: 'Acme',
      version: 2,
      updatedAt: NOW + 5,
    })
    expect(await store.updateSeller({ id: 'acme', fromVersion: 1, edit, now: NOW + 6 })).toBeUndefined()
  })

  it('get a new key in the place of those that they had, and an operator of the account keeps its own', async () => {
    const [old, next] = [randomBytes(32), randomBytes(32)]
    await register('acme', {}, old)
    const key = {
      id: 'key_next',
      accountId: 'acct_acme',
      label: 'seller',
      admin: false,
      role: 'seller' as const,
      createdAt: NOW,
      revokedAt: null,
    }
    const operators = randomBytes(32)
    await store.addKey({ key: { ...key, id: 'key_op', role: 'operator' }, keyHash: operators })
    expect(await store.findKey(old)).toBeDefined()
    expect(await store.replaceSellerKeys({ key, keyHash: next, now: NOW + 1 })).toBe(true)
    expect(await store.findKey(old)).toBeUndefined()
    expect(await store.findKey(next)).toMatchObject({ id: 'key_next' })
    expect(await store.findKey(operators)).toMatchObject({ role: 'operator' })
  })

  it('are suspended with a reason, which touches what they offer, and told so', async () => {
    await register('acme')
    await offer('acme', 'weather')
    const suspend = {
      id: 'acme',
      state: 'suspended',
      reason: 'fraud',
      event: event('seller.suspended'),
    } as const
    expect(await store.setSellerState({ ...suspend, now: NOW + 9 })).toMatchObject({ stateReason: 'fraud' })
    expect(await store.setSellerState({ ...suspend, now: NOW + 10 })).toBeUndefined()
    expect(await store.listListingsSince({ updatedAt: NOW + 8, limit: 9 })).toHaveLength(1)
    expect((await store.listMarketEvents('acme', { limit: 9 })).items).toMatchObject([
      { type: 'seller.suspended', state: 'pending', sellerId: 'acme' },
    ])
    expect((await store.listSellers({ state: 'suspended' }, { limit: 9 })).items).toHaveLength(1)
    expect((await store.listSellers({ state: 'active' }, { limit: 9 })).items).toHaveLength(0)
  })

  it('offer listings whose every change is a version', async () => {
    await register('acme')
    const made = await offer('acme', 'weather')
    expect(made).toMatchObject({
      ok: true,
      listing: { version: 1, state: 'draft', document: listingDocument() },
    })
    const dearer = listingDocument({ description: 'Dearer' })
    const revise = (fromVersion: number, now: number) =>
      store.reviseListing({
        sellerId: 'acme',
        serviceId: 'weather',
        fromVersion,
        host: 'api.example.com',
        document: dearer,
        maxRevisionsADay: 2,
        event: event('listing.changed'),
        now,
      })
    expect(await revise(1, NOW + 1)).toMatchObject({
      ok: true,
      listing: { version: 2, document: dearer, state: 'draft' },
    })
    expect(await revise(1, NOW + 2)).toEqual({ ok: false, reason: 'version' })
    expect(await revise(2, NOW + 3)).toMatchObject({ ok: true })
    expect(await revise(3, NOW + 4)).toEqual({ ok: false, reason: 'number' })
    expect(await revise(3, NOW + 4 + A_DAY_MS)).toMatchObject({ ok: true })
    const versions = await store.listVersions({ sellerId: 'acme', serviceId: 'weather', limit: 9 })
    expect(versions.map(({ version, document }) => [version, document.description])).toEqual([
      [4, 'Dearer'],
      [3, 'Dearer'],
      [2, 'Dearer'],
      [1, 'Says what the weather is.'],
    ])
    expect(
      await store.listVersions({ sellerId: 'acme', serviceId: 'weather', before: 3, limit: 1 }),
    ).toMatchObject([{ version: 2 }])
  })

  it('change their listings as often together as ten of them may', async () => {
    await register('acme')
    for (const id of times(12, (i) => `s-${i}`))
      await offer('acme', id, { limit: 20, now: NOW - 2 * A_DAY_MS })
    const revise = (serviceId: string) =>
      store.reviseListing({
        sellerId: 'acme',
        serviceId,
        fromVersion: 1,
        host: 'api.example.com',
        document: listingDocument(),
        maxRevisionsADay: 1,
        event: event('listing.changed'),
        now: NOW,
      })
    for (const id of times(10, (i) => `s-${i}`)) expect(await revise(id)).toMatchObject({ ok: true })
    expect(await revise('s-10')).toEqual({ ok: false, reason: 'number' })
  })

  it('offer a version from when it can be bought, and no other', async () => {
    await register('acme')
    await offer('acme', 'weather')
    const of = { sellerId: 'acme', serviceId: 'weather' }
    const revise = (fromVersion: number, fromState: 'draft' | 'pending' | 'active') =>
      store.reviseListing({
        ...of,
        fromVersion,
        fromState,
        host: 'api.example.com',
        document: listingDocument(),
        maxRevisionsADay: 9,
        event: event('listing.changed'),
        now: NOW + fromVersion,
      })
    await revise(1, 'draft')
    // Whoever approves one says which; what is changed in another state than its seller saw is not changed.
    expect(await move('weather', { from: ['draft'], to: 'active', version: 1 })).toBeUndefined()
    expect(await revise(2, 'pending')).toEqual({ ok: false, reason: 'version' })
    expect(await move('weather', { from: ['draft'], to: 'active', version: 2 })).toMatchObject({ version: 2 })
    await revise(2, 'active')
    const versions = await store.listVersions({ ...of, limit: 9 })
    expect(versions.map(({ version, isOffered }) => [version, isOffered])).toEqual([
      [3, true],
      [2, true],
      [1, false],
    ])
  })

  it('whose host takes no event wait with all of theirs, and keep nobody else waiting', async () => {
    await register('acme')
    await register('other')
    const tell = (sellerId: string, id: string, now: number) =>
      store.addMarketEvent({ sellerId, event: { id, type: 't', data: {} }, now })
    for (const id of ['evt_a1', 'evt_a2', 'evt_a3']) await tell('acme', id, NOW)
    await tell('other', 'evt_b1', NOW + 1)
    const take = async (now: number) =>
      (await store.takeMarketEvents({ now, busyUntil: now + 60, limit: 1 })).map(({ id }) => id)
    expect(await take(NOW + 2)).toEqual(['evt_a1'])
    const failed = { id: 'evt_a1', state: 'pending', problem: 'timeout' } as const
    await store.finishMarketEvent({ ...failed, nextAt: NOW + 50, now: NOW + 3 })
    expect(await take(NOW + 4)).toEqual(['evt_b1'])
    expect(await take(NOW + 5)).toEqual([])
    expect(await take(NOW + 50)).toEqual(['evt_a1'])
  })

  it('are told at once of what a clock that goes a day ahead wrote down, and of what is put off when its time has come', async () => {
    await register('acme')
    await register('other')
    const DAY = 24 * 60 * 60_000
    const tell = (sellerId: string, id: string, now: number) =>
      store.addMarketEvent({ sellerId, event: { id, type: 't', data: {} }, now })
    await tell('acme', 'evt_a1', NOW)
    await tell('acme', 'evt_a2', NOW)
    await tell('other', 'evt_b1', NOW + DAY)
    const take = async (now: number) =>
      (await store.takeMarketEvents({ now, busyUntil: now + 60, limit: 9 })).map(({ id }) => id)
    expect((await take(NOW)).toSorted()).toEqual(['evt_a1', 'evt_a2', 'evt_b1'])
    await store.finishMarketEvent({ id: 'evt_b1', state: 'sent', nextAt: NOW, problem: null, now: NOW })
    const failed = { id: 'evt_a1', state: 'pending', problem: 'timeout' } as const
    await store.finishMarketEvent({ ...failed, nextAt: NOW + DAY, now: NOW + 3 })
    expect(await take(NOW + DAY - 1)).toEqual([])
    expect(await take(NOW + DAY)).toEqual(['evt_a1', 'evt_a2'])
  })

  it('have as many listings as they may, and no two that look alike', async () => {
    await register('acme')
    await offer('acme', 'one')
    expect(await offer('acme', 'one')).toEqual({ ok: false, reason: 'name' })
    expect(await offer('acme', '0ne', { skeleton: 'one' })).toEqual({ ok: false, reason: 'name' })
    expect(await offer('other', 'one')).toMatchObject({ ok: true })
    await offer('acme', 'two')
    await offer('acme', 'three')
    expect(await offer('acme', 'four')).toEqual({ ok: false, reason: 'number' })
    expect((await store.listListingsOf('acme')).map(({ serviceId }) => serviceId)).toEqual([
      'one',
      'three',
      'two',
    ])
  })

  it('move listings from the states that a step starts in, and tell of it', async () => {
    await register('acme')
    await offer('acme', 'weather')
    expect(await move('weather', { to: 'pending', now: NOW + 1 })).toMatchObject({
      state: 'pending',
      approvedAt: null,
    })
    expect(await store.listPendingListings(9)).toMatchObject([{ serviceId: 'weather' }])
    const stop = (state: 'active' | 'suspended') =>
      store.setSellerState({ id: 'acme', state, reason: 'spam', event: event(), now: NOW + 1 })
    await stop('suspended')
    expect(await store.listPendingListings(9)).toEqual([])
    await stop('active')
    expect(await move('weather', { to: 'active' })).toBeUndefined()
    const approve = { from: ['pending'], to: 'active', approvedAt: NOW + 2, now: NOW + 2 } as const
    expect(await move('weather', approve)).toMatchObject({ state: 'active', approvedAt: NOW + 2 })
    await move('weather', { from: ['active'], to: 'paused', pausedBy: 'seller', reason: 'holiday' })
    expect(await store.findListing('acme', 'weather')).toMatchObject({
      state: 'paused',
      pausedBy: 'seller',
      stateReason: 'holiday',
      approvedAt: NOW + 2,
    })
    await move('weather', { from: ['paused', 'active'], to: 'active', approvedAt: NOW + 3 })
    expect(await store.findListing('acme', 'weather')).toMatchObject({ pausedBy: null, approvedAt: NOW + 2 })
    await store.noteListingCheck({ sellerId: 'acme', serviceId: 'weather', version: 1, now: NOW + 4 })
    expect(await store.findListing('acme', 'weather')).toMatchObject({
      checkedVersion: 1,
      checkedAt: NOW + 4,
    })
  })

  it('give a copy of every listing in pages by the last change', async () => {
    await register('acme')
    for (const [i, id] of ['a', 'b', 'c'].entries()) await offer('acme', id, { now: NOW + Math.min(i, 1) })
    const first = await store.listListingsSince({ updatedAt: 0, limit: 2 })
    expect(first.map(({ serviceId }) => serviceId)).toEqual(['a', 'b'])
    const last = first.at(-1)!
    const rest = await store.listListingsSince({ updatedAt: last.updatedAt, after: last, limit: 2 })
    expect(rest.map(({ serviceId }) => serviceId)).toEqual(['c'])
  })

  it('claim a host under one challenge, as many as they may', async () => {
    await register('acme')
    expect(await claim('acme')).toMatchObject({ state: 'claimed', challenge: 'challenge of acme' })
    expect(await claim('acme', 'api.example.com', 'another')).toMatchObject({
      challenge: 'challenge of acme',
    })
    await claim('acme', 'b.example.com')
    expect(await claim('acme', 'c.example.com')).toBeUndefined()
    expect(await store.listHosts('acme')).toHaveLength(2)
  })

  it('hold a host alone: the first that proves it, also where two do at once', async () => {
    await register('acme')
    await register('thief')
    await claim('acme')
    await claim('thief')
    const outcomes = await Promise.all([prove('acme'), prove('thief')])
    expect(outcomes.filter(({ ok }) => ok)).toHaveLength(1)
    const holder = outcomes[0]!.ok ? 'acme' : 'thief'
    const loser = holder === 'acme' ? 'thief' : 'acme'
    expect(await prove(loser)).toEqual({ ok: false, heldBy: holder })
    expect(await prove(holder)).toMatchObject({ ok: true })
    expect(await prove('nobody', { host: 'free.example.com' })).toEqual({ ok: false, heldBy: undefined })
  })

  it('lose a host whose proof is gone: what it sold there is paused, and only that comes back with the proof', async () => {
    await register('acme')
    await claim('acme')
    await prove('acme')
    for (const id of ['sold', 'resting', 'draft']) await offer('acme', id)
    await move('sold')
    await move('resting')
    await move('resting', { from: ['active'], to: 'paused', pausedBy: 'seller', reason: 'holiday' })
    const lapse = () =>
      store.lapseHost({
        sellerId: 'acme',
        host: 'api.example.com',
        problem: 'no_record',
        reason: 'The proof is gone.',
        event: event('host.lapsed'),
        now: NOW + 2,
      })
    expect(await lapse()).toEqual({ changed: true, paused: 1 })
    expect(await lapse()).toEqual({ changed: false, paused: 0 })
    expect(await store.findListing('acme', 'sold')).toMatchObject({
      state: 'paused',
      pausedBy: 'proof',
      stateReason: 'The proof is gone.',
    })
    expect(await store.findHost('acme', 'api.example.com')).toMatchObject({
      state: 'lapsed',
      problem: 'no_record',
    })
    expect(await prove('acme')).toMatchObject({ ok: true, resumed: 1 })
    expect(await store.findListing('acme', 'sold')).toMatchObject({
      state: 'active',
      pausedBy: null,
      stateReason: null,
    })
    expect(await store.findListing('acme', 'resting')).toMatchObject({ state: 'paused', pausedBy: 'seller' })
    expect(await store.findListing('acme', 'draft')).toMatchObject({ state: 'draft' })
    const types = (await store.listMarketEvents('acme', { limit: 50 })).items.map(({ type }) => type)
    expect(types.filter((type) => type.startsWith('listing.')).toSorted()).toEqual([
      'listing.paused',
      'listing.resumed',
    ])
    await lapse()
    await register('other')
    await claim('other')
    expect(await prove('other')).toMatchObject({ ok: true })
    expect(await prove('acme')).toEqual({ ok: false, heldBy: 'other' })
  })

  it('keep a host through looks that could not tell', async () => {
    await register('acme')
    await claim('acme')
    await prove('acme', { now: NOW })
    const due = (over: Partial<Input<'takeHostsToCheck'>>) =>
      store.takeHostsToCheck({
        checkedBefore: NOW,
        failingBefore: 0,
        provenSince: 0,
        limit: 9,
        now: NOW + 1,
        ...over,
      })
    expect(await due({})).toEqual([])
    expect(await due({ failingBefore: NOW + 1 })).toEqual([])
    const both = await Promise.all([due({ checkedBefore: NOW + 1 }), due({ checkedBefore: NOW + 1 })])
    expect(both.flat()).toHaveLength(1)
    const fail = (now: number) =>
      store.noteHostFailure({ sellerId: 'acme', host: 'api.example.com', problem: 'timeout', now })
    await fail(NOW + 10)
    expect(await fail(NOW + 20)).toMatchObject({ state: 'proven', failures: 2, failingSince: NOW + 10 })
    expect(await due({ failingBefore: NOW + 20 })).toEqual([])
    expect(await due({ failingBefore: NOW + 21 })).toHaveLength(1)
    expect(await prove('acme')).toMatchObject({ host: { failures: 0, failingSince: null, problem: null } })
  })

  it('are told each event by one process at a time, until it is delivered or given up', async () => {
    await register('acme')
    const tell = (id: string) =>
      store.addMarketEvent({
        sellerId: 'acme',
        event: { id, type: 'payout.settled', data: { id } },
        now: NOW,
      })
    await tell('evt_a')
    await tell('evt_a')
    await tell('evt_b')
    const take = (now: number) => store.takeMarketEvents({ now, busyUntil: now + 60, limit: 9 })
    const both = await Promise.all([take(NOW), take(NOW)])
    expect(
      both
        .flat()
        .map(({ id }) => id)
        .toSorted(),
    ).toEqual(['evt_a', 'evt_b'])
    expect(await take(NOW + 59)).toEqual([])
    await store.finishMarketEvent({ id: 'evt_a', state: 'sent', nextAt: 0, problem: null, now: NOW + 1 })
    expect(await take(NOW + 60)).toMatchObject([{ id: 'evt_b', tries: 2, data: { id: 'evt_b' } }])
    await store.finishMarketEvent({
      id: 'evt_b',
      state: 'pending',
      nextAt: NOW + 500,
      problem: 'http 500',
      now: NOW,
    })
    expect(await take(NOW + 499)).toEqual([])
    expect(await store.forgetMarketEvents({ finishedBefore: NOW + 2, limit: 9 })).toBe(1)
    expect((await store.listMarketEvents('acme', { limit: 9 })).items).toMatchObject([{ id: 'evt_b' }])
  })
})
