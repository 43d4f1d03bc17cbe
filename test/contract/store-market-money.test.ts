// The market's ledger: a sale is counted in the transaction that settles its claim and taken back with it, refunds come from who got
// the money, and every transaction sums to zero. On every engine.
import { randomBytes } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../src/lib/ids.ts'
import type { NewRefund, Store } from '../../src/store/ports.ts'
import { marketLedgerFaults, saleOf, sell } from '../support/market-money.ts'
import {
  createPlace,
  ENGINES,
  newClaim,
  NOW,
  type Place,
  receiptFor,
  settling,
  submission,
  times,
} from '../support/store.ts'

const BOOT = 'boot-1'
const NETWORK = 'eip155:84532'
const hex = (bytes: number) => `0x${randomBytes(bytes).toString('hex')}`
let sellers = 0
const newSeller = () => `seller-${++sellers}`

describe.each(ENGINES)('money of the market in %s', (engine) => {
  let place: Place
  let store: Store
  beforeAll(async () => {
    place = await createPlace(engine, 'market-money')
    store = await place.open(BOOT)
  })
  afterEach(async () => expect(await marketLedgerFaults(place)).toEqual([]))
  afterAll(() => place.remove())

  const held = async (account: string) => {
    const balances = await store.marketBalancesOf(account)
    return balances.find(({ network }) => network === NETWORK)?.balance ?? 0
  }
  const asked = (claimId: string, amount: string | null, over: Partial<NewRefund> = {}): NewRefund => ({
    id: newId('rfd', NOW),
    claimId,
    reference: hex(8),
    accountId: 'acct_operator',
    reason: 'the answer was wrong',
    sender: hex(20),
    nonce: hex(32),
    validBefore: NOW + 1_800_000,
    createdAt: NOW + 5,
    amount,
    ...over,
  })
  async function record(claimId: string, amount: string | null, over: Partial<NewRefund> = {}) {
    const recorded = await store.recordRefund(asked(claimId, amount, over))
    if (!recorded.ok) throw new Error(recorded.reason)
    return recorded.refund
  }

  it('counts a sale when its claim settles, and not before', async () => {
    const seller = newSeller()
    const [cash, fees] = [await held('cash'), await held('fees')]
    const claim = newClaim()
    await store.claimPayment({ claim, bootId: BOOT, sale: saleOf(seller) })
    expect(await store.findSale(claim.id)).toEqual({
      ...saleOf(seller),
      claimId: claim.id,
      network: NETWORK,
      amountAtomic: '1000',
      isBooked: false,
      createdAt: NOW,
    })
    await store.submitClaim(submission(claim.id, BOOT))
    expect(await held(`seller:${seller}`)).toBe(0)
    expect(await store.settleClaim(settling(claim.id))).toMatchObject({ state: 'settled' })
    expect(await store.settleClaim(settling(claim.id))).toBeUndefined()
    expect(await held(`seller:${seller}`)).toBe(970)
    expect(await held('fees')).toBe(fees + 30)
    expect(await held('cash')).toBe(cash - 1000)
    expect(await store.findSale(claim.id)).toMatchObject({ isBooked: true })
  })

  it('counts nothing for a claim that buys from no listing, or whose work failed', async () => {
    const cash = await held('cash')
    const plain = newClaim()
    await store.claimPayment({ claim: plain, bootId: BOOT })
    await store.submitClaim(submission(plain.id, BOOT))
    await store.settleClaim(settling(plain.id))
    const canceled = newClaim()
    await store.claimPayment({ claim: canceled, bootId: BOOT, sale: saleOf(newSeller()) })
    await store.cancelClaim({ id: canceled.id, bootId: BOOT, reason: 'failed', now: NOW })
    expect(await held('cash')).toBe(cash)
    expect(await store.findSale(plain.id)).toBeUndefined()
  })

  it('refuses shares that do not sum to the price, and claims nothing then', async () => {
    const claim = newClaim()
    for (const wrong of [
      { feeAtomic: '31' },
      { feeAtomic: '-30', proceedsAtomic: '1030' },
      { feeAtomic: '1e3', proceedsAtomic: '0.5' },
    ])
      await expect(
        store.claimPayment({ claim, bootId: BOOT, sale: saleOf(newSeller(), wrong) }),
      ).rejects.toMatchObject({ code: 'internal' })
    expect(await store.getClaim(claim.id)).toBeUndefined()
  })

  it('keeps what our own listings earn apart from what is owed', async () => {
    const seller = newSeller()
    await sell(store, BOOT, saleOf(seller, { payoutMode: 'same_owner_retained' }))
    expect(await held(`retained:${seller}`)).toBe(970)
    expect(await held(`seller:${seller}`)).toBe(0)
  })

  it('of 32 sales at once is exact, and each line knows the balance after it', async () => {
    const seller = newSeller()
    await Promise.all(times(32, (i) => sell(store, BOOT, saleOf(seller), { at: NOW + (i % 5) })))
    expect(await held(`seller:${seller}`)).toBe(32 * 970)
    const account = `seller:${seller}`
    const all = { account, network: NETWORK, since: NOW, until: NOW + 100, limit: 100 }
    const lines = await store.listMarketEntries(all)
    expect(lines.map(({ seq }) => seq)).toEqual(times(32, (i) => i + 1))
    expect(lines.map(({ balance }) => balance)).toEqual(times(32, (i) => 970 * (i + 1)))
    // Lines of replicas whose clocks differ are in order of time all the same, so that a month is one range.
    expect(lines.map(({ at }) => at)).toEqual(lines.map(({ at }) => at).toSorted((a, b) => a - b))
    const [first, second] = [lines.slice(0, 20), lines.slice(20)]
    expect(await store.listMarketEntries({ ...all, limit: 20 })).toEqual(first)
    expect(await store.listMarketEntries({ ...all, after: first.at(-1) })).toEqual(second)
  })

  it('takes a sale back with the settlement that a chain took back, and counts it again with the next one', async () => {
    const seller = newSeller()
    const claim = await sell(store, BOOT, saleOf(seller))
    const settled = await store.getClaim(claim.id)
    const receiptId = settled?.receiptId ?? ''
    await store.reopenClaim({ id: claim.id, receiptId, now: NOW + 10 })
    expect(await held(`seller:${seller}`)).toBe(0)
    await store.resettleClaim({
      id: claim.id,
      receiptId,
      receipt: null,
      transaction: hex(32),
      block: undefined,
      now: NOW + 11,
    })
    expect(await held(`seller:${seller}`)).toBe(970)
    await store.reopenClaim({ id: claim.id, receiptId, now: NOW + 12 })
    await store.reverseClaim({ id: claim.id, reason: 'reorganised', now: NOW + 13 })
    expect(await held(`seller:${seller}`)).toBe(0)
    const lines = await store.listMarketEntries({
      account: `seller:${seller}`,
      network: NETWORK,
      since: NOW,
      until: NOW + 100,
      limit: 9,
    })
    expect(lines.map(({ kind, amount }) => [kind, amount])).toEqual([
      ['sale', 970],
      ['sale_reversed', -970],
      ['sale_restored', 970],
      ['sale_reversed', -970],
    ])
    expect(lines[0]).toMatchObject({
      claimId: claim.id,
      serviceId: 'weather',
      route: 'GET /',
      gross: 1000,
      fee: 30,
      state: 'failed',
    })
  })

  it('takes a refund from who got the money: parts of it sum to the fee and the proceeds', async () => {
    const seller = newSeller()
    const claim = await sell(store, BOOT, saleOf(seller))
    const [cash, fees] = [await held('cash'), await held('fees')]
    const first = await record(claim.id, '333')
    // 333 x 30 / 1000 is 9.99, of which 9 are returned so far.
    expect(await held('fees')).toBe(fees - 9)
    expect(await held(`seller:${seller}`)).toBe(970 - 324)
    expect(await held(`transit:${first.id}`)).toBe(333)
    await record(claim.id, null)
    expect(await held('fees')).toBe(fees - 30)
    expect(await held(`seller:${seller}`)).toBe(0)
    expect(await held('cash')).toBe(cash)
    const receipt = receiptFor('acct_operator')
    await store.settleRefund({ id: first.id, transaction: hex(32), receipt, now: NOW + 9 })
    expect(await held('cash')).toBe(cash + 333)
    expect(await held(`transit:${first.id}`)).toBe(0)
    const counted = async () => {
      const { serviceId } = saleOf(seller)
      const service = { sellerId: seller, serviceId, environment: 'test' } as const
      const [day] = await store.listServiceDays({ ...service, sinceDay: 0 })
      return [day?.refunds, day?.refunded]
    }
    expect(await counted()).toEqual([1, 333])
    await store.reopenRefund({ id: first.id, receiptId: receipt.id, now: NOW + 10 })
    expect(await held('cash')).toBe(cash)
    expect(await counted()).toEqual([0, 0])
    await store.failRefund({ id: first.id, failure: 'authorization_expired', now: NOW + 11 })
    expect(await held(`seller:${seller}`)).toBe(324)
    expect(await held('fees')).toBe(fees - 21)
  })

  it('returns the fee once, whatever fails in between', async () => {
    const seller = newSeller()
    const fees = await held('fees')
    const claim = await sell(store, BOOT, saleOf(seller, { feeAtomic: '1', proceedsAtomic: '1' }))
    const [one] = [await record(claim.id, '1'), await record(claim.id, '1')]
    await store.failRefund({ id: one.id, failure: 'x', now: NOW + 9 })
    await record(claim.id, '1')
    expect(await held('fees')).toBe(fees)
  })

  it('keeps the fee where the policy says so: the seller pays all of the refund, and owes what it does not hold', async () => {
    const seller = newSeller()
    const claim = await sell(store, BOOT, saleOf(seller))
    const fees = await held('fees')
    await record(claim.id, null, { returnsFee: false })
    expect(await held('fees')).toBe(fees)
    expect(await held(`seller:${seller}`)).toBe(-30)
    await sell(store, BOOT, saleOf(seller))
    expect(await held(`seller:${seller}`)).toBe(940)
  })

  it('lets a seller refund its own sales from what it holds, and nothing else', async () => {
    const [seller, other] = [newSeller(), newSeller()]
    const claim = await sell(store, BOOT, saleOf(seller))
    const plain = newClaim()
    await store.claimPayment({ claim: plain, bootId: BOOT })
    await store.submitClaim(submission(plain.id, BOOT))
    await store.settleClaim(settling(plain.id))
    for (const [id, asker] of [
      [claim.id, other],
      [plain.id, seller],
    ] as const) {
      expect(await store.recordRefund(asked(id, '1', { asker }))).toMatchObject({
        ok: false,
        reason: 'claim',
      })
      expect(await store.listRefunds(id)).toEqual([])
    }
    expect(await store.recordRefund(asked(claim.id, '1001', { asker: seller }))).toMatchObject({
      reason: 'amount',
    })
    await record(claim.id, '500', { asker: seller })
    // The operator takes what is left of another sale; what the seller holds is less than its share then.
    const second = await sell(store, BOOT, saleOf(seller))
    await record(second.id, null, { returnsFee: false })
    expect(await store.recordRefund(asked(claim.id, null, { asker: seller }))).toMatchObject({
      ok: false,
      reason: 'balance',
    })
    expect(await store.listRefunds(claim.id)).toHaveLength(1)
  })

  it('lets a seller give a sale back in ten parts, since each costs the operator gas', async () => {
    const seller = newSeller()
    const claim = await sell(store, BOOT, saleOf(seller))
    for (let i = 0; i < 10; i++) await record(claim.id, '1', { asker: seller })
    expect(await store.recordRefund(asked(claim.id, null, { asker: seller }))).toEqual({
      ok: false,
      reason: 'many',
    })
    expect(await record(claim.id, null)).toMatchObject({ amount: '990' })
  })

  it('counts none of those parts that never left', async () => {
    const seller = newSeller()
    const claim = await sell(store, BOOT, saleOf(seller))
    for (let i = 0; i < 10; i++) {
      const { id } = await record(claim.id, '1', { asker: seller })
      await store.submitRefund({ id, tries: 0, now: Date.now() })
      await store.failRefund({ id, failure: 'out_of_gas', tries: 1, now: Date.now() })
    }
    expect(await record(claim.id, null, { asker: seller })).toMatchObject({ amount: '1000' })
  })

  it('proves itself: sums, what is under way, and no balance that is not the one after its last entry', async () => {
    const { sums, underWay, unbalanced } = await store.proveMarketLedger(NETWORK)
    expect(Object.values(sums).reduce((total, sum) => total + sum, 0)).toBe(0)
    expect(underWay).toBe(sums.transit)
    expect(underWay).toBeGreaterThan(0)
    expect(unbalanced).toBe(0)
    const retained = await store.listMarketBalances({ prefix: 'retained:', limit: 100 })
    expect(sums.retained).toBe(retained.reduce((total, { balance }) => total + balance, 0))
  })

  it('of 16 refunds by a seller at once spends what it holds and not a unit more', async () => {
    const seller = newSeller()
    const claims = await Promise.all(times(16, () => sell(store, BOOT, saleOf(seller))))
    await Promise.all(claims.slice(0, 8).map(({ id }) => record(id, null, { returnsFee: false })))
    const before = await held(`seller:${seller}`)
    expect(before).toBe(8 * 970 - 8 * 30)
    const answers = await Promise.all(
      claims
        .slice(8)
        .map(({ id }) => store.recordRefund(asked(id, null, { asker: seller, returnsFee: false }))),
    )
    expect(answers.filter(({ ok }) => ok)).toHaveLength(7)
    expect(await held(`seller:${seller}`)).toBe(before - 7000)
  })

  it('knows what an account held at a moment, and what all of them hold', async () => {
    const seller = newSeller()
    for (const at of [NOW + 1000, NOW + 2000, NOW + 3000]) await sell(store, BOOT, saleOf(seller), { at })
    const account = `seller:${seller}`
    const at = (before: number) => store.marketBalanceBefore({ account, network: NETWORK, before })
    expect([await at(NOW + 1000), await at(NOW + 1001), await at(NOW + 3000), await at(NOW + 9999)]).toEqual([
      0, 970, 1940, 2910,
    ])
    const listed = await store.listMarketBalances({ prefix: account, limit: 9 })
    expect(listed).toEqual([{ account, network: NETWORK, balance: 2910, entries: 3 }])
    const [found] = listed
    expect(await store.listMarketBalances({ prefix: account, after: found, limit: 9 })).toEqual([])
    const { cash, fees, seller: owed, retained, transit } = await store.sumMarketBalances(NETWORK)
    expect(cash + fees + owed + retained + transit).toBe(0)
    expect(cash).toBeLessThan(0)
  })
})
