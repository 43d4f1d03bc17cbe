// What an operator asks about payments, and what may be closed by hand: never a payment that a chain decides, or whose money could move.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Evidence } from '../../../src/payments/chain-evidence.ts'
import { createPaymentRecords } from '../../../src/payments/records.ts'
import type { PaymentClaim, Store } from '../../../src/store/ports.ts'
import { createPlace, newClaim, NOW, type Place, settling, submission } from '../../support/store.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

let place: Place
let store: Store
/** What the chain shows; undefined where there is none that can be read. */
let shown: Evidence | undefined
let now = NOW
beforeAll(async () => {
  place = await createPlace('sqlite', 'payment-records')
  store = await place.open('boot-1')
})
afterAll(() => place.remove())

const networks = { all: [], find: () => undefined, hindrance: () => undefined }
const records = () =>
  createPaymentRecords({
    store,
    networks,
    evidence: {
      read: async () => shown ?? { state: 'unprovable' },
      readDeclined: async () => shown ?? { state: 'unprovable' },
      canRead: () => shown !== undefined,
      countsAtOnce: () => true,
    },
    settlements: {
      async reconcileOne(claim: PaymentClaim) {
        if (shown?.state !== 'paid') return claim
        await store.settleClaim(settling(claim.id))
        return (await store.getClaim(claim.id)) ?? claim
      },
    },
    refunds: { of: (id) => store.listRefunds(id), show: () => Promise.reject(new Error('none here')) },
    now: () => now,
  })

async function open(over: Parameters<typeof newClaim>[0] = {}, to: 'unknown' | 'pending' = 'unknown') {
  const claim = newClaim(over)
  await store.claimPayment({ claim, bootId: 'boot-1' })
  await store.submitClaim(submission(claim.id, 'boot-1'))
  await store.moveClaim({ id: claim.id, to, reason: 'timeout', transaction: null, now: NOW })
  return claim
}
const why = (promise: Promise<unknown>) =>
  promise.then(
    () => 'done',
    (error: { code: string }) => error.code,
  )
const word = { reason: 'in no block', closedBy: 'key_1' }

describe('a payment that is not decided', () => {
  it('settles where its chain shows the transfer, and the answer says so', async () => {
    const { id } = await open()
    shown = { state: 'paid', transaction: '0xt' }
    const looked = await records().reconcile(id)
    expect(looked).toMatchObject({ was: 'unknown', chain: 'paid', closable_from: null })
    expect([looked.payment.state, looked.says]).toEqual(['settled', 'It is settled: nothing is left to do.'])
    expect(await records().reconcile(id)).toMatchObject({ was: 'settled', chain: null })
  })

  it.each<[Evidence['state'], RegExp]>([
    ['unused', /could still be used/],
    ['unanswered', /agent-gateway doctor/],
  ])('is not closed by hand where its chain is %s: the chain decides', async (state, says) => {
    const { id } = await open({ validBefore: NOW - 90 * DAY })
    shown = { state } as Evidence
    expect(await records().reconcile(id)).toMatchObject({
      chain: state,
      closable_from: null,
      says: expect.stringMatching(says),
    })
    expect(await why(records().close(id, word))).toBe('state_conflict')
    expect((await store.getClaim(id))?.state).toBe('unknown')
  })

  it('is closed by hand only once its authorization expired long enough ago', async () => {
    shown = undefined
    const validBefore = NOW + HOUR
    const { id } = await open({ validBefore })
    const from = validBefore + 6 * HOUR
    expect(await records().reconcile(id)).toMatchObject({
      chain: 'unprovable',
      closable_from: new Date(from).toISOString(),
      says: expect.stringContaining(`payments reconcile ${id} --close --reason`),
    })
    now = from - 1
    expect(await why(records().close(id, word))).toBe('state_conflict')
    now = from
    expect(await records().close(id, word)).toMatchObject({
      payment: { state: 'failed', reason: 'closed_by_operator' },
      closed: { was: 'unknown', reason: 'in no block', closed_by: 'key_1' },
      events: expect.arrayContaining([expect.objectContaining({ event: 'closed_by_operator' })]),
    })
    expect(await why(records().close(id, word))).toBe('state_conflict')
    now = NOW
  })

  it('that names no end is closed seven days after it was sent', async () => {
    shown = undefined
    const { id } = await open({ validBefore: null }, 'pending')
    const { submittedAt } = (await store.getClaim(id))!
    now = submittedAt! + 7 * DAY - 1
    expect(await why(records().close(id, word))).toBe('state_conflict')
    now += 1
    expect(await why(records().close(id, word))).toBe('done')
    now = NOW
  })
})

