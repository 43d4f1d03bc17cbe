// What a priced call takes of the credits, and how it comes back; on every engine.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { MAX_BALANCE } from '../../src/store/migrations.ts'
import type { Store } from '../../src/store/ports.ts'
import {
  addAccount,
  nextTransaction,
  NOW,
  type Place,
  receiptFor,
  sumOfLedger,
  times,
  unbalancedAccounts,
} from '../support/store.ts'
import { createPlaceWith, PLACES, SHARED_PLACES } from '../support/useless-locks.ts'

const debitOf = (accountId: string, amount: number) => ({
  accountId,
  amount,
  transactionId: nextTransaction(),
  bootId: 'boot-1',
  reference: 'gateway.example.call',
  now: NOW,
})

describe.each(PLACES)('charges in %s with locks that are %s', (...kind) => {
  let place: Place
  let store: Store
  beforeAll(async () => {
    place = await createPlaceWith(kind, 'charges')
    store = await place.open('boot-1')
  })
  afterAll(async () => {
    expect(await sumOfLedger(place)).toBe(0)
    expect(await unbalancedAccounts(place)).toEqual([])
    await place.remove()
  })
  const entriesOf = async (accountId: string) => (await store.ledger(accountId, { limit: 99 })).items

  it('takes the credits and writes down what they were for', async () => {
    const accountId = await addAccount(store, 7)
    const debit = debitOf(accountId, 5)
    expect(await store.debitCredits(debit)).toEqual({ ok: true, balance: 2 })
    expect(await store.balance(accountId)).toBe(2)
    const [entry] = await entriesOf(accountId)
    expect(entry).toEqual({
      transactionId: debit.transactionId,
      account: accountId,
      amount: -5,
      kind: 'call',
      reference: 'gateway.example.call',
      createdAt: NOW,
    })
    const other = (await entriesOf('system:usage')).find((half) => half.transactionId === debit.transactionId)
    expect(other).toMatchObject({ amount: 5, kind: 'call' })
  })

  it('takes the last credit, and then refuses without a row', async () => {
    const accountId = await addAccount(store, 3)
    expect(await store.debitCredits(debitOf(accountId, 4))).toEqual({ ok: false, balance: 3 })
    expect(await store.debitCredits(debitOf(accountId, 3))).toEqual({ ok: true, balance: 0 })
    const refused = debitOf(accountId, 1)
    expect(await store.debitCredits(refused)).toEqual({ ok: false, balance: 0 })
    expect(await entriesOf(accountId)).toHaveLength(2)
    // What was refused is not remembered: with credits the same transaction goes through.
    await store.grant({ accountId, amount: 1, reference: 'r', transactionId: nextTransaction(), now: NOW })
    expect(await store.debitCredits(refused)).toEqual({ ok: true, balance: 0 })
  })

  it('gives credits back once that their account has no room for any more: they stand for the operator', async () => {
    const accountId = await addAccount(store, 5)
    const debit = debitOf(accountId, 3)
    await store.debitCredits(debit)
    const unlimited = { reference: 'unlimited', transactionId: nextTransaction(), now: NOW }
    await store.grant({ ...unlimited, accountId, amount: MAX_BALANCE - 2 })
    const { transactionId } = debit
    expect(await store.refundCredits({ transactionId, now: NOW })).toEqual({ ok: true, balance: MAX_BALANCE })
    expect(await store.refundCredits({ transactionId, now: NOW })).toMatchObject({ ok: false })
    const refund = (await entriesOf('system:unclaimed')).filter(
      (entry) => entry.reference === debit.reference,
    )
    expect(refund).toMatchObject([{ amount: 3, kind: 'refund', transactionId: `${transactionId}_refund` }])
    expect(await store.debitCredits(debit)).toEqual({ ok: false, balance: MAX_BALANCE })
  })

  it('refuses an account that does not exist', async () => {
    expect(await store.debitCredits(debitOf('acct_none', 1))).toEqual({ ok: false, balance: 0 })
    expect(await entriesOf('acct_none')).toEqual([])
  })

  it.each([0, -1, 1.5, NaN, Infinity])('refuses to take %s credits', async (amount) => {
    const accountId = await addAccount(store, 5)
    await expect(store.debitCredits(debitOf(accountId, amount))).rejects.toMatchObject({
      code: 'input_invalid',
    })
    expect(await store.balance(accountId)).toBe(5)
  })

  it('takes once for a transaction, of twenty at once and again later', async () => {
    const accountId = await addAccount(store, 9)
    const debit = debitOf(accountId, 4)
    const taken = { ok: true, balance: 5 }
    const results = await Promise.all(times(20, () => store.debitCredits(debit)))
    for (const result of results) expect(result).toEqual(taken)
    expect(await store.debitCredits(debit)).toEqual(taken)
    expect(await entriesOf(accountId)).toHaveLength(2)
  })

  it('never lets two accounts pay in one transaction', async () => {
    const [one, other] = [await addAccount(store, 5), await addAccount(store, 5)]
    const debit = debitOf(one, 1)
    expect(await store.debitCredits(debit)).toMatchObject({ ok: true })
    await expect(store.debitCredits({ ...debit, accountId: other })).rejects.toMatchObject({
      code: 'state_conflict',
    })
    expect(await store.balance(other)).toBe(5)
  })

  it('never takes more than there is, of a hundred calls at once', async () => {
    const accountId = await addAccount(store, 61)
    const results = await Promise.all(times(100, () => store.debitCredits(debitOf(accountId, 2))))
    expect(results.filter(({ ok }) => ok)).toHaveLength(30)
    expect(await store.balance(accountId)).toBe(1)
  })

  it('gives back what was taken, once, of twenty at once and again later', async () => {
    const accountId = await addAccount(store, 9)
    const debit = debitOf(accountId, 4)
    const { transactionId } = debit
    await store.debitCredits(debit)
    const refund = { transactionId, now: NOW + 1 }
    const results = await Promise.all(times(20, () => store.refundCredits(refund)))
    expect(results.filter(({ ok }) => ok)).toEqual([{ ok: true, balance: 9 }])
    expect(await store.refundCredits(refund)).toEqual({ ok: false, balance: 9 })
    expect(await store.balance(accountId)).toBe(9)
    const [newest] = await entriesOf(accountId)
    expect(newest).toMatchObject({
      amount: 4,
      kind: 'refund',
      reference: debit.reference,
      createdAt: NOW + 1,
    })
    expect(newest?.transactionId).not.toBe(transactionId)
  })

  it('does not take a second time what was given back', async () => {
    const accountId = await addAccount(store, 9)
    const debit = debitOf(accountId, 4)
    await store.debitCredits(debit)
    await store.refundCredits({ transactionId: debit.transactionId, now: NOW })
    expect(await store.debitCredits(debit)).toEqual({ ok: false, balance: 9 })
    expect(await entriesOf(accountId)).toHaveLength(3)
  })

  it('gives back nothing of what no call was charged', async () => {
    const accountId = await addAccount(store, 9)
    const refused = debitOf(accountId, 10)
    await store.debitCredits(refused)
    const grant = { accountId, amount: 1, reference: 'r', transactionId: nextTransaction(), now: NOW }
    await store.grant(grant)
    for (const transactionId of [refused.transactionId, grant.transactionId, 'txn_none'])
      expect(await store.refundCredits({ transactionId, now: NOW })).toEqual({ ok: false, balance: 0 })
    expect(await store.balance(accountId)).toBe(10)
  })

  const openDebits = async () =>
    (await place.query('SELECT transaction_id FROM open_debits')).map((row) => row['transaction_id'])

  it('ends with one receipt, of twenty at once and again later, and nothing goes back then', async () => {
    const accountId = await addAccount(store, 9)
    const debit = debitOf(accountId, 4)
    const { transactionId } = debit
    await store.debitCredits(debit)
    const receipt = receiptFor(accountId)
    const results = await Promise.all(times(20, () => store.settleDebit({ transactionId, receipt })))
    expect(new Set(results)).toEqual(new Set([true]))
    expect(await store.getReceipt(receipt.id)).toEqual(receipt)
    expect(await openDebits()).not.toContain(transactionId)
    const other = receiptFor(accountId)
    expect(await store.settleDebit({ transactionId, receipt: other })).toBe(false)
    expect(await store.getReceipt(other.id)).toBeUndefined()
    expect(await store.refundCredits({ transactionId, now: NOW })).toEqual({ ok: false, balance: 5 })
    expect(await store.debitCredits(debit)).toEqual({ ok: true, balance: 5 })
    expect(await openDebits()).not.toContain(transactionId)
  })

  it('has a receipt or goes back, never both, whichever comes first', async () => {
    const accountId = await addAccount(store, 90)
    const ends = await Promise.all(
      times(30, async (i) => {
        const debit = debitOf(accountId, 3)
        const { transactionId } = debit
        await store.debitCredits(debit)
        const receipt = receiptFor(accountId)
        const settle = () => store.settleDebit({ transactionId, receipt })
        const refund = async () => (await store.refundCredits({ transactionId, now: NOW })).ok
        const [one, two] = await Promise.all(i % 2 === 0 ? [settle(), refund()] : [refund(), settle()])
        expect([one, two].filter(Boolean)).toHaveLength(1)
        return (await store.getReceipt(receipt.id)) !== undefined
      }),
    )
    expect(await store.balance(accountId)).toBe(90 - 3 * ends.filter(Boolean).length)
  })

  it('stores no receipt of what was given back or never taken', async () => {
    const accountId = await addAccount(store, 9)
    const debit = debitOf(accountId, 4)
    await store.debitCredits(debit)
    await store.refundCredits({ transactionId: debit.transactionId, now: NOW })
    for (const transactionId of [debit.transactionId, 'txn_none']) {
      const receipt = receiptFor(accountId)
      expect(await store.settleDebit({ transactionId, receipt })).toBe(false)
      expect(await store.getReceipt(receipt.id)).toBeUndefined()
    }
  })

  it('keeps charges and refunds over a restart', async () => {
    const accountId = await addAccount(store, 9)
    const [kept, returned] = [debitOf(accountId, 1), debitOf(accountId, 2)]
    await store.debitCredits(kept)
    await store.debitCredits(returned)
    await store.close()
    store = await place.open('boot-2')
    expect(await store.refundCredits({ transactionId: returned.transactionId, now: NOW })).toMatchObject({
      ok: true,
    })
    expect(await store.debitCredits(kept)).toEqual({ ok: true, balance: 8 })
  })

  it('gives back, once, what a dead process left without receipt and refund', async () => {
    const [accountId, other] = [await addAccount(store, 20), await addAccount(store, 20)]
    await store.close()
    const dying = await place.open('boot-dying')
    const [open, settled, returned, second, foreign] = [
      debitOf(accountId, 1),
      debitOf(accountId, 2),
      debitOf(accountId, 4),
      debitOf(accountId, 8),
      debitOf(other, 16),
    ].map((debit) => ({ ...debit, bootId: 'boot-dying' }))
    for (const debit of [open!, settled!, returned!, second!, foreign!]) await dying.debitCredits(debit)
    const receipt = receiptFor(accountId)
    await dying.settleDebit({ transactionId: settled!.transactionId, receipt })
    await dying.refundCredits({ transactionId: returned!.transactionId, now: NOW })
    // What the tests above left open goes back here; its own stays.
    await dying.recoverDebits({ bootId: 'boot-dying', now: NOW })
    expect(await openDebits()).toHaveLength(3)
    await dying.close()

    store = await place.open('boot-3')
    const alive = { ...debitOf(other, 3), bootId: 'boot-3' }
    await store.debitCredits(alive)
    const left = [open!, second!, foreign!].map(({ transactionId }) => transactionId).toSorted()
    const list = (after: string, limit: number) =>
      store.listOpenDebits({ bootId: 'boot-dying', after, limit })
    expect(await list('', 2)).toEqual([{ id: left[0] }, { id: left[1] }])
    expect(await list(left[1]!, 2)).toEqual([{ id: left[2] }])
    expect(await store.listDeadOwners({ bootId: 'boot-3' })).toContain('boot-dying')
    const alone = { bootId: 'boot-3', now: NOW + 9, id: second!.transactionId }
    expect(await store.recoverDebits(alone)).toEqual({ refunded: 1 })
    expect(await store.recoverDebits(alone)).toEqual({ refunded: 0 })
    const recover = () => store.recoverDebits({ bootId: 'boot-3', now: NOW + 9 })
    const results = await Promise.all(times(5, recover))
    expect(results.reduce((sum, { refunded }) => sum + refunded, 0)).toBe(2)
    expect(await recover()).toEqual({ refunded: 0 })
    expect(await openDebits()).toEqual([alive.transactionId])
    expect([await store.balance(accountId), await store.balance(other)]).toEqual([18, 17])
    expect((await entriesOf(accountId)).find(({ amount }) => amount === 8)).toEqual({
      transactionId: `${second!.transactionId}_refund`,
      account: accountId,
      amount: 8,
      kind: 'refund',
      reference: second!.reference,
      createdAt: NOW + 9,
    })
    expect(await store.getReceipt(receipt.id)).toEqual(receipt)
    expect(
      await store.settleDebit({ transactionId: open!.transactionId, receipt: receiptFor(accountId) }),
    ).toBe(false)
  })
})

