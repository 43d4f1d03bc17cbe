// Figures agree with the ledger, whoever died before it counted, and whatever a chain took back; on every engine.
import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { newId } from '../../src/lib/ids.ts'
import type { ServiceOutcome, ServiceRef, Store } from '../../src/store/ports.ts'
import { figuresBesideLedger } from '../support/market-figures.ts'
import { sold } from '../support/market-money.ts'
import { newSeller, PAYOUT, registration } from '../support/market-sellers.ts'
import { createPlace, ENGINES, NOW, type Place, receiptFor, times } from '../support/store.ts'

type Settled = Extract<ServiceOutcome, { kind: 'settled' }>
const A_DAY_MS = 24 * 3600 * 1000
const DAY = Math.floor(NOW / A_DAY_MS)
const KEY: ServiceRef = { sellerId: 'acme', serviceId: 'quotes', environment: 'live' }
const LATER = NOW + 3600_000

describe.each(ENGINES)('figures and the ledger in %s', (engine) => {
  let place: Place
  let store: Store
  beforeEach(async () => {
    place = await createPlace(engine, 'market-recount')
    store = await place.open('boot-1')
  })
  afterEach(async () => {
    try {
      const { figures, ledger } = await figuresBesideLedger(place)
      expect(figures).toEqual(ledger)
    } finally {
      await place.remove()
    }
  })

  /** Calls that were paid, and that nobody counts yet. */
  const calls = async (...over: Partial<Settled>[]) =>
    (await sold(
      store,
      'boot-1',
      over.map((one) => ({
        ...KEY,
        kind: 'settled',
        claimId: '',
        at: NOW,
        payer: '0xa',
        amount: 1000,
        latencyMs: 120,
        isSelf: false,
        ...one,
      })),
    )) as Settled[]
  const record = (outcomes: readonly ServiceOutcome[], to = store) =>
    to.recordServiceOutcomes({ outcomes, now: LATER })
  const recount = (over: { settledBefore?: number; limit?: number } = {}, to = store) =>
    to.countMissedSales({ settledBefore: LATER, limit: 100, now: LATER, ...over })
  const standing = () => store.findServiceStanding(KEY)
  const days = () => store.listServiceDays({ ...KEY, sinceDay: DAY - 1 })
  const receiptOf = async (id: string) => (await store.getClaim(id))?.receiptId ?? ''
  const takeBack = async ({ claimId }: Settled) =>
    store.reopenClaim({ id: claimId, receiptId: await receiptOf(claimId), now: LATER + 1 })

  it('a sale that nobody counted is counted once, on the day on which it settled', async () => {
    await calls({}, { at: NOW + A_DAY_MS, payer: '0xb' }, { payer: '0xb' })
    expect(await recount({ settledBefore: NOW })).toBe(0)
    expect(await standing()).toBeUndefined()
    expect(await recount({ settledBefore: NOW + 2 * A_DAY_MS, limit: 2 })).toBe(2)
    expect(await recount({ settledBefore: NOW + 2 * A_DAY_MS })).toBe(1)
    expect(await recount({ settledBefore: NOW + 2 * A_DAY_MS })).toBe(0)
    expect(await standing()).toMatchObject({ settled: 3, volume: 3000, payers: 2, repeatPayers: 1 })
    const [first, second] = await days()
    expect(first).toMatchObject({ day: DAY, settled: 2, volume: 2000 })
    expect(second).toMatchObject({ day: DAY + 1, settled: 1, volume: 1000 })
    // How long they took, nobody knows any more.
    expect(first?.latencies.every((count) => count === 0)).toBe(true)
  })

  it('the same outcomes twice, or after the round counted them, count once', async () => {
    const outcomes = await calls({}, { payer: '0xb' })
    await record(outcomes)
    await record(outcomes)
    expect(await recount()).toBe(0)
    const late = await calls({ payer: '0xc' })
    expect(await recount()).toBe(1)
    await record(late)
    expect(await standing()).toMatchObject({ settled: 3, payers: 3 })
  })

  it('an outcome without a booked sale counts for nothing', async () => {
    const [call] = await calls({})
    if (!call) throw new Error('sold')
    await record([{ ...call, claimId: 'clm_of_nobody' }, call])
    expect(await standing()).toMatchObject({ settled: 1 })
  })

  it('what the seller pays itself is told by its address, also when its process died', async () => {
    await store.createSeller(registration(newSeller('acme'), Buffer.alloc(32, 1)))
    await store.noteSellerAddress({ sellerId: 'acme', address: '0xformer', now: NOW })
    await calls({}, { payer: PAYOUT.toLowerCase() }, { payer: '0xformer' })
    await recount()
    expect(await standing()).toMatchObject({
      settled: 1,
      payers: 1,
      excluded: { self: { payers: 2, calls: 2 } },
    })
  })

  it('several processes that count the same sales at once count each of them once', async () => {
    const other = await place.open('boot-2').catch(() => store)
    const made = await calls(
      ...times(60, (n) => ({ payer: `0x${n % 7}`, serviceId: `s${n % 3}`, amount: n + 1 })),
    )
    const batches = times(6, (n) => made.filter((_, at) => at % 6 === n))
    await Promise.all([
      ...batches.map((batch, n) => record(batch.toReversed(), n % 2 === 0 ? store : other)),
      recount({}, other),
      recount(),
      recount({}, other),
      ...batches.map((batch, n) => record(batch, n % 2 === 0 ? other : store)),
    ])
    expect(await recount()).toBe(0)
    const counted = await place.query('SELECT CAST(sum(calls) AS INTEGER) AS calls FROM market_payers')
    expect(counted).toEqual([{ calls: 60 }])
  })

  it('a sale that its chain took back is taken out of every figure, and counted again when it is restored', async () => {
    const [once, twice, again] = await calls(
      { latencyMs: 40 },
      { payer: '0xb' },
      { payer: '0xb', latencyMs: null },
    )
    if (!once || !twice || !again) throw new Error('sold')
    await record([once, twice, again])
    const receiptId = await receiptOf(once.claimId)
    await takeBack(once)
    expect(await standing()).toMatchObject({ settled: 2, payers: 1, repeatPayers: 1, changedAt: LATER + 1 })
    await takeBack(again)
    expect(await standing()).toMatchObject({ settled: 1, volume: 1000, payers: 1, repeatPayers: 0 })
    const [day] = await days()
    expect(day).toMatchObject({ settled: 1, volume: 1000 })
    expect(day?.latencies.slice(0, 3)).toEqual([0, 0, 1])
    // What was still held somewhere comes too late.
    await record([once, again])
    expect(await recount()).toBe(0)
    expect(await standing()).toMatchObject({ settled: 1 })

    const restored = { receiptId, receipt: null, transaction: '0x1', block: undefined, now: LATER }
    await store.resettleClaim({ id: once.claimId, ...restored })
    expect(await recount({ settledBefore: LATER + 1 })).toBe(1)
    expect(await standing()).toMatchObject({ settled: 2, payers: 2 })
    await store.reopenClaim({ id: once.claimId, receiptId, now: LATER + 2 })
    await store.reverseClaim({ id: once.claimId, reason: 'reorganised', now: LATER + 3 })
    expect(await recount({ settledBefore: LATER + 9 })).toBe(0)
    expect(await standing()).toMatchObject({ settled: 1, payers: 1 })
  })

  it('a sale that was taken back before anybody counted it is never counted', async () => {
    const [call] = await calls({})
    if (!call) throw new Error('sold')
    await takeBack(call)
    await record([call])
    expect(await recount()).toBe(0)
    expect((await standing())?.settled ?? 0).toBe(0)
  })

  it('payments of excluded payers that a chain took back are taken out of what is shown of those', async () => {
    const made = await calls({ payer: '0xb' }, { payer: '0xb' }, {})
    await record(made)
    const [first, second, last] = made
    if (!first || !second || !last) throw new Error('sold')
    await takeBack(first)
    await store.excludePayer({ sellerId: 'acme', payer: '0xb', exclusion: 'ring', now: LATER })
    await takeBack(second)
    expect(await standing()).toMatchObject({
      settled: 1,
      payers: 1,
      excluded: { ring: { payers: 0, calls: 0, volume: 0 } },
    })
    await takeBack(last)
    await store.excludePayer({ sellerId: 'acme', payer: '0xa', exclusion: 'funded', now: LATER })
    expect(await standing()).toMatchObject({ settled: 0, payers: 0, excluded: { funded: { payers: 0 } } })
    await record(await calls({}))
    expect(await standing()).toMatchObject({
      settled: 0,
      payers: 0,
      excluded: { funded: { payers: 1, calls: 1 } },
    })
  })

  it('a refund counts once, and one that its chain took back is taken out of the day that counts it', async () => {
    const [call] = await calls({})
    if (!call) throw new Error('sold')
    await record([call])
    const id = newId('rfd', NOW)
    const hex = (bytes: number) => `0x${randomBytes(bytes).toString('hex')}`
    await store.recordRefund({
      id,
      claimId: call.claimId,
      reference: 'r',
      accountId: 'acct_operator',
      reason: 'wrong',
      sender: hex(20),
      nonce: hex(32),
      validBefore: LATER,
      createdAt: NOW + 5,
      amount: '400',
    })
    await store.submitRefund({ id, tries: 0, now: NOW + 6 })
    const settle = (receiptId: string, now: number) => {
      const receipt = { ...receiptFor(''), id: receiptId }
      return store.settleRefund({ id, transaction: '0xd', receipt, now })
    }
    await settle('rcp_1', NOW + 7)
    await settle('rcp_1', NOW + 8)
    expect(await days()).toMatchObject([{ day: DAY, refunds: 1, refunded: 400 }])
    await store.reopenRefund({ id, receiptId: 'rcp_1', now: NOW + A_DAY_MS })
    expect(await days()).toMatchObject([{ day: DAY, refunds: 0, refunded: 0 }])
    await settle('rcp_2', NOW + A_DAY_MS)
    expect(await days()).toMatchObject([{ refunds: 0 }, { day: DAY + 1, refunds: 1, refunded: 400 }])
  })
})
