// What discovery remembers, and one-time account references; on every engine.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Store } from '../../src/store/ports.ts'
import {
  createPlace,
  ENGINES,
  newClaim,
  NOW,
  type Place,
  settling,
  submission,
  times,
} from '../support/store.ts'

const HOUR_MS = 3600 * 1000

describe.each(ENGINES)('discovery in %s', (engine) => {
  let place: Place
  let store: Store
  beforeAll(async () => {
    place = await createPlace(engine, 'discovery')
    store = await place.open('boot-1')
  })
  afterAll(() => place.remove())

  const see = (id: string, price: string, now: number, keepPrices = 3) =>
    store.seeResources({ seen: [{ id, price }], keepPrices, now })

  it('keeps when a resource was first seen, and a line for each change of its price', async () => {
    expect(await see('r1', 'a', NOW)).toEqual([
      { id: 'r1', firstSeen: NOW, lastSeen: NOW, prices: [{ at: NOW, price: 'a' }], liveness: null },
    ])
    await see('r1', 'a', NOW + 1)
    await see('r1', 'b', NOW + 2)
    const [seen] = await see('r1', 'a', NOW + 3)
    expect(seen).toMatchObject({
      firstSeen: NOW,
      prices: [
        { at: NOW, price: 'a' },
        { at: NOW + 2, price: 'b' },
        { at: NOW + 3, price: 'a' },
      ],
    })
  })

  it('keeps the newest prices only', async () => {
    for (const [i, price] of ['a', 'b', 'c', 'd', 'e'].entries()) await see('r2', price, NOW + i)
    const [seen] = await see('r2', 'e', NOW + 9)
    expect(seen!.prices.map(({ price }) => price)).toEqual(['c', 'd', 'e'])
    expect(seen!.firstSeen).toBe(NOW)
  })

  it('answers for every one of many, known ones and new ones', async () => {
    const seen = times(137, (i) => ({ id: `many-${i}`, price: 'a' }))
    await store.seeResources({ seen: seen.slice(0, 60), keepPrices: 3, now: NOW })
    const found = await store.seeResources({ seen, keepPrices: 3, now: NOW + 5 })
    expect(new Map(found.map(({ id, firstSeen }) => [id, firstSeen]))).toEqual(
      new Map(seen.map(({ id }, i) => [id, i < 60 ? NOW : NOW + 5])),
    )
    expect(await store.seeResources({ seen: [], keepPrices: 3, now: NOW })).toEqual([])
  })

  it('sees the same catalogue from several sides at once without a gap or a repetition', async () => {
    const seen = times(60, (i) => ({ id: `both-${i}`, price: 'a' }))
    const answers = await Promise.all(
      times(4, (i) =>
        store.seeResources({ seen: i % 2 ? seen : seen.toReversed(), keepPrices: 3, now: NOW + i }),
      ),
    )
    for (const answer of answers) expect(answer).toHaveLength(60)
    const [first] = await see('both-0', 'a', NOW + 10)
    expect(first!.prices).toHaveLength(1)
  })

  it('remembers what our own look found, across a restart', async () => {
    await see('r3', 'a', NOW)
    await store.recordLiveness({ id: 'r3', liveness: '{"state":"alive"}' })
    await store.recordLiveness({ id: 'nothing', liveness: '{}' })
    await store.close()
    store = await place.open('boot-2')
    const [seen] = await store.seeResources({ seen: [{ id: 'r3', price: 'a' }], keepPrices: 3, now: NOW })
    expect(seen).toMatchObject({ liveness: '{"state":"alive"}' })
  })

  it('forgets what nobody lists any more, and the oldest beyond a number', async () => {
    await store.forgetResources({ notSeenSince: NOW + 1000 * HOUR_MS, keep: 0, limit: 10_000 })
    for (const i of [0, 1, 2, 3]) await see(`old-${i}`, 'a', NOW + i * 2 * HOUR_MS)
    // Seen again: younger than old-1 by now.
    await see('old-0', 'a', NOW + 5 * HOUR_MS)
    const forgotten = await store.forgetResources({ notSeenSince: NOW + 3 * HOUR_MS, keep: 2, limit: 10 })
    expect(forgotten).toBe(2)
    const left = await place.query('SELECT id FROM discovery_resources ORDER BY id')
    expect(left.map(({ id }) => id)).toEqual(['old-0', 'old-3'])
    expect(await store.forgetResources({ notSeenSince: NOW, keep: 2, limit: 10 })).toBe(0)
  })

  describe('a one-time account reference', () => {
    const claim = async () => {
      const claimed = await store.claimPayment({ claim: newClaim(), bootId: 'boot-1' })
      if (!claimed.ok) throw new Error('the claim was refused')
      return claimed.claim.id
    }
    const take = (id: string, claimId: string) => store.takeReference({ id, claimId, now: NOW })

    it('pays through one claim only, whose state is told to the others', async () => {
      const [one, two] = [await claim(), await claim()]
      expect(await take('ref-1', one)).toEqual({ ok: true })
      expect(await take('ref-1', one)).toEqual({ ok: true })
      expect(await take('ref-1', two)).toEqual({ ok: false, claim: { id: one, state: 'claimed' } })
      await store.submitClaim(submission(one, 'boot-1'))
      await store.settleClaim(settling(one))
      expect(await take('ref-1', two)).toEqual({ ok: false, claim: { id: one, state: 'settled' } })
    })

    it('is free again when its claim was canceled or failed', async () => {
      const [one, two, three] = [await claim(), await claim(), await claim()]
      await take('ref-2', one)
      await store.cancelClaim({ id: one, bootId: 'boot-1', reason: 'x', now: NOW })
      expect(await take('ref-2', two)).toEqual({ ok: true })
      await store.submitClaim(submission(two, 'boot-1'))
      expect(await take('ref-2', three)).toMatchObject({ ok: false, claim: { state: 'submitted' } })
      await store.moveClaim({ id: two, to: 'failed', reason: 'x', transaction: null, now: NOW })
      expect(await take('ref-2', three)).toEqual({ ok: true })
    })

    it('is won by one of many claims at once', async () => {
      const claims = await Promise.all(times(8, claim))
      const results = await Promise.all(claims.map((id) => take('ref-3', id)))
      expect(results.filter(({ ok }) => ok)).toHaveLength(1)
    })

    it('is forgotten after a day', async () => {
      const [one, two] = [await claim(), await claim()]
      await take('ref-4', one)
      await store.takeReference({ id: 'ref-5', claimId: two, now: NOW + 25 * HOUR_MS })
      const left = await place.query(`SELECT id FROM purchase_references WHERE id IN ('ref-4', 'ref-5')`)
      expect(left).toEqual([{ id: 'ref-5' }])
    })
  })
})
