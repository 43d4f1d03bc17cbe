// Budgets, counted in the transaction that spends, held to the same behaviour on every engine.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { BudgetLimit, Capability, Store } from '../../src/store/ports.ts'
import {
  addAccount,
  addCapability,
  addCredential,
  addSetting,
  createPlace,
  ENGINES,
  newClaim,
  NOW,
  nextTransaction,
  type Place,
  reservation,
  settling,
  submission,
  times,
} from '../support/store.ts'
import { addGrant, addPermit, execution } from '../support/store-actions.ts'

const perHour = (max: number): BudgetLimit => ({ unit: 'calls', period: 'hour', max })
const HOUR = 3_600_000
type Setting = Awaited<ReturnType<typeof addSetting>>

describe.each(ENGINES)('budgets in %s', (engine) => {
  let place: Place
  let store: Store
  beforeAll(async () => {
    place = await createPlace(engine, 'budgets')
    store = await place.open('boot-1')
  })
  afterAll(() => place.remove())

  const use = (
    setting: Setting,
    capability: Pick<Capability, 'id'> = setting.capability,
    now = NOW,
    by = store,
  ) =>
    by.reserveAttempt({
      ...reservation({ ...setting, capability }, 'boot-1', { createdAt: now }),
      isBudgeted: true,
      now,
    })
  const used = async (holder: string, now = NOW) =>
    (await store.listBudgets([holder], now)).map((budget) => budget.used)
  /** Work of a process that is gone before it could end it. A file has one process; whoever opens it next knows that. */
  const die = async (work: (by: Store) => Promise<unknown>) => {
    const dying = engine === 'postgres' ? await place.open('boot-dead') : store
    await work(dying)
    if (dying !== store) await dying.close()
  }

  it('lets exactly one of 64 calls at once have the last unit, and names the budget to the others', async () => {
    const setting = await addSetting(store, 100, { capability: [perHour(10)] })
    for (let i = 0; i < 9; i++) expect(await use(setting)).toMatchObject({ ok: true })
    const results = await Promise.all(times(64, () => use(setting)))
    expect(results.filter(({ ok }) => ok)).toHaveLength(1)
    const budget = { ...perHour(10), holder: setting.capability.id, used: 10, startedAt: NOW }
    expect(results.filter(({ ok }) => !ok)).toEqual(
      Array.from({ length: 63 }, () => ({ ok: false, reason: 'budget', budget })),
    )
    expect(await store.balance(setting.accountId)).toBe(90)
    expect(await used(setting.capability.id)).toEqual([10])
  })

  it('gives five capabilities that were narrowed from one no more than that one has', async () => {
    const setting = await addSetting(store, 100, { capability: [perHour(7)] })
    const children = await Promise.all(
      times(5, () => addCapability(store, setting.credential, { parentId: setting.capability.id })),
    )
    for (const child of children) expect((await store.findCapability(child.tokenHash))?.isBudgeted).toBe(true)
    const results = await Promise.all(times(50, (i) => use(setting, children[i % 5])))
    expect(results.filter(({ ok }) => ok)).toHaveLength(7)
    const grandchild = await addCapability(store, setting.credential, { parentId: children[0]!.id }, [
      perHour(100),
    ])
    expect(await use(setting, grandchild)).toMatchObject({
      ok: false,
      budget: { holder: setting.capability.id },
    })
    // What is refused counts on no budget, and on no uses.
    expect(await used(grandchild.id)).toEqual([0])
  })

  it('is one budget for all capabilities of a credential, and for its permits', async () => {
    const grant = await addGrant(store, 100, {}, [{ unit: 'credits', period: 'day', max: 3 }])
    const { accountId, credentialId } = grant
    const credential = await store.getCredential(credentialId, accountId)
    expect(credential?.isBudgeted).toBe(true)
    const setting = {
      accountId,
      credential: credential!,
      capability: await addCapability(store, credential!),
    }
    const other = await addCapability(store, credential!)
    expect(await use(setting)).toMatchObject({ ok: true })
    expect(await use(setting, other)).toMatchObject({ ok: true })
    const execute = async () =>
      store.reserveAction({ ...execution(await addPermit(store, grant)), isBudgeted: true })
    expect(await execute()).toMatchObject({ ok: true })
    expect(await execute()).toMatchObject({
      ok: false,
      reason: 'budget',
      budget: { holder: credentialId, used: 3 },
    })
    expect(await use(setting)).toMatchObject({
      ok: false,
      reason: 'budget',
      budget: { unit: 'credits', period: 'day' },
    })
  })

  it('is whole again when the next period begins, and names of several the one that frees last', async () => {
    const budgets: BudgetLimit[] = [
      perHour(1),
      { ...perHour(2), period: 'day' },
      { ...perHour(3), period: 'month' },
    ]
    const setting = await addSetting(store, 100)
    const longLived = { expiresAt: NOW + 50 * 24 * HOUR }
    const capability = await addCapability(store, setting.credential, longLived, budgets)
    const at = async (now: number) => {
      const result = await use(setting, capability, now)
      return result.ok ? 'ok' : result.reason === 'budget' ? result.budget.period : result.reason
    }
    expect([await at(NOW), await at(NOW + HOUR - 1), await at(NOW + HOUR)]).toEqual(['ok', 'hour', 'ok'])
    expect([await at(NOW + HOUR), await at(NOW + 2 * HOUR)]).toEqual(['day', 'day'])
    expect([await at(NOW + 24 * HOUR), await at(NOW + 48 * HOUR)]).toEqual(['ok', 'month'])
    expect(await at(Date.UTC(2026, 6, 1))).toBe('ok')
    expect(await store.listBudgets([capability.id], Date.UTC(2026, 6, 1))).toMatchObject([
      { period: 'day', used: 1 },
      { period: 'hour', used: 1 },
      { period: 'month', used: 1 },
    ])
  })

  it('counts a replica whose clock is behind on the period that has begun', async () => {
    const setting = await addSetting(store, 100, { capability: [perHour(2)] })
    expect(await use(setting)).toMatchObject({ ok: true })
    expect(await use(setting, undefined, NOW - 1)).toMatchObject({ ok: true })
    expect(await use(setting)).toMatchObject({ ok: false, reason: 'budget' })
    expect(await used(setting.capability.id)).toEqual([2])
  })

  it('gets back what a refund says was not spent, in its own period only, also when a crash leaves it', async () => {
    const made = await addSetting(store, 100, { credential: [perHour(5)] })
    const capability = await addCapability(store, made.credential, { expiresAt: NOW + 2 * HOUR }, [
      perHour(5),
      { unit: 'credits', period: 'day', max: 5 },
    ])
    const setting = { ...made, capability }
    const { id } = setting.capability
    const reserve = async (now: number, bootId = 'boot-1', by = store) => {
      const input = { ...reservation(setting, bootId, { createdAt: now }), isBudgeted: true, now }
      expect(await by.reserveAttempt(input)).toMatchObject({ ok: true })
      return input.attempt.id
    }
    const refund = (attempt: string) =>
      store.refundAttempt({
        id: attempt,
        bootId: 'boot-1',
        outcome: 'x',
        transactionId: nextTransaction(),
        now: NOW + HOUR,
      })
    const early = await reserve(NOW)
    await refund(await reserve(NOW))
    expect([await used(id), await used(setting.credential.id)]).toEqual([[1, 1], [1]])
    await reserve(NOW + HOUR)
    await refund(early)
    // The hour of the early one is over: its budget is not touched; the day goes on.
    expect(await used(id, NOW + HOUR)).toEqual([1, 1])

    await die((by) => reserve(NOW + HOUR, 'boot-dead', by))
    expect(await used(id, NOW + HOUR)).toEqual([2, 2])
    expect(await store.recoverAttempts({ bootId: 'boot-1', now: NOW + HOUR })).toMatchObject({
      refunded: [{ id: expect.any(String) }],
    })
    expect(await used(id, NOW + HOUR)).toEqual([1, 1])
    expect(await used(setting.credential.id, NOW + HOUR)).toEqual([1])
    expect(await store.recoverAttempts({ bootId: 'boot-1', now: NOW + HOUR })).toMatchObject({ refunded: [] })
    expect(await used(id, NOW + HOUR)).toEqual([1, 1])
  })

  it('counts credits that an agent has taken by a call of its own, until they are given back', async () => {
    const credits = (max: number): BudgetLimit => ({ unit: 'credits', period: 'day', max })
    const setting = await addSetting(store, 100, { credential: [credits(9)], capability: [credits(5)] })
    const { accountId, credential } = setting
    const capability = await addCapability(store, credential, { expiresAt: NOW + HOUR }, [
      credits(5),
      perHour(1),
    ])
    const take = async (amount: number, by = store, bootId = 'boot-1') => {
      const transactionId = nextTransaction()
      const debit = { accountId, amount, transactionId, bootId, reference: 'r', now: NOW }
      return { transactionId, ...(await by.debitCredits({ ...debit, capabilityId: capability.id })) }
    }
    // In the order of the table: calls, then credits.
    const now = async () => [await used(capability.id), await used(credential.id)]
    const first = await take(2)
    expect(first).toMatchObject({ ok: true, balance: 98 })
    expect(await now()).toEqual([[0, 2], [2]])
    const results = await Promise.all(times(8, () => take(3)))
    expect(results.filter(({ ok }) => ok)).toHaveLength(1)
    expect(results.find(({ ok }) => !ok)).toMatchObject({
      balance: expect.any(Number),
      budget: { holder: capability.id, unit: 'credits', used: 5, max: 5 },
    })
    expect(await store.balance(accountId)).toBe(95)

    const refund = { transactionId: first.transactionId, now: NOW + 60_000 }
    await Promise.all(times(5, () => store.refundCredits(refund)))
    expect(await now()).toEqual([[0, 3], [3]])
    await die((by) => take(2, by, 'boot-dead'))
    expect(await now()).toEqual([[0, 5], [5]])
    expect(await store.recoverDebits({ bootId: 'boot-1', now: NOW })).toEqual({ refunded: 1 })
    expect(await now()).toEqual([[0, 3], [3]])
    expect(await store.balance(accountId)).toBe(97)
  })

  it('asks no budget for what an operator has taken', async () => {
    const { accountId, credential } = await addSetting(store, 9, {
      credential: [{ unit: 'credits', period: 'day', max: 1 }],
    })
    const transactionId = nextTransaction()
    const debit = { accountId, amount: 5, transactionId, bootId: 'boot-1', reference: 'r', now: NOW }
    expect(await store.debitCredits(debit)).toEqual({ ok: true, balance: 4 })
    expect(await used(credential.id)).toEqual([0])
  })

  it('counts what an agent pays in USDC until it is clear that it was not paid, once of many at the same moment', async () => {
    const root = await addSetting(store, 1, {
      capability: [{ unit: 'usdc', period: 'month', max: 10_000 }],
      credential: [{ unit: 'usdc', period: 'day', max: 30_000 }],
    })
    const child = await addCapability(store, root.credential, { parentId: root.capability.id })
    const pay = (amount: string, over = {}) => {
      const claim = newClaim({ amount, createdAt: NOW, ...over })
      return store.claimPayment({ claim, bootId: 'boot-1', capabilityId: child.id })
    }
    const usdc = async () => [await used(root.capability.id), await used(root.credential.id)].flat()
    const first = await pay('4000')
    expect(first.ok).toBe(true)
    expect(await usdc()).toEqual([4000, 4000])
    const results = await Promise.all(times(8, () => pay('6000')))
    expect(results.filter(({ ok }) => ok)).toHaveLength(1)
    expect(results.find(({ ok }) => !ok)).toMatchObject({
      reason: 'budget',
      budget: { holder: root.capability.id, unit: 'usdc', used: 10_000 },
    })
    const won = results.find(({ ok }) => ok)!.claim!

    // Given back by whoever calls the work off; what is refused leaves no claim behind.
    await store.cancelClaim({ id: won.id, bootId: 'boot-1', reason: 'x', now: NOW })
    await store.cancelClaim({ id: won.id, bootId: 'boot-1', reason: 'x', now: NOW })
    expect(await usdc()).toEqual([4000, 4000])
    const again = await pay('6000')
    await store.submitClaim(submission(again.claim!.id, 'boot-1'))
    const failed = { id: again.claim!.id, reason: 'reverted', transaction: null, now: NOW }
    await store.moveClaim({ ...failed, to: 'unknown' })
    expect(await usdc()).toEqual([10_000, 10_000])
    await store.moveClaim({ ...failed, to: 'failed' })
    expect(await usdc()).toEqual([4000, 4000])
    await store.submitClaim(submission(first.claim!.id, 'boot-1'))
    await store.settleClaim(settling(first.claim!.id))
    expect(await usdc()).toEqual([4000, 4000])
    const stranger = newClaim({ amount: '9000000', createdAt: NOW })
    expect((await store.claimPayment({ claim: stranger, bootId: 'boot-1' })).ok).toBe(true)
  })

  const fail = (id: string, isWatched = false) =>
    store.moveClaim({ id, to: 'failed', reason: 'expired', transaction: null, isWatched, now: NOW })
  /** Settles a payment that its chain takes back. @returns what settles it again */
  const lose = async (id: string) => {
    const { receipt, transaction } = settling(id)
    await store.settleClaim({ ...settling(id), receipt, transaction })
    const was = { id, receiptId: receipt.id, now: NOW }
    expect(await store.reopenClaim(was)).toMatchObject({ state: 'pending' })
    return { ...was, receipt: null, transaction, block: undefined }
  }
  const close = (id: string) => store.closeClaim({ id, reason: 'in no block', closedBy: 'key_1', now: NOW })
  const reverse = (id: string) => store.reverseClaim({ id, reason: 'expired', now: NOW })

  it.each<[string, (id: string) => Promise<unknown>, (id: string) => Promise<unknown>]>([
    [
      'that failed, when its authorization is used up',
      (id) => fail(id, true),
      (id) => store.endWatch(id, NOW),
    ],
    ['that its chain took back, when it never comes', lose, reverse],
    ['that its chain took back, when an operator closes it', lose, close],
  ])('give back what an agent paid %s, once', async (_name, doubt, end) => {
    const { accountId, credential, capability } = await addSetting(store, 1, {
      capability: [{ unit: 'usdc', period: 'month', max: 10_000 }],
      credential: [{ unit: 'usdc', period: 'day', max: 10_000 }],
    })
    const usdc = async () => [await used(capability.id), await used(credential.id)].flat()
    const pay = async () => {
      const claim = newClaim({ amount: '4000', purchase: { accountId, credits: 7 } })
      await store.claimPayment({ claim, bootId: 'boot-1', capabilityId: capability.id })
      await store.submitClaim(submission(claim.id, 'boot-1'))
      return claim.id
    }
    await store.settleClaim(settling(await pay()))
    const id = await pay()
    await doubt(id)
    expect(await usdc()).toEqual([8000, 8000])
    await Promise.all([end(id), end(id)])
    for (const again of [end, (failedId: string) => fail(failedId), close, reverse, end]) await again(id)
    expect(await store.getClaim(id)).toMatchObject({ state: 'failed', finishedAt: NOW })
    expect(await usdc()).toEqual([4000, 4000])
  })

  it.each<[string, (id: string) => Promise<unknown>]>([
    ['after it had failed', (id) => fail(id, true).then(() => store.settleClaim(settling(id)))],
    ['again by its chain', (id) => lose(id).then((was) => store.resettleClaim(was))],
  ])('keep what an agent paid that is settled %s', async (_name, settle) => {
    const { capability } = await addSetting(store, 1, {
      capability: [{ unit: 'usdc', period: 'month', max: 10_000 }],
    })
    const claim = newClaim({ amount: '4000' })
    await store.claimPayment({ claim, bootId: 'boot-1', capabilityId: capability.id })
    await store.submitClaim(submission(claim.id, 'boot-1'))
    expect(await settle(claim.id)).toMatchObject({ state: 'settled' })
    for (const end of [(id: string) => store.endWatch(id, NOW), (id: string) => fail(id), close, reverse])
      await end(claim.id)
    expect(await used(capability.id)).toEqual([4000])
  })

  it('takes nothing where the account cannot pay', async () => {
    const setting = await addSetting(store, 1, { capability: [perHour(5)] })
    expect(await use(setting)).toMatchObject({ ok: true })
    expect(await use(setting)).toEqual({ ok: false, reason: 'credits', balance: 0 })
    expect(await used(setting.capability.id)).toEqual([1])
  })

  it('forgets the budgets of a capability with its row', async () => {
    const setting = await addSetting(store, 1, { capability: [perHour(5)] })
    await store.sweep(NOW + 40 * 24 * HOUR)
    expect(await store.listBudgets([setting.capability.id], NOW)).toEqual([])
  })
})

describe('two processes on one PostgreSQL database', () => {
  it('share a budget: of 120 calls through both, those that it has room for go out', async () => {
    const place = await createPlace('postgres', 'budgets-shared')
    try {
      const [a, b] = [await place.open('boot-a'), await place.open('boot-b')]
      const accountId = await addAccount(a, 1000)
      const credential = await addCredential(a, accountId, [{ unit: 'calls', period: 'month', max: 41 }])
      const capabilities = [await addCapability(a, credential), await addCapability(b, credential)]
      const results = await Promise.all(
        times(120, (i) =>
          (i % 2 ? a : b).reserveAttempt({
            ...reservation(
              { accountId, credential, capability: capabilities[i % 2]! },
              i % 2 ? 'boot-a' : 'boot-b',
            ),
            isBudgeted: true,
          }),
        ),
      )
      expect(results.filter(({ ok }) => ok)).toHaveLength(41)
    } finally {
      await place.remove()
    }
  })
})
