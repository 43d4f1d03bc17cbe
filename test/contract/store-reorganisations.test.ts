// Settlements that a chain took back: which blocks they were in, how a claim is opened, settled again or lost; on every engine.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { NewPaymentClaim, Store } from '../../src/store/ports.ts'
import {
  addAccount,
  createPlace,
  ENGINES,
  newClaim,
  NOW,
  type Place,
  settling,
  submission,
  sumOfLedger,
  unbalancedAccounts,
} from '../support/store.ts'

const BOOT = 'boot-1'
const [BLOCK, OTHER] = [
  { number: 7, hash: `0x${'b'.repeat(64)}` },
  { number: 8, hash: `0x${'c'.repeat(64)}` },
]

describe.each(ENGINES)('reorganisations in %s', (engine) => {
  let place: Place
  let store: Store
  beforeAll(async () => {
    place = await createPlace(engine, 'reorganisations')
    store = await place.open(BOOT)
  })
  afterAll(async () => {
    expect(await sumOfLedger(place)).toBe(0)
    expect(await unbalancedAccounts(place)).toEqual([])
    await place.remove()
  })

  async function settle(over: Partial<NewPaymentClaim> = {}, block: typeof BLOCK | null = BLOCK) {
    const claim = newClaim(over)
    await store.claimPayment({ claim, bootId: BOOT })
    await store.submitClaim(submission(claim.id, BOOT))
    const end = { ...settling(claim.id), ...(block && { block }) }
    expect(await store.settleClaim(end)).toMatchObject({ state: 'settled' })
    return { id: claim.id, receiptId: end.receipt.id, transaction: end.transaction }
  }
  const reopen = ({ id, receiptId }: { id: string; receiptId: string }) =>
    store.reopenClaim({ id, receiptId, now: NOW + 5 })

  it('lists the blocks of a network since a time, newest first, and their claims', async () => {
    const network = 'eip155:1'
    const first = await settle({ network })
    const second = await settle({ network })
    const third = await settle({ network }, OTHER)
    await settle({ network }, null)
    const of = (since: number, limit = 9) => store.listSettledBlocks({ network, since, limit })
    expect(await of(NOW)).toEqual([OTHER, BLOCK])
    expect(await of(NOW, 1)).toEqual([OTHER])
    expect(await of(NOW + 3)).toEqual([])
    expect(await store.listSettledBlocks({ network: 'eip155:10', since: NOW, limit: 9 })).toEqual([])
    expect(await store.newestSettlement(NOW)).toBeUndefined()
    expect(await store.newestSettlement(NOW + 1_000)).toBeGreaterThanOrEqual(NOW)
    const inBlock = async (hash: string, since = NOW) =>
      (await store.listClaimsOfBlock({ network, since, hash })).map(({ id }) => id).toSorted()
    expect(await inBlock(BLOCK.hash)).toEqual([first.id, second.id].toSorted())
    expect(await inBlock(BLOCK.hash, NOW + 3)).toEqual([])
    await store.moveToBlock(first.id, OTHER)
    expect(await inBlock(OTHER.hash)).toEqual([first.id, third.id].toSorted())
    expect(await store.listClaimsOfBlock({ network, since: NOW, hash: OTHER.hash })).toContainEqual(
      await store.getClaim(third.id),
    )
  })

  it('opens a settled claim again, once, and withdraws its receipt', async () => {
    const one = await settle()
    expect(await store.getReceiptStanding(one.receiptId)).toBeUndefined()
    expect(await store.reopenClaim({ ...one, receiptId: 'rcp_other', now: NOW + 5 })).toBeUndefined()
    const opened = await reopen(one)
    expect(opened).toMatchObject({
      state: 'pending',
      reason: 'reorganised',
      receiptId: one.receiptId,
      transaction: one.transaction,
      finishedAt: null,
    })
    expect(await store.getClaim(one.id)).toEqual(opened)
    expect(await store.getReceiptStanding(one.receiptId)).toEqual({ withdrawnAt: NOW + 5, replacedBy: null })
    expect(await reopen(one)).toBeUndefined()
    // The reconciler finds it like any other that is not decided.
    expect((await store.takeDoubtfulClaims({ limit: 99, now: NOW + 9 })).map(({ id }) => id)).toContain(
      one.id,
    )
  })

  it('settles it again: the old receipt stands again for the same transaction, a new one replaces it for another', async () => {
    const accountId = await addAccount(store, 0)
    const one = await settle({ purchase: { accountId, credits: 7 } })
    await reopen(one)
    const again = { id: one.id, receiptId: one.receiptId, block: OTHER, now: NOW + 6 }
    expect(
      await store.resettleClaim({ ...again, receipt: null, transaction: one.transaction }),
    ).toMatchObject({ state: 'settled', reason: null, receiptId: one.receiptId, finishedAt: NOW + 6 })
    expect(await store.getReceiptStanding(one.receiptId)).toBeUndefined()

    await reopen(one)
    const { receipt, transaction } = settling(one.id)
    expect(await store.resettleClaim({ ...again, receipt, transaction })).toMatchObject({
      state: 'settled',
      transaction,
      receiptId: receipt.id,
    })
    expect(await store.getReceipt(receipt.id)).toEqual(receipt)
    expect(await store.getReceiptStanding(one.receiptId)).toMatchObject({ replacedBy: receipt.id })
    expect(await store.getReceiptStanding(receipt.id)).toBeUndefined()
    // Neither a copy of the same ending, nor one by the receipt that is gone.
    expect(await store.resettleClaim({ ...again, receipt: null, transaction })).toBeUndefined()
    // It bought its credits once.
    expect(await store.balance(accountId)).toBe(7)
  })

  it('says again that nobody could have what it bought, once it is settled again', async () => {
    const one = await settle({ purchase: { accountId: 'acct_gone', credits: 7 } })
    expect(await reopen(one)).toMatchObject({ reason: 'reorganised' })
    const settled = await store.resettleClaim({ ...one, receipt: null, block: OTHER, now: NOW + 6 })
    expect(settled).toMatchObject({ state: 'settled', reason: 'purchase_unclaimed' })
    expect(await store.getClaim(one.id)).toEqual(settled)
  })

  it.each([
    ['takes back what it bought', 0, 0, 0],
    ['takes back what is left of it, and says what is lost', 5, 0, 5],
    ['takes no more than it bought', -3, 3, 0],
  ])('that is lost %s', async (_name, spent, left, lost) => {
    const accountId = await addAccount(store, 0)
    const one = await settle({ purchase: { accountId, credits: 7 } })
    if (spent > 0)
      await store.debitCredits({
        accountId,
        amount: spent,
        transactionId: `txn_${one.id}`,
        reference: 'call',
        bootId: BOOT,
        now: NOW,
      })
    if (spent < 0)
      await store.grant({
        accountId,
        amount: -spent,
        reference: 'gift',
        transactionId: `txn_${one.id}`,
        now: NOW,
      })
    expect(await store.reverseClaim({ id: one.id, reason: 'x', now: NOW + 6 })).toBeUndefined()
    await reopen(one)
    const reversed = await store.reverseClaim({ id: one.id, reason: 'authorization_expired', now: NOW + 6 })
    expect(reversed).toMatchObject({
      lost,
      claim: { state: 'failed', reason: 'authorization_expired', finishedAt: NOW + 6 },
    })
    expect(await store.balance(accountId)).toBe(left)
    expect(await store.getClaimResult(one.id)).toBeUndefined()
    expect(await store.getReceiptStanding(one.receiptId)).toMatchObject({ replacedBy: null })
    expect(await store.reverseClaim({ id: one.id, reason: 'x', now: NOW + 7 })).toBeUndefined()
    const losses = await place.query(
      `SELECT amount FROM ledger_entries WHERE account = 'system:losses' AND reference = '${one.id}'`,
    )
    expect(losses.map((row) => Number(row['amount']))).toEqual(lost === 0 ? [] : [-lost])
  })

  it.each([
    ['of a call', false],
    ['of credits', true],
  ])('is not ended by whoever read the payment %s before it was settled', async (_name, buys) => {
    const accountId = await addAccount(store, 0)
    const one = await settle(buys ? { purchase: { accountId, credits: 7 } } : {})
    const opened = await reopen(one)
    const late = settling(one.id)
    expect(await store.settleClaim(late)).toBeUndefined()
    expect(await store.getReceipt(late.receipt.id)).toBeUndefined()
    const move = { id: one.id, reason: 'authorization_expired', transaction: null, now: NOW + 6 }
    for (const isWatched of [false, true])
      expect(await store.moveClaim({ ...move, to: 'failed', isWatched })).toBeUndefined()
    expect(await store.getClaim(one.id)).toEqual(opened)
    expect(await store.balance(accountId)).toBe(buys ? 7 : 0)
    // What its chain says of it now is written all the same.
    expect(await store.moveClaim({ ...move, to: 'unknown' })).toMatchObject({ state: 'unknown' })
    expect(await store.reverseClaim({ id: one.id, reason: 'x', now: NOW + 7 })).toMatchObject({ lost: 0 })
    expect(await store.balance(accountId)).toBe(0)
  })

  it('does not touch a claim that never was settled', async () => {
    const claim = newClaim()
    await store.claimPayment({ claim, bootId: BOOT })
    await store.submitClaim(submission(claim.id, BOOT))
    await store.moveClaim({ id: claim.id, to: 'unknown', reason: null, transaction: null, now: NOW })
    expect(await store.reverseClaim({ id: claim.id, reason: 'x', now: NOW })).toBeUndefined()
    expect((await store.getClaim(claim.id))?.state).toBe('unknown')
  })
})
