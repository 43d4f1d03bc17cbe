// What settlements for other sellers cost, quotes, and their sweep; on every engine.
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../src/lib/ids.ts'
import { MAX_BALANCE } from '../../src/store/migrations.ts'
import type { Store } from '../../src/store/ports.ts'
import {
  addAccount,
  createPlace,
  ENGINES,
  newClaim,
  nextTransaction,
  NOW,
  type Place,
  submission,
  sumOfLedger,
  times,
  unbalancedAccounts,
} from '../support/store.ts'

type Take = Parameters<Store['takeSettlement']>[0]
let holders = 0
const nextHolder = () => `eip155:8453:0x${String(holders++).padStart(40, '0')}`

const taking = (
  holder: string,
  { allowance = 2, ...over }: Partial<Take> & { allowance?: number } = {},
): Take => ({
  allowances: [{ holder, allowance }],
  month: '2026-06',
  accountId: null,
  claimId: newId('clm', NOW),
  transactionId: nextTransaction(),
  now: NOW,
  ...over,
})
const returning = (claimId: string) => ({ claimId, transactionId: nextTransaction(), now: NOW })

describe.each(ENGINES)('settlements in %s', (engine) => {
  let place: Place
  let store: Store
  beforeAll(async () => {
    place = await createPlace(engine, 'settlements')
    store = await place.open('boot-1')
  })
  afterAll(async () => {
    expect(await sumOfLedger(place)).toBe(0)
    expect(await unbalancedAccounts(place)).toEqual([])
    await place.remove()
  })

  it('takes from the allowance first, then from the credits, then refuses with the balance', async () => {
    const holder = nextHolder()
    const accountId = await addAccount(store, 1)
    const [a, b, c, d] = times(4, () => taking(holder, { accountId }))
    expect(await store.takeSettlement(a!)).toEqual({ ok: true, paidBy: 'allowance', left: 1 })
    expect(await store.takeSettlement(b!)).toEqual({ ok: true, paidBy: 'allowance', left: 0 })
    expect(await store.takeSettlement(c!)).toEqual({ ok: true, paidBy: 'credits', left: 0 })
    expect(await store.takeSettlement(d!)).toEqual({ ok: false, balance: 0, usedUp: holder })
    expect(await store.balance(accountId)).toBe(0)
    const [entry] = (await store.ledger(accountId, { limit: 1 })).items
    expect(entry).toMatchObject({ amount: -1, kind: 'settlement', reference: c!.claimId, createdAt: NOW })
    // What was refused holds nothing: with credits it goes.
    await store.grant({ accountId, amount: 1, reference: 'r', transactionId: nextTransaction(), now: NOW })
    expect(await store.takeSettlement(d!)).toEqual({ ok: true, paidBy: 'credits', left: 0 })
  })

  it('has nothing for who has neither allowance nor account', async () => {
    const holder = nextHolder()
    const none = { ok: false, balance: null, usedUp: holder }
    expect(await store.takeSettlement(taking(holder, { allowance: 0 }))).toEqual(none)
    expect(await store.takeSettlement(taking(holder, { allowance: 0, accountId: 'acct_none' }))).toEqual(none)
    expect(await store.takeSettlement(taking(holder, { allowance: 1 }))).toMatchObject({ left: 0 })
    expect(await store.takeSettlement(taking(holder, { allowance: 1 }))).toEqual(none)
  })

  it('takes credits from the first settlement on where there is no allowance', async () => {
    const accountId = await addAccount(store, 2)
    const take = taking(accountId, { allowance: 0, accountId })
    expect(await store.takeSettlement(take)).toEqual({ ok: true, paidBy: 'credits', left: 1 })
  })

  it('begins anew with the month, and for each holder', async () => {
    const [one, other] = [nextHolder(), nextHolder()]
    const left = async (holder: string, month: string) => {
      const result = await store.takeSettlement(taking(holder, { month, allowance: 1 }))
      return result.ok ? result.left : 'none'
    }
    expect(await left(one, '2026-06')).toBe(0)
    expect(await left(one, '2026-06')).toBe('none')
    expect(await left(one, '2026-07')).toBe(0)
    expect(await left(other, '2026-06')).toBe(0)
  })

  it('takes from all of several at once, or from none of them, and gives back to all', async () => {
    const [payee, payer, network, other] = times(4, nextHolder)
    const together = (limits: readonly [string | undefined, number][]): Take => ({
      ...taking('nobody'),
      allowances: limits.map(([holder, allowance]) => ({ holder: holder!, allowance })) as never,
    })
    const three = [
      [payee, 5],
      [payer, 5],
      [network, 2],
    ] as [string, number][]
    const first = together(three)
    expect(await store.takeSettlement(first)).toEqual({ ok: true, paidBy: 'allowance', left: 1 })
    expect(await store.takeSettlement(first)).toEqual({ ok: true, paidBy: 'allowance', left: 1 })
    expect(await store.takeSettlement(together(three))).toMatchObject({ ok: true, left: 0 })
    // Two of them have room, and get nothing counted.
    for (let i = 0; i < 5; i++)
      expect(await store.takeSettlement(together(three))).toEqual({
        ok: false,
        balance: null,
        usedUp: network,
      })
    expect(await store.takeSettlement(together([[payee, 3]]))).toMatchObject({ ok: true, left: 0 })
    expect(
      await store.takeSettlement(
        together([
          [other, 9],
          [payee, 3],
        ]),
      ),
    ).toMatchObject({ usedUp: payee })
    expect(await store.takeSettlement(together([[other, 1]]))).toMatchObject({ ok: true })
    expect(await store.returnSettlement(returning(first.claimId))).toBe(true)
    expect(await store.takeSettlement(together(three))).toMatchObject({ ok: true, left: 0 })
    expect(await store.takeSettlement(together([[payer, 3]]))).toMatchObject({ ok: true, left: 0 })
  })

  it('is never more than the smallest of several, of a hundred claims at once', async () => {
    const network = nextHolder()
    const results = await Promise.all(
      times(100, () => {
        const allowances = [nextHolder(), nextHolder()].map((holder) => ({ holder, allowance: 1000 }))
        return store.takeSettlement({
          ...taking('nobody'),
          allowances: [allowances[0]!, allowances[1]!, { holder: network, allowance: 30 }],
        })
      }),
    )
    expect(results.filter(({ ok }) => ok)).toHaveLength(30)
  })

  it('takes once for a claim, of twenty at once and again later', async () => {
    const accountId = await addAccount(store, 5)
    for (const [allowance, left] of [
      [7, 6],
      [0, 4],
    ]) {
      const take = taking(nextHolder(), { accountId, allowance: allowance! })
      const results = await Promise.all(
        times(20, () => store.takeSettlement({ ...take, transactionId: nextTransaction() })),
      )
      const paidBy = allowance === 0 ? 'credits' : 'allowance'
      for (const result of results) expect(result).toEqual({ ok: true, paidBy, left })
      expect(await store.takeSettlement(take)).toEqual({ ok: true, paidBy, left })
    }
    expect(await store.balance(accountId)).toBe(4)
  })

  it('never takes more than there is, of a hundred claims at once', async () => {
    const accountId = await addAccount(store, 30)
    const holder = nextHolder()
    const results = await Promise.all(
      times(100, () => store.takeSettlement(taking(holder, { allowance: 20, accountId }))),
    )
    const paidBy = (word: string) => results.filter((result) => result.ok && result.paidBy === word)
    expect([paidBy('allowance').length, paidBy('credits').length]).toEqual([20, 30])
    expect(await store.balance(accountId)).toBe(0)
  })

  it.each([
    ['the allowance', 1],
    ['the credits', 0],
  ])('gives back to %s once', async (_word, allowance) => {
    const accountId = await addAccount(store, 1)
    const take = taking(nextHolder(), { allowance, accountId })
    const first = await store.takeSettlement(take)
    const returned = await Promise.all(times(10, () => store.returnSettlement(returning(take.claimId))))
    expect(returned.filter(Boolean)).toHaveLength(1)
    expect(await store.balance(accountId)).toBe(1)
    // There is exactly as much as before.
    const next = { ...take, claimId: newId('clm', NOW), transactionId: nextTransaction() }
    expect(await store.takeSettlement(next)).toEqual(first)
    const { items } = await store.ledger(accountId, { limit: 10 })
    const ofFirst = items.filter((entry) => entry.reference === take.claimId).map(({ kind }) => kind)
    expect(ofFirst).toEqual(allowance === 0 ? ['refund', 'settlement'] : [])
  })

  it('gives a credit back that its account has no room for any more: it stands for the operator', async () => {
    const accountId = await addAccount(store, 1)
    const take = taking(nextHolder(), { allowance: 0, accountId })
    await store.takeSettlement(take)
    const unlimited = { reference: 'unlimited', transactionId: nextTransaction(), now: NOW }
    await store.grant({ ...unlimited, accountId, amount: MAX_BALANCE })
    expect(await store.returnSettlement(returning(take.claimId))).toBe(true)
    expect(await store.balance(accountId)).toBe(MAX_BALANCE)
    const { items } = await store.ledger('system:unclaimed', { limit: 10 })
    expect(items).toMatchObject([{ amount: 1, kind: 'refund', reference: take.claimId }])
  })

  it('gives back with the claim that is canceled, and not with one that was submitted', async () => {
    const accountId = await addAccount(store, 2)
    const [canceled, submitted] = [newClaim({ origin: 'settle' }), newClaim({ origin: 'settle' })]
    for (const claim of [canceled, submitted]) {
      await store.claimPayment({ claim, bootId: 'boot-1' })
      await store.takeSettlement({ ...taking(nextHolder(), { allowance: 0, accountId }), claimId: claim.id })
    }
    await store.submitClaim(submission(submitted.id, 'boot-1'))
    const cancel = ({ id }: { id: string }) =>
      store.cancelClaim({ id, bootId: 'boot-1', reason: 'not_submitted', now: NOW })
    expect([await cancel(canceled), await cancel(submitted), await cancel(canceled)]).toEqual([
      true,
      false,
      false,
    ])
    expect(await store.balance(accountId)).toBe(1)
    expect(await store.returnSettlement(returning(canceled.id))).toBe(false)
  })

  it('takes nothing for a claim that is canceled, as a statement that comes late', async () => {
    const accountId = await addAccount(store, 2)
    const claim = newClaim({ origin: 'settle' })
    await store.claimPayment({ claim, bootId: 'boot-1' })
    await store.cancelClaim({ id: claim.id, bootId: 'boot-1', reason: 'not_submitted', now: NOW })
    const take = { ...taking(nextHolder(), { allowance: 0, accountId }), claimId: claim.id }
    await expect(store.takeSettlement(take)).rejects.toMatchObject({ code: 'state_conflict' })
    expect(await store.balance(accountId)).toBe(2)
  })

  it('gives nothing back for a claim that took nothing', async () => {
    expect(await store.returnSettlement(returning('clm_none'))).toBe(false)
    const refused = taking(nextHolder(), { allowance: 0 })
    await store.takeSettlement(refused)
    expect(await store.returnSettlement(returning(refused.claimId))).toBe(false)
  })

  it('gives back to the month it was taken from', async () => {
    const holder = nextHolder()
    const old = taking(holder, { month: '2026-05', allowance: 1 })
    await store.takeSettlement(old)
    await store.takeSettlement(taking(holder, { month: '2026-06', allowance: 1 }))
    await store.returnSettlement(returning(old.claimId))
    expect(await store.takeSettlement(taking(holder, { month: '2026-06', allowance: 1 }))).toEqual({
      ok: false,
      balance: null,
      usedUp: holder,
    })
    expect(await store.takeSettlement(taking(holder, { month: '2026-05', allowance: 1 }))).toMatchObject({
      ok: true,
    })
  })

  it('leaves what an earlier, higher allowance took, and refuses more', async () => {
    const holder = nextHolder()
    const first = taking(holder, { allowance: 5 })
    await store.takeSettlement(first)
    await store.takeSettlement(taking(holder, { allowance: 5 }))
    expect(await store.takeSettlement(taking(holder, { allowance: 1 }))).toEqual({
      ok: false,
      balance: null,
      usedUp: holder,
    })
    expect(await store.takeSettlement({ ...first, allowances: [{ holder, allowance: 1 }] })).toEqual({
      ok: true,
      paidBy: 'allowance',
      left: 0,
    })
  })

  it('sweeps quotes five minutes after they end and months long gone, in pieces', async () => {
    await store.sweep(NOW)
    const quote = (expiresAt: number) => ({ id: newId('qte', NOW), jws: 'a.b.c', createdAt: NOW, expiresAt })
    const gone = times(1100, () => quote(NOW - 300_000))
    const kept = [quote(NOW - 299_999), quote(NOW + 300_000)]
    await Promise.all([...gone, ...kept, kept[0]!].map((each) => store.saveQuote(each)))
    const holder = nextHolder()
    for (const month of ['2025-12', '2026-03', '2026-04', '2026-05', '2026-06'])
      await store.takeSettlement(taking(holder, { month }))
    const doubtful = newClaim()
    await store.claimPayment({ claim: doubtful, bootId: 'boot-1' })
    await store.submitClaim(submission(doubtful.id, 'boot-1'))

    // 70 days before the first of June is in March.
    expect(await store.sweep(NOW)).toMatchObject({ quotes: 1100, settlements: 2, months: 2 })
    expect(await store.sweep(NOW)).toMatchObject({ quotes: 0, settlements: 0, months: 0 })
    const rows = await place.query('SELECT id, jws FROM quotes ORDER BY expires_at')
    expect(rows).toEqual(kept.map(({ id, jws }) => ({ id, jws })))
    const months = await place.query(
      `SELECT month FROM settlement_counters WHERE holder = '${holder}' ORDER BY month`,
    )
    expect(months.map((row) => row['month'])).toEqual(['2026-04', '2026-05', '2026-06'])
    expect(await store.getClaim(doubtful.id)).toBeDefined()
  })
})

