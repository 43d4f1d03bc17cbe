// What a priced call takes of the credits, and how it comes back; on every engine.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Store } from '../../src/store/ports.ts'
import {
  addAccount,
  createPlace,
  ENGINES,
  nextTransaction,
  NOW,
  type Place,
  sumOfLedger,
  times,
  unbalancedAccounts,
} from '../support/store.ts'

const debitOf = (accountId: string, amount: number) => ({
  accountId,
  amount,
  transactionId: nextTransaction(),
  reference: 'gateway.example.call',
  now: NOW,
})

describe.each(ENGINES)('charges in %s', (engine) => {
  let place: Place
  let store: Store
  beforeAll(async () => {
    place = await createPlace(engine, 'charges')
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
})
