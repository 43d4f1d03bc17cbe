import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Config } from '../../../src/core/config.ts'
import { createDebits, type Debit, type Debits } from '../../../src/core/debits.ts'
import { GatewayError } from '../../../src/core/errors.ts'
import type { FaultKind } from '../../../src/core/faults.ts'
import { noFault } from '../../../src/lib/fault-points.ts'
import { newId } from '../../../src/lib/ids.ts'
import type { Store } from '../../../src/store/ports.ts'
import { signCallReceipt } from '../../support/no-gate.ts'
import { refusing, runRaw } from '../../support/raw-sql.ts'
import { seedAccount } from '../../support/seed.ts'
import { log } from '../../support/store.ts'
import { openTempStore, type TempStore } from '../../support/temp-store.ts'

let temp: TempStore
beforeEach(async () => {
  temp = await openTempStore()
  vi.useFakeTimers({ toFake: ['setTimeout'] })
})
afterEach(async () => {
  vi.useRealTimers()
  await temp.close()
})

it('gives back what a store took that was away for longer than it is asked again at once', async () => {
  const accountId = await seedAccount(temp.store, 10)
  let isAway = true
  const faults: FaultKind[] = []
  const gone = () => new GatewayError('store_unavailable', 'The connection was lost.')
  const debits = createDebits({
    store: {
      ...temp.store,
      async debitCredits(input) {
        await temp.store.debitCredits(input)
        throw gone()
      },
      async refundCredits(input) {
        if (isAway) throw gone()
        return temp.store.refundCredits(input)
      },
      async listOpenDebits(input) {
        if (isAway) throw gone()
        return temp.store.listOpenDebits(input)
      },
    },
    sign: signCallReceipt,
    budgetSpent: gone,
    bootId: 'boot',
    fault: noFault,
    log,
    now: Date.now,
    onFault: (kind) => void faults.push(kind),
  })
  await expect(debits.take({ accountId, credits: 2, reference: 'call' })).rejects.toThrow()
  await vi.advanceTimersByTimeAsync(35_000)
  expect(faults).toEqual([])
  await vi.advanceTimersByTimeAsync(25_000)
  await expect.poll(() => faults).toEqual(['credits_kept'])
  await expect(debits.recover()).rejects.toThrow()
  expect(await temp.store.balance(accountId)).toBe(8)
  isAway = false
  await debits.recover()
  await debits.recover()
  expect(await temp.store.balance(accountId)).toBe(10)
})

it('gives back what a store takes only after it was looked for, however often and long before', async () => {
  const accountId = await seedAccount(temp.store, 10)
  const { store } = temp
  let takeLate = async () => {}
  let looks = 0
  const debits = createDebits({
    store: {
      ...store,
      async debitCredits(input) {
        takeLate = async () => void (await store.debitCredits(input))
        throw new GatewayError('store_unavailable', 'The statement waits for a row.')
      },
      listOpenDebits(input) {
        looks++
        return store.listOpenDebits(input)
      },
    },
    sign: signCallReceipt,
    budgetSpent: () => new GatewayError('budget_spent', 'Spent.'),
    bootId: 'boot',
    fault: noFault,
    log,
    now: Date.now,
  })
  await expect(debits.take({ accountId, credits: 2, reference: 'call' })).rejects.toThrow()
  await vi.advanceTimersByTimeAsync(60_000)
  await expect.poll(() => looks).toBe(1)
  for (let round = 0; round < 20; round++) await debits.recover()
  await takeLate()
  expect(await store.balance(accountId)).toBe(8)
  await debits.recover()
  expect(await store.balance(accountId)).toBe(10)
})

const onStore = (store: Store) =>
  createDebits({
    store,
    sign: signCallReceipt,
    budgetSpent: () => new GatewayError('budget_spent', 'Spent.'),
    bootId: 'boot',
    fault: noFault,
    log,
    now: Date.now,
  })
async function took(debits: Debits, accountId: string): Promise<Debit> {
  const taken = await debits.take({ accountId, credits: 2, reference: 'call' })
  if (!taken.ok) throw new Error('the account has the credits')
  return taken.debit
}

it('leaves what a call goes on with alone, however long it goes on', async () => {
  const accountId = await seedAccount(temp.store, 10)
  const debits = onStore(temp.store)
  const debit = await took(debits, accountId)
  for (let round = 0; round < 20; round++) await debits.recover()
  expect(await temp.store.balance(accountId)).toBe(8)
  await debits.settle(debit, { tool: 'gateway.tool', requestDigest: 'd', resultSha256: 'r' })
  await debits.recover()
  expect(await temp.store.balance(accountId)).toBe(8)
})

it('gives back what dead processes left, but for what the store refuses, which it tries again', async () => {
  const [full, poor] = [await seedAccount(temp.store, 10), await seedAccount(temp.store, 10)]
  const faults: FaultKind[] = []
  for (const accountId of [full, poor])
    await temp.store.debitCredits({
      accountId,
      amount: 2,
      transactionId: newId('txn'),
      bootId: 'dead',
      reference: 'call',
      now: Date.now(),
    })
  await runRaw({ config: { dataDir: temp.directory } as Config }, refusing(full))
  const debits = createDebits({
    store: temp.store,
    sign: signCallReceipt,
    budgetSpent: () => new GatewayError('budget_spent', 'Spent.'),
    bootId: 'boot',
    fault: noFault,
    log,
    now: Date.now,
    onFault: (kind) => void faults.push(kind),
  })
  await debits.recover()
  expect(await temp.store.balance(poor)).toBe(10)
  expect(await temp.store.balance(full)).toBe(8)
  expect(faults).toEqual(['credits_kept'])
  await runRaw({ config: { dataDir: temp.directory } as Config }, 'DROP TRIGGER refusing')
  await debits.recover()
  expect(await temp.store.balance(full)).toBe(10)
})