describe.each(SHARED_PLACES)('charges of several processes on one %s with locks that are %s', (...kind) => {
  it('are left alone while their process lives, and given back by one of the others when it is gone', async () => {
    const place = await createPlaceWith(kind, 'charges')
    try {
      const [a, b, c] = [await place.open('boot-a'), await place.open('boot-b'), await place.open('boot-c')]
      const accountId = await addAccount(a, 9)
      await a.debitCredits({ ...debitOf(accountId, 4), bootId: 'boot-a' })
      expect(await b.recoverDebits({ bootId: 'boot-b', now: NOW })).toEqual({ refunded: 0 })
      expect(await b.balance(accountId)).toBe(5)
      await a.close()
      // The lease of a process goes with its first recovery, whichever it is.
      await b.recoverAttempts({ bootId: 'boot-b', now: NOW })
      const results = await Promise.all([
        b.recoverDebits({ bootId: 'boot-b', now: NOW }),
        c.recoverDebits({ bootId: 'boot-c', now: NOW }),
      ])
      expect(results.reduce((sum, { refunded }) => sum + refunded, 0)).toBe(1)
      expect(await b.balance(accountId)).toBe(9)
      expect(await sumOfLedger(place)).toBe(0)
      await Promise.all([b.close(), c.close()])
    } finally {
      await place.remove()
    }
  })
})