it('closes nothing that is settled, being sent, or not there', async () => {
  shown = undefined
  const sent = newClaim({ validBefore: NOW - 90 * DAY })
  await store.claimPayment({ claim: sent, bootId: 'boot-1' })
  await store.submitClaim(submission(sent.id, 'boot-1'))
  expect(await why(records().close(sent.id, word))).toBe('state_conflict')
  expect((await records().reconcile(sent.id)).says).toMatch(/working on it/)
  await store.settleClaim(settling(sent.id))
  expect(await why(records().close(sent.id, word))).toBe('state_conflict')
  expect(await why(records().close('clm_none', word))).toBe('payment_not_found')
  expect(await why(records().show('clm_none'))).toBe('payment_not_found')
})

it('shows the life of a payment in order, and nothing that opens its result', async () => {
  const claim = newClaim({ identifier: 'secret-identifier-0001', secret: 'identifier', createdAt: NOW - 9 })
  await store.claimPayment({ claim, bootId: 'boot-1' })
  await store.submitClaim({
    ...submission(claim.id, 'boot-1'),
    result: { json: '{"paid":"content"}', sha256: 'ab'.repeat(32), expiresAt: NOW + DAY },
  })
  await store.settleClaim({ ...settling(claim.id), block: { number: 17, hash: '0xb' } })
  const life = await records().show(claim.id)
  expect(life).toMatchObject({
    payment: { claim_id: claim.id, state: 'settled', amount: '0.001000' },
    bound_to: { buyer_known_by: 'identifier' },
    settlement: { block: 17, confirmations_needed: 1, may_still_settle: false },
    result: { sha256: 'ab'.repeat(32), kept_until: new Date(NOW + DAY).toISOString() },
    refunded_atomic: '0',
    refundable_atomic: claim.amount,
    closed: null,
  })
  expect(life.events.map(({ event }) => event)).toEqual(['claimed', 'submitted', 'settled'])
  const text = JSON.stringify([life, await records().list({}, { limit: 100 })])
  for (const secret of ['secret-identifier-0001', '"content"', claim.presentationDigest])
    expect(text).not.toContain(secret)
})

describe('revenue', () => {
  const start = Math.floor((NOW + 400 * DAY) / DAY) * DAY
  const date = (at: number) => new Date(at).toISOString().slice(0, 10)
  const pay = async (at: number, amount: string, over: Parameters<typeof newClaim>[0] = {}) => {
    const claim = newClaim({ amount, ...over })
    await store.claimPayment({ claim, bootId: 'boot-1' })
    await store.submitClaim(submission(claim.id, 'boot-1'))
    const settlement = { ...settling(claim.id), now: at }
    await store.settleClaim(settlement)
    return { ...claim, receiptId: settlement.receipt.id }
  }

  it('adds up days and months by network and asset, less what came back, and none that a chain took back', async () => {
    await pay(start, '9007199254740993')
    await pay(start + DAY - 1, '2')
    const gone = await pay(start + 5, '77')
    const other = await pay(start + DAY, '5', { tool: 'gateway.pages.read' })
    await pay(start + DAY, '100', { origin: 'settle', tool: 'settle' })
    await store.reopenClaim({ id: gone.id, receiptId: gone.receiptId, now: start + 6 })
    const refund = await store.recordRefund({
      id: 'rfd_1',
      claimId: other.id,
      reference: 'r',
      accountId: 'acct',
      reason: 'r',
      sender: '0x5',
      nonce: '0x6',
      validBefore: start + 9 * DAY,
      createdAt: start + DAY,
      amount: '4',
    })
    expect(refund).toMatchObject({ ok: true })
    await store.submitRefund({ id: 'rfd_1', tries: 0, now: start + DAY })
    await store.settleRefund({
      id: 'rfd_1',
      transaction: '0xd',
      receipt: settling(other.id).receipt,
      now: start + 2 * DAY,
    })
    const days = { from: date(start), to: date(start + 2 * DAY) }
    const of = async (by: 'day' | 'month' | 'tool' | 'network') =>
      (await records().revenue(by, days)).revenue.map(({ of, payments, settled, refunded }) => [
        of,
        payments,
        settled,
        refunded,
      ])
    expect(await of('day')).toEqual([
      [date(start + 2 * DAY), 0, 0n, 4n],
      [date(start + DAY), 1, 5n, 0n],
      [date(start), 2, 9007199254740995n, 0n],
    ])
    expect(await of('tool')).toEqual([
      ['gateway.pages.read', 1, 5n, 4n],
      ['gateway.web.fetch', 2, 9007199254740995n, 0n],
    ])
    expect(await of('network')).toEqual([['eip155:84532', 3, 9007199254741000n, 4n]])
    expect(new Set((await of('month')).map(([month]) => month))).toEqual(
      new Set([date(start).slice(0, 7), date(start + 2 * DAY).slice(0, 7)].toReversed()),
    )
  })

  it.each([
    [{ from: '2026-02-30', to: '2026-03-01' }],
    [{ from: '2026-02-99', to: '2026-03-01' }],
    [{ from: '2026-03-02', to: '2026-03-01' }],
    [{ from: '2020-01-01', to: '2026-03-01' }],
  ])('refuses %o', async (days) => {
    expect(await why(records().revenue('day', days))).toBe('input_invalid')
  })
})
