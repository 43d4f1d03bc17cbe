import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createDebits } from '../../../src/core/debits.ts'
import { GatewayError } from '../../../src/core/errors.ts'
import type { FaultKind } from '../../../src/core/faults.ts'
import { noFault } from '../../../src/lib/fault-points.ts'
import { signCallReceipt } from '../../support/no-gate.ts'
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

it('gives back what a store takes only after it was first asked', async () => {
  const accountId = await seedAccount(temp.store, 10)
  const { store } = temp
  let takeLate = async () => {}
  const asked: boolean[] = []
  const debits = createDebits({
    store: {
      ...store,
      async debitCredits(input) {
        takeLate = async () => void (await store.debitCredits(input))
        throw new GatewayError('store_unavailable', 'The statement waits for a row.')
      },
      async refundCredits(input) {
        const refunded = await store.refundCredits(input)
        asked.push(refunded.ok)
        return refunded
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
  await expect.poll(() => asked).toEqual([false])
  await takeLate()
  expect(await store.balance(accountId)).toBe(8)
  await debits.recover()
  expect(await store.balance(accountId)).toBe(10)

  // One that never comes is believed to be none in the end.
  asked.length = 0
  await expect(debits.take({ accountId, credits: 2, reference: 'call' })).rejects.toThrow()
  await vi.advanceTimersByTimeAsync(60_000)
  await expect.poll(() => asked).toEqual([false])
  for (let i = 0; i < 9; i++) await debits.recover()
  expect(asked).toEqual([false, false, false, false])
})
