// Payouts as rows: what is owed leaves the balance with the row, so that nobody is paid twice whoever runs at once; what fails is
// owed again; one process leads. On every engine.
import { randomBytes } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../src/lib/ids.ts'
import type { NewPayout, Store } from '../../src/store/ports.ts'
import { marketLedgerFaults, saleOf, sell } from '../support/market-money.ts'
import { createPlace, ENGINES, NOW, type Place, receiptFor, times } from '../support/store.ts'

const BOOT = 'boot-1'
const NETWORK = 'eip155:84532'
const EVER = Number.MAX_SAFE_INTEGER
const hex = (bytes: number) => `0x${randomBytes(bytes).toString('hex')}`
let sellers = 0
const newSeller = () => `payee-${String(++sellers).padStart(3, '0')}`

describe.each(ENGINES)('payouts in %s', (engine) => {
  let place: Place
  let store: Store
  beforeAll(async () => {
    place = await createPlace(engine, 'payouts')
    store = await place.open(BOOT)
  })
  afterEach(async () => expect(await marketLedgerFaults(place)).toEqual([]))
  afterAll(() => place.remove())

  const held = async (account: string) => (await store.marketBalancesOf(account))[0]?.balance ?? 0
  const payoutOf = (sellerId: string, over: Partial<NewPayout> = {}): NewPayout => ({
    id: newId('pay', NOW),
    batchId: 'pbt_1',
    sellerId,
    network: NETWORK,
    asset: hex(20),
    recipient: hex(20),
    sender: hex(20),
    nonce: hex(32),
    validBefore: NOW + 1_800_000,
    createdAt: NOW + 5,
    ...over,
  })
  async function record(sellerId: string) {
    const recorded = await store.recordPayout({ payout: payoutOf(sellerId), minimum: 1, before: EVER })
    if (!recorded.ok) throw new Error(recorded.reason)
    return recorded.payout
  }
  const settle = (id: string, receipt = receiptFor('')) =>
    store.settlePayout({ id, transaction: hex(32), receipt, now: NOW + 9 })

  it('take what is owed from the balance with the row, and from what the gateway holds once they settled', async () => {
    const seller = newSeller()
    await sell(store, BOOT, saleOf(seller))
    const cash = await held('cash')
    const payout = await record(seller)
    expect(payout).toMatchObject({ state: 'recorded', amount: 970, tries: 0, sellerId: seller })
    expect(await held(`seller:${seller}`)).toBe(0)
    expect(await held(`transit:${payout.id}`)).toBe(970)
    expect(await store.submitPayout({ id: payout.id, tries: 0, now: NOW + 6 })).toMatchObject({
      state: 'submitted',
      tries: 1,
    })
    expect(await store.submitPayout({ id: payout.id, tries: 0, now: NOW + 6 })).toBeUndefined()
    const receipt = receiptFor('')
    expect(await settle(payout.id, receipt)).toMatchObject({ state: 'settled', receiptId: receipt.id })
    expect(await settle(payout.id)).toBeUndefined()
    expect(await store.failPayout({ id: payout.id, failure: 'x', now: NOW })).toBeUndefined()
    expect(await held('cash')).toBe(cash + 970)
    expect(await held(`transit:${payout.id}`)).toBe(0)
    expect(await store.getReceipt(receipt.id)).toMatchObject({ jws: receipt.jws })
  })

  it('are one, of 32 that are written at once', async () => {
    const seller = newSeller()
    await sell(store, BOOT, saleOf(seller))
    const answers = await Promise.all(
      times(32, () => store.recordPayout({ payout: payoutOf(seller), minimum: 1, before: EVER })),
    )
    expect(answers.filter(({ ok }) => ok)).toHaveLength(1)
    expect((await store.listPayouts({ sellerId: seller, limit: 9 })).items).toHaveLength(1)
  })

  it('leave less than the minimum, and what was earned too lately, as owed', async () => {
    const seller = newSeller()
    await sell(store, BOOT, saleOf(seller), { at: NOW + 1000 })
    const attempt = (minimum: number, before: number) =>
      store.recordPayout({ payout: payoutOf(seller), minimum, before })
    expect(await attempt(971, EVER)).toEqual({ ok: false, reason: 'owed' })
    expect(await attempt(1, NOW + 1000)).toEqual({ ok: false, reason: 'owed' })
    await sell(store, BOOT, saleOf(seller), { at: NOW + 2000 })
    expect(await attempt(970, NOW + 2000)).toMatchObject({ ok: true, payout: { amount: 970 } })
    expect(await attempt(970, EVER)).toEqual({ ok: false, reason: 'open' })
  })

  it('leave what was earned too lately as owed, also where what was there before is paid already', async () => {
    const seller = newSeller()
    await sell(store, BOOT, saleOf(seller), { at: NOW + 1 })
    const attempt = (createdAt: number) =>
      store.recordPayout({ payout: payoutOf(seller, { createdAt }), minimum: 1, before: NOW + 1000 })
    const first = await attempt(NOW + 1500)
    if (!first.ok) throw new Error(first.reason)
    await settle(first.payout.id)
    await sell(store, BOOT, saleOf(seller), { at: NOW + 2000 })
    expect(await attempt(NOW + 2001)).toEqual({ ok: false, reason: 'owed' })
    expect(await held(`seller:${seller}`)).toBe(970)
  })

  it('pay nobody what is owed to nobody', async () => {
    expect(await store.recordPayout({ payout: payoutOf('stranger'), minimum: 0, before: EVER })).toEqual({
      ok: false,
      reason: 'owed',
    })
  })

  it('that fail are owed again, with the reason, until one settles', async () => {
    const seller = newSeller()
    await sell(store, BOOT, saleOf(seller))
    const first = await record(seller)
    await store.submitPayout({ id: first.id, tries: 0, now: NOW })
    // Somebody else has set out to send it since the row was read: nobody may say that nothing left.
    expect(await store.failPayout({ id: first.id, failure: 'no_route', tries: 0, now: NOW })).toBeUndefined()
    expect(
      await store.failPayout({ id: first.id, failure: 'no_route', tries: 1, now: NOW + 7 }),
    ).toMatchObject({ state: 'failed' })
    expect(await held(`seller:${seller}`)).toBe(970)
    expect(await store.listPayoutHolds({ sellerId: seller })).toEqual([
      { sellerId: seller, network: NETWORK, reason: 'no_route', since: NOW + 7, lookedAt: NOW + 7 },
    ])
    await store.holdPayout({ sellerId: seller, network: NETWORK, reason: 'no_route', now: NOW + 8 })
    await store.holdPayout({ sellerId: seller, network: NETWORK, reason: 'other', now: NOW + 9 })
    expect(await store.listPayoutHolds({ sellerId: seller })).toMatchObject([
      { reason: 'other', since: NOW + 9 },
    ])
    expect(await store.listPayoutHolds({})).toMatchObject([{ sellerId: seller }])
    await settle((await record(seller)).id)
    expect(await store.listPayoutHolds({ sellerId: seller })).toEqual([])
  })

  it('that a chain took back are open again with the money bound to them, also beside a newer one', async () => {
    const seller = newSeller()
    await sell(store, BOOT, saleOf(seller))
    const payout = await record(seller)
    const receipt = receiptFor('')
    await settle(payout.id, receipt)
    await sell(store, BOOT, saleOf(seller))
    const newer = await record(seller)
    const cash = await held('cash')
    expect(await store.reopenPayout({ id: payout.id, receiptId: 'other', now: NOW })).toBeUndefined()
    expect(await store.reopenPayout({ id: payout.id, receiptId: receipt.id, now: NOW + 10 })).toMatchObject({
      state: 'submitted',
      receiptId: null,
    })
    expect(await held('cash')).toBe(cash - 970)
    expect(await store.getReceiptStanding(receipt.id)).toMatchObject({ withdrawnAt: NOW + 10 })
    const open = (await store.listOpenPayouts({ before: EVER, limit: 1000 })).map(({ id }) => id)
    expect(open).toEqual(expect.arrayContaining([payout.id, newer.id]))
    await settle(payout.id)
    expect(await held('cash')).toBe(cash)
    expect(await store.getPayout(payout.id)).toMatchObject({ state: 'settled' })
  })

  it('tell the seller once of each that settled, was taken back, or failed', async () => {
    const seller = newSeller()
    await sell(store, BOOT, saleOf(seller))
    const payout = await record(seller)
    const receipt = receiptFor('')
    await settle(payout.id, receipt)
    await store.reopenPayout({ id: payout.id, receiptId: receipt.id, now: NOW + 10 })
    await store.failPayout({ id: payout.id, failure: 'authorization_expired', now: NOW + 11 })
    const told = await place.query(
      `SELECT type, data FROM market_events WHERE seller_id = '${seller}' ORDER BY created_at`,
    )
    expect(told.map(({ type }) => type)).toEqual(['payout.settled', 'payout.reopened', 'payout.failed'])
    expect(JSON.parse(String(told[0]?.['data']))).toMatchObject({
      payout_id: payout.id,
      amount_atomic: '970',
      receipt_id: receipt.id,
    })
  })

  it('are listed newest first: all of a seller or a batch, or those that settled, in pages', async () => {
    const mine = times(3, newSeller)
    for (const seller of mine) await sell(store, BOOT, saleOf(seller))
    const made = []
    for (const [i, sellerId] of mine.entries()) {
      const payout = payoutOf(sellerId, { batchId: 'pbt_pages', id: newId('pay', NOW + 100 + i) })
      const recorded = await store.recordPayout({ payout, minimum: 1, before: EVER })
      if (recorded.ok) made.unshift(recorded.payout.id)
    }
    const page = await store.listPayouts({ batchId: 'pbt_pages', limit: 2 })
    expect(page.items.map(({ id }) => id)).toEqual(made.slice(0, 2))
    const rest = await store.listPayouts({ batchId: 'pbt_pages', limit: 2, before: page.next ?? undefined })
    expect(rest).toMatchObject({ items: [{ id: made[2] }], next: null })
    await settle(made[1] ?? '')
    expect(
      (await store.listPayouts({ batchId: 'pbt_pages', isSettled: true, limit: 9 })).items,
    ).toMatchObject([{ id: made[1] }])
    await settle(made[2] ?? '')
    const settled = (await store.listSettledPayouts({ limit: 100 })).filter(
      ({ batchId }) => batchId === 'pbt_pages',
    )
    expect(settled.map(({ id }) => id)).toEqual([made[2], made[1]])
    // They settled in the same moment: none is left out, and none comes twice.
    const behind = await store.listSettledPayouts({ after: settled[0], limit: 100 })
    expect(behind.map(({ id }) => id)).toContain(made[1])
    expect(behind.map(({ id }) => id)).not.toContain(made[2])
    await store.finalizePayout(made[1] ?? '', NOW + 99)
    expect((await store.listSettledPayouts({ limit: 100 })).map(({ id }) => id)).not.toContain(made[1])
    await store.touchPayout(made[0] ?? '', NOW + 50)
    expect(
      (await store.listOpenPayouts({ before: NOW + 50, limit: 1000 })).map(({ id }) => id),
    ).not.toContain(made[0])
    // A clock that goes a day ahead hides it from nobody.
    await store.touchPayout(made[0] ?? '', NOW + 86_400_000)
    expect((await store.listOpenPayouts({ before: NOW + 50, limit: 1000 })).map(({ id }) => id)).toContain(
      made[0],
    )
  })

  it('have one batch of each period, and the sellers of a batch come in order', async () => {
    const batch = { network: NETWORK, period: 'daily-2026-06-01', minimum: 500, createdAt: NOW }
    const both = await Promise.all(times(8, () => store.openPayoutBatch({ ...batch, id: newId('pbt', NOW) })))
    expect(new Set(both.map(({ id }) => id)).size).toBe(1)
    const [{ id } = { id: '' }] = both
    expect(await store.listOpenPayoutBatches()).toEqual([{ ...batch, id, finishedAt: null }])
    const mine = times(3, newSeller)
    for (const seller of mine) await sell(store, BOOT, saleOf(seller))
    const [first = '', ...others] = mine
    const ask = { network: NETWORK, minimum: 500, limit: 2 }
    expect((await store.listOwed({ ...ask, after: first })).map(({ sellerId }) => sellerId)).toEqual(others)
    expect(await store.listOwed({ ...ask, minimum: 971 })).not.toContainEqual(
      expect.objectContaining({ sellerId: first }),
    )
    expect(await store.listOwed({ ...ask, network: 'eip155:8453' })).toEqual([])
    await store.finishPayoutBatch(id, NOW + 1)
    await store.finishPayoutBatch(id, NOW + 2)
    expect(await store.listOpenPayoutBatches()).toEqual([])
    expect(await store.openPayoutBatch({ ...batch, id: newId('pbt', NOW) })).toMatchObject({
      id,
      finishedAt: NOW + 1,
    })
    expect(await store.listPayoutBatches(1)).toMatchObject([{ id }])
  })

  if (engine === 'postgres')
    it('are led by one process by the clock of the database, whatever others say', async () => {
      const HOUR = 3_600_000
      const ask = (holder: string, forMs: number, now = NOW, isAlone = false) =>
        store.takeLeadership({ name: 'payouts', holder, until: now + forMs, isAlone, now })
      const answers = await Promise.all(times(8, (i) => ask(`boot-${i}`, HOUR)))
      expect(answers.filter(Boolean)).toHaveLength(1)
      const leader = `boot-${answers.indexOf(true)}`
      expect([await ask(leader, HOUR), await ask('boot-x', HOUR)]).toEqual([true, false])
      // Neither takes a clock that goes ahead the lead away, nor keeps a dead one of it the others out.
      expect(await ask('boot-x', HOUR, NOW + 24 * HOUR)).toBe(false)
      expect(await ask(leader, 1, NOW + 24 * HOUR)).toBe(true)
      await expect.poll(() => ask('boot-x', HOUR)).toBe(true)
      expect(await ask(leader, HOUR)).toBe(false)
      expect(await ask(leader, HOUR, NOW, true)).toBe(true)
      await store.giveUpLeadership({ name: 'payouts', holder: 'boot-x' })
      expect(await ask('boot-x', HOUR)).toBe(false)
      // What a process of the release before wrote by a clock of its own.
      await place.query(
        `UPDATE leader_leases SET held_until = ${Date.now() + 24 * HOUR} WHERE name = 'payouts'`,
      )
      expect(await ask('boot-x', HOUR)).toBe(true)
      await store.giveUpLeadership({ name: 'payouts', holder: 'boot-x' })
      expect(await ask(leader, HOUR)).toBe(true)
      await store.giveUpLeadership({ name: 'payouts', holder: leader })
    })

  if (engine === 'sqlite')
    it('are led by one process, until it gives that up or is silent for too long', async () => {
      const ask = (holder: string, now: number, isAlone = false) =>
        store.takeLeadership({ name: 'payouts', holder, until: now + 100, isAlone, now })
      const answers = await Promise.all(times(8, (i) => ask(`boot-${i}`, NOW)))
      expect(answers.filter(Boolean)).toHaveLength(1)
      const leader = `boot-${answers.indexOf(true)}`
      expect([await ask(leader, NOW + 50), await ask('boot-x', NOW + 120)]).toEqual([true, false])
      expect([await ask('boot-x', NOW + 150), await ask(leader, NOW + 151)]).toEqual([true, false])
      expect(await ask(leader, NOW + 152, true)).toBe(true)
      await store.giveUpLeadership({ name: 'payouts', holder: 'boot-x' })
      expect(await ask('boot-x', NOW + 153)).toBe(false)
      await store.giveUpLeadership({ name: 'payouts', holder: leader })
      expect(await ask('boot-x', NOW + 154)).toBe(true)
    })
})
