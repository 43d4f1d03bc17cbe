// Refunds as rows: never more than was paid, whoever asks at once; credits go back with the money; what a payer spent. On every engine.
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../src/lib/ids.ts'
import { MAX_BALANCE } from '../../src/store/migrations.ts'
import type { NewPaymentClaim, NewRefund, Store } from '../../src/store/ports.ts'
import { runRaw } from '../support/raw-sql.ts'
import {
  addAccount,
  createPlace,
  ENGINES,
  newClaim,
  NOW,
  type Place,
  receiptFor,
  settling,
  submission,
  sumOfLedger,
  times,
  unbalancedAccounts,
} from '../support/store.ts'

const BOOT = 'boot-1'
const hex = (bytes: number) => `0x${randomBytes(bytes).toString('hex')}`
const SENDER = hex(20)

describe.each(ENGINES)('refunds in %s', (engine) => {
  let place: Place
  let store: Store
  beforeAll(async () => {
    place = await createPlace(engine, 'refunds')
    store = await place.open(BOOT)
  })
  afterAll(async () => {
    expect(await sumOfLedger(place)).toBe(0)
    expect(await unbalancedAccounts(place)).toEqual([])
    await place.remove()
  })

  async function settle(over: Partial<NewPaymentClaim> = {}, at = NOW + 3): Promise<string> {
    const claim = newClaim(over)
    await store.claimPayment({ claim, bootId: BOOT })
    await store.submitClaim(submission(claim.id, BOOT))
    expect(await store.settleClaim({ ...settling(claim.id), now: at })).toMatchObject({ state: 'settled' })
    return claim.id
  }
  const asked = (claimId: string, amount: string | null, over: Partial<NewRefund> = {}): NewRefund => ({
    id: newId('rfd', NOW),
    claimId,
    reference: hex(8),
    accountId: 'acct_operator',
    reason: 'the page was empty',
    sender: SENDER,
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
  /** Its chain takes the payment back. @returns what settles it again */
  async function reopen(claimId: string) {
    const { receiptId, transaction } = (await store.getClaim(claimId))!
    const was = { id: claimId, receiptId: receiptId!, now: NOW + 6 }
    expect(await store.reopenClaim(was)).toMatchObject({ state: 'pending' })
    return { ...was, transaction: transaction!, receipt: null, block: undefined }
  }
  const reverse = (id: string) => store.reverseClaim({ id, reason: 'authorization_expired', now: NOW + 7 })
  const finish = async (id: string, now = NOW + 9) => {
    const receipt = receiptFor('acct_operator')
    return store.settleRefund({ id, transaction: hex(32), receipt, now })
  }

  it('are bound to what was paid: a part, then the rest, then nothing', async () => {
    const payer = hex(20)
    const claimId = await settle({ payer })
    const first = await record(claimId, '400')
    expect(first).toMatchObject({ state: 'recorded', payer, amount: '400', credits: 0, tries: 0 })
    expect(await store.recordRefund(asked(claimId, '601'))).toEqual({
      ok: false,
      reason: 'amount',
      left: '600',
    })
    expect(await record(claimId, null)).toMatchObject({ amount: '600' })
    for (const amount of ['1', null])
      expect(await store.recordRefund(asked(claimId, amount))).toEqual({
        ok: false,
        reason: 'amount',
        left: '0',
      })
    expect(await store.listRefunds(claimId)).toHaveLength(2)
    expect(await store.getRefund(first.id)).toEqual(first)
  })

  it('of 64 at once bind what was paid and not a unit more', async () => {
    const claimId = await settle({ amount: '1000' })
    const answers = await Promise.all(times(64, () => store.recordRefund(asked(claimId, '150'))))
    expect(answers.filter(({ ok }) => ok)).toHaveLength(6)
    const sum = (await store.listRefunds(claimId)).reduce((total, { amount }) => total + Number(amount), 0)
    expect(sum).toBe(900)
  })

  it('with one reference are one, however many ask at once', async () => {
    const claimId = await settle()
    const answers = await Promise.all(
      times(64, () => store.recordRefund(asked(claimId, '10', { reference: 'ticket 1' }))),
    )
    expect(answers.filter((answer) => answer.ok && !answer.repeated)).toHaveLength(1)
    expect(new Set(answers.map((answer) => answer.ok && answer.refund.id)).size).toBe(1)
    expect(await store.recordRefund(asked(claimId, null, { reference: 'ticket 1' }))).toMatchObject({
      ok: true,
      repeated: true,
    })
    expect(await store.recordRefund(asked(claimId, '11', { reference: 'ticket 1' }))).toEqual({
      ok: false,
      reason: 'reference',
    })
  })

  it('are refused for a claim that is not there, or not settled', async () => {
    expect(await store.recordRefund(asked('clm_none', '1'))).toEqual({ ok: false, reason: 'claim' })
    const claim = newClaim()
    await store.claimPayment({ claim, bootId: BOOT })
    expect(await store.recordRefund(asked(claim.id, '1'))).toEqual({ ok: false, reason: 'state' })
  })

  it('are sent by whoever counts the try first, and failed only while nobody else has', async () => {
    const refund = await record(await settle(), '1000')
    const submit = (tries: number) => store.submitRefund({ id: refund.id, tries, now: NOW + 6 })
    const both = await Promise.all([submit(0), submit(0)])
    expect(both.filter(Boolean)).toMatchObject([{ state: 'submitted', tries: 1, submittedAt: NOW + 6 }])
    expect(await submit(1)).toMatchObject({ tries: 2, submittedAt: NOW + 6 })
    const fail = { id: refund.id, failure: 'no_route', now: NOW + 7 }
    expect(await store.failRefund({ ...fail, tries: 1 })).toBeUndefined()
    expect(await finish(refund.id)).toMatchObject({ state: 'settled', finishedAt: NOW + 9 })
    expect(await finish(refund.id)).toBeUndefined()
    expect(await store.failRefund(fail)).toBeUndefined()
    expect(await submit(2)).toBeUndefined()
  })

  it('are not sent while their chain has taken the payment back, nor once it never comes', async () => {
    const claimId = await settle()
    const refund = await record(claimId, null)
    const submit = (tries: number) => store.submitRefund({ id: refund.id, tries, now: NOW + 8 })
    const was = await reopen(claimId)
    expect(await submit(0)).toBeUndefined()
    expect(await store.getRefund(refund.id)).toEqual(refund)
    await store.resettleClaim(was)
    expect(await submit(0)).toMatchObject({ state: 'submitted', tries: 1 })
    await reopen(claimId)
    await reverse(claimId)
    expect(await submit(1)).toBeUndefined()
    // What was sent before may have arrived all the same.
    expect(await finish(refund.id)).toMatchObject({ state: 'settled' })
  })

  it('that failed leave their amount free again', async () => {
    const claimId = await settle()
    const refund = await record(claimId, null)
    expect(
      await store.failRefund({ id: refund.id, failure: 'no_route', tries: 0, now: NOW + 7 }),
    ).toMatchObject({
      state: 'failed',
      failure: 'no_route',
    })
    expect(await record(claimId, null)).toMatchObject({ amount: '1000' })
  })

  it('are open until they are decided, and opened again when their chain took them back', async () => {
    const refund = await record(await settle(), null)
    const open = async (before: number) =>
      (await store.listOpenRefunds({ before, limit: 100 })).map(({ id }) => id)
    expect(await open(NOW)).toContain(refund.id)
    await store.touchRefund(refund.id, NOW + 20)
    expect(await open(NOW + 20)).not.toContain(refund.id)
    expect(await open(NOW + 21)).toContain(refund.id)
    const settled = await finish(refund.id, NOW + 30)
    expect(await open(NOW + 99)).not.toContain(refund.id)
    // However long ago it settled: who was away for an hour looks at it all the same.
    const watched = async () => (await store.listSettledRefunds({ limit: 1000 })).map(({ id }) => id)
    expect(await watched()).toContain(refund.id)
    const final = await record(await settle(), null)
    await finish(final.id)
    await store.finalizeRefund(final.id, NOW + 99)
    expect(await watched()).not.toContain(final.id)
    const receiptId = settled?.receiptId ?? ''
    expect(await store.reopenRefund({ id: refund.id, receiptId: 'rcp_other', now: NOW })).toBeUndefined()
    expect(await store.reopenRefund({ id: refund.id, receiptId, now: NOW + 31 })).toMatchObject({
      state: 'submitted',
      receiptId: null,
    })
    expect(await store.getReceiptStanding(receiptId)).toMatchObject({ withdrawnAt: NOW + 31 })
    expect(await open(NOW)).toContain(refund.id)
  })

  describe('of a purchase of credits', () => {
    const bought = async (credits: number) => {
      const accountId = await addAccount(store, 5)
      const claimId = await settle({ purchase: { accountId, credits } })
      return { accountId, claimId, balance: () => store.balance(accountId) }
    }

    it('take whole credits back in proportion, and all of them in the end', async () => {
      const { claimId, balance } = await bought(7)
      expect(await balance()).toBe(12)
      expect(await record(claimId, '100')).toMatchObject({ credits: 1 })
      expect(await record(claimId, '100')).toMatchObject({ credits: 1 })
      expect(await record(claimId, '1')).toMatchObject({ credits: 0 })
      expect(await record(claimId, null)).toMatchObject({ credits: 5 })
      expect(await balance()).toBe(5)
    })

    it('are refused where the credits are spent, and leave no trace', async () => {
      const { accountId, claimId, balance } = await bought(10)
      for (let i = 0; i < 8; i++)
        await store.takeSettlement({
          allowances: [{ holder: `nobody-${i}`, allowance: 0 }],
          month: '2026-06',
          accountId,
          claimId: newId('clm', NOW),
          transactionId: newId('txn', NOW),
          now: NOW,
        })
      expect(await balance()).toBe(7)
      expect(await store.recordRefund(asked(claimId, null))).toEqual({
        ok: false,
        reason: 'credits',
        left: '1000',
        credits: 10,
      })
      expect(await store.listRefunds(claimId)).toEqual([])
      expect(await record(claimId, '700')).toMatchObject({ credits: 7 })
      expect(await balance()).toBe(0)
    })

    it('give them back where the transfer never comes', async () => {
      const { claimId, balance } = await bought(10)
      const refund = await record(claimId, '500')
      expect(await balance()).toBe(10)
      await store.failRefund({ id: refund.id, failure: 'authorization_expired', now: NOW + 9 })
      expect(await balance()).toBe(15)
    })

    it('are not taken twice where the chain takes the purchase back as well', async () => {
      const { claimId, balance } = await bought(10)
      await record(claimId, '400')
      await reopen(claimId)
      expect(await reverse(claimId)).toMatchObject({ lost: 0 })
      expect(await balance()).toBe(5)
    })

    it.each<[string, (claimId: string) => Promise<unknown>]>([
      ['', async () => undefined],
      [
        ', also once its chain took the payment back and settled it again',
        async (claimId) =>
          expect(await store.resettleClaim(await reopen(claimId))).toMatchObject({
            reason: 'purchase_unclaimed',
          }),
      ],
      [
        ', also where an earlier release forgot that when the payment settled again',
        (claimId) => runRaw(place, `UPDATE payment_claims SET reason = NULL WHERE id = '${claimId}'`),
      ],
    ])('take them from where they stand where no account could have them%s', async (_name, change) => {
      const full = await addAccount(store, MAX_BALANCE - 9)
      for (const accountId of ['acct_gone', full]) {
        const claimId = await settle({ purchase: { accountId, credits: 10 } })
        await change(claimId)
        const refund = await record(claimId, '500')
        expect(refund).toMatchObject({ credits: 5 })
        await store.failRefund({ id: refund.id, failure: 'no_route', now: NOW + 9 })
        expect(await record(claimId, null)).toMatchObject({ credits: 10 })
      }
      expect(await store.balance(full)).toBe(MAX_BALANCE - 9)
    })

    const fail = (id: string) => store.failRefund({ id, failure: 'no_route', now: NOW + 9 })

    it('that fail leave the credits to the operator where their account has no room for any more', async () => {
      const { accountId, claimId } = await bought(10)
      const refund = await record(claimId, null)
      const unlimited = { reference: 'unlimited', transactionId: newId('txn', NOW), now: NOW }
      const left = (await store.balance(accountId))!
      await store.grant({ ...unlimited, accountId, amount: MAX_BALANCE - left })
      expect(await fail(refund.id)).toMatchObject({ state: 'failed' })
      expect(await store.balance(accountId)).toBe(MAX_BALANCE)
      const { items } = await store.ledger('system:unclaimed', { limit: 99 })
      expect(items.filter(({ reference }) => reference === refund.id)).toMatchObject([
        { amount: refund.credits, kind: 'reversal' },
      ])
    })

    it.each([null, '400'])(
      'give none back of a payment that never came, where their transfer never comes either (of %s)',
      async (amount) => {
        const { accountId, claimId, balance } = await bought(10)
        const refund = await record(claimId, amount)
        await reopen(claimId)
        expect(await reverse(claimId)).toMatchObject({ lost: 0 })
        expect(await fail(refund.id)).toMatchObject({ state: 'failed' })
        expect(await balance()).toBe(5)
        // The ledger says that the refund took nothing in the end, and the reversal everything.
        const taken = async (reference: string) => {
          const text = `SELECT CAST(sum(amount) AS BIGINT) AS sum FROM ledger_entries
            WHERE account = '${accountId}' AND kind = 'reversal' AND reference = '${reference}'`
          return Number((await place.query(text))[0]?.['sum'])
        }
        expect([await taken(refund.id), await taken(claimId)]).toEqual([0, -10])
      },
    )

    it('give them back where they fail before the payment is given up, which takes them then', async () => {
      const { claimId, balance } = await bought(10)
      const refund = await record(claimId, null)
      await reopen(claimId)
      await fail(refund.id)
      expect(await balance()).toBe(15)
      expect(await reverse(claimId)).toMatchObject({ lost: 0 })
      expect(await balance()).toBe(5)
    })

    it('leave nothing where both happen at once', async () => {
      const balances = times(24, async () => {
        const { claimId, balance } = await bought(10)
        const refund = await record(claimId, null)
        await reopen(claimId)
        await Promise.all([reverse(claimId), fail(refund.id)])
        return balance()
      })
      expect(new Set(await Promise.all(balances))).toEqual(new Set([5]))
    })
  })

  it('and payments of a payer are reported by month, network, asset and tool', async () => {
    const payer = hex(20)
    const [may, june] = [Date.UTC(2026, 4, 31, 23, 59, 59), Date.UTC(2026, 5, 1)]
    const huge = '123456789012345678901234567890'
    await settle({ payer }, may)
    const paid = await settle({ payer }, june)
    await settle({ payer }, june + 86_400_000)
    await settle({ payer, amount: '7' }, june)
    await settle({ payer, tool: 'gateway.execute', amount: huge }, june)
    await settle({ payer, network: 'eip155:8453' }, june)
    await settle({}, june)
    await finish((await record(paid, '300')).id, june + 5)
    await record(paid, '300')
    const spend = (since: number, until: number) => store.listSpend({ payer, since, until })
    const row = { network: 'eip155:84532', tool: 'gateway.web.fetch', refunded: '0' }
    const rows = [
      { ...row, month: '2026-06', network: 'eip155:8453', payments: 1, settled: '1000' },
      { ...row, month: '2026-06', tool: 'gateway.execute', payments: 1, settled: huge },
      { ...row, month: '2026-06', payments: 3, settled: '2007', refunded: '300' },
      { ...row, month: '2026-05', payments: 1, settled: '1000' },
    ]
    expect(await spend(0, NOW * 2)).toMatchObject(rows)
    expect(await spend(june, NOW * 2)).toMatchObject(rows.slice(0, 3))
    expect(await spend(0, june)).toMatchObject(rows.slice(3))
    expect(await store.listSpend({ payer: hex(20), since: 0, until: NOW * 2 })).toEqual([])
  })
})