it('in postgres is given back by whoever cancels its claim, also where it was not yet committed then', async () => {
  const place = await createPlace('postgres', 'late-take')
  try {
    const store = await place.open('boot-1')
    const accountId = await addAccount(store, 1)
    const claim = newClaim({ origin: 'settle' })
    await store.claimPayment({ claim, bootId: 'boot-1' })
    // Whoever holds the account's row keeps the transaction that takes of it from its end.
    const [client, watcher] = [1, 2].map(() => new pg.Client({ connectionString: place.config.databaseUrl }))
    await Promise.all([client!.connect(), watcher!.connect()])
    await client!.query(`BEGIN; SELECT 1 FROM accounts WHERE id = '${accountId}' FOR UPDATE`)
    const take = { ...taking(nextHolder(), { allowance: 0, accountId }), claimId: claim.id }
    const taken = store.takeSettlement(take)
    taken.catch(() => {})
    // Each waits for a tenth of a second at a time: so both were seen to wait, though perhaps never at once.
    const seen = new Set<unknown>()
    const waiting = (count: number) =>
      expect
        .poll(
          async () => {
            const { rows } = await watcher!.query(
              `SELECT query FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
            )
            for (const { query } of rows) seen.add(query)
            return seen.size
          },
          { timeout: 30_000, interval: 5 },
        )
        .toBe(count)
    await waiting(1)
    const canceled = store.cancelClaim({ id: claim.id, bootId: 'boot-1', reason: 'x', now: NOW })
    await waiting(2)
    await client!.query('COMMIT')
    await Promise.all([client!.end(), watcher!.end()])
    // Whoever is the first of them now: what comes after a cancelling takes nothing, and what came before it is given back.
    const words = taken.then(
      ({ ok }) => (ok ? 'taken' : 'refused'),
      (thrown: { detail?: string; message: string }) => thrown.detail ?? thrown.message,
    )
    expect(['taken', 'This payment was given back. Nothing was taken: send it again.']).toContain(await words)
    expect(await canceled).toBe(true)
    expect(await store.getClaim(claim.id)).toMatchObject({ state: 'canceled' })
    expect(await store.balance(accountId)).toBe(1)
    expect(await unbalancedAccounts(place)).toEqual([])
  } finally {
    await place.remove()
  }
})
