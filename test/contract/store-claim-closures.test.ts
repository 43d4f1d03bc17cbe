// Payments that an operator closes by hand: once, in no other state, with what they had taken given back, on every engine.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Store } from '../../src/store/ports.ts'
import {
  addAccount,
  createPlace,
  ENGINES,
  newClaim,
  NOW,
  type Place,
  settling,
  submission,
} from '../support/store.ts'

const BOOT = 'boot-1'

describe.each(ENGINES)('closing a payment by hand in %s', (engine) => {
  let place: Place
  let store: Store
  beforeAll(async () => {
    place = await createPlace(engine, 'closures')
    store = await place.open(BOOT)
  })
  afterAll(() => place.remove())

  const close = (id: string) =>
    store.closeClaim({ id, reason: 'in no block', closedBy: 'key_1', now: NOW + 5 })
  async function unknown(over: Parameters<typeof newClaim>[0] = {}): Promise<string> {
    const { id } = await submitted(over)
    await store.moveClaim({ id, to: 'unknown', reason: 'timeout', transaction: null, now: NOW })
    return id
  }
  async function submitted(over: Parameters<typeof newClaim>[0] = {}) {
    const claim = newClaim(over)
    await store.claimPayment({ claim, bootId: BOOT })
    await store.submitClaim({
      ...submission(claim.id, BOOT),
      result: { json: '{}', sha256: 'a'.repeat(64), expiresAt: NOW + 99 },
    })
    return claim
  }

  it('makes it failed for good, keeps its payment claimed, and remembers who and why', async () => {
    const claim = newClaim()
    const id = await unknown(claim)
    const closed = await Promise.all([close(id), close(id), close(id)])
    expect(closed.filter(({ ok }) => ok)).toHaveLength(1)
    expect(await store.getClaim(id)).toMatchObject({
      state: 'failed',
      reason: 'closed_by_operator',
      finishedAt: NOW + 5,
    })
    expect(await store.getClaimResult(id)).toBeUndefined()
    expect(await store.findClaim(claim)).toMatchObject({ id })
    expect(await store.claimPayment({ claim: { ...claim, id: newClaim().id }, bootId: BOOT })).toMatchObject({
      ok: false,
      reason: 'payment',
    })
    expect(await store.getClaimClosure(id)).toEqual({
      claimId: id,
      was: 'unknown',
      reason: 'in no block',
      closedBy: 'key_1',
      closedAt: NOW + 5,
    })
    expect(await store.settleClaim(settling(id))).toBeUndefined()
  })

  it('touches no payment in another state', async () => {
    const [settled, sent, claimed] = [await submitted(), await submitted(), newClaim()]
    await store.settleClaim(settling(settled.id))
    await store.claimPayment({ claim: claimed, bootId: BOOT })
    for (const { id } of [settled, sent, claimed, newClaim()]) {
      const before = await store.getClaim(id)
      expect(await close(id)).toEqual({ ok: false })
      expect(await store.getClaim(id)).toEqual(before)
      expect(await store.getClaimClosure(id)).toBeUndefined()
    }
  })

  it('gives back what a settlement for another seller was paid with, and the credits of one that had settled', async () => {
    const accountId = await addAccount(store, 5)
    const take = {
      month: '2026-06',
      accountId,
      now: NOW,
      allowances: [{ holder: 'h', allowance: 0 }] as const,
    }
    const id = await unknown({ origin: 'settle', tool: 'settle', accountId })
    await store.takeSettlement({ ...take, claimId: id, transactionId: `txn_${id}` })
    expect(await store.getSettlementTake(id)).toEqual({ month: '2026-06', paidBy: 'credits' })
    expect(await store.balance(accountId)).toBe(4)
    expect(await close(id)).toMatchObject({ ok: true, was: 'unknown' })
    expect([await store.balance(accountId), await store.getSettlementTake(id)]).toEqual([5, undefined])

    const bought = await submitted({ purchase: { accountId, credits: 7 } })
    const settlement = settling(bought.id)
    await store.settleClaim(settlement)
    await store.reopenClaim({ id: bought.id, receiptId: settlement.receipt.id, now: NOW })
    expect(await store.balance(accountId)).toBe(12)
    expect(await close(bought.id)).toMatchObject({ ok: true, was: 'pending' })
    expect([await store.balance(accountId), (await store.getClaim(bought.id))?.state]).toEqual([5, 'failed'])
  })
})
