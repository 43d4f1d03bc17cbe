// A gateway that runs settles every minute what other processes left behind.
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { startHousekeeping } from '../../../src/app/housekeeping.ts'
import { createUpkeepWatch } from '../../../src/core/upkeep.ts'
import { createLogger } from '../../../src/lib/log.ts'
import type { Store } from '../../../src/store/ports.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

it('takes up the attempts, debits and payments of dead processes every minute, until it is stopped', async () => {
  const done: string[] = []
  const note = (what: string) => async () => void done.push(what)
  const upkeep = createUpkeepWatch({ now: Date.now })
  const stop = startHousekeeping(
    {
      log: createLogger('silent'),
      now: () => 0,
      store: { sweep: async () => (done.push('sweep'), {}) } as Partial<Store> as Store,
    },
    {
      audit: { settle: note('audit') },
      policies: { settle: note('policies') },
      egress: { recover: note('attempts') },
      debits: { recover: note('debits') },
      settlements: {
        reconcile: async () => (done.push('payments'), { looked: 0, settled: 0, failed: 0, open: 0 }),
      },
      refunds: { reconcile: note('refunds') },
      payouts: { keep: note('payouts') },
      figures: { begin: note('missed sales'), keep: note('figures') },
      email: { prepare: note('email'), settle: note('quota') },
      sellers: { round: () => void done.push('sellers'), settled: async () => {} },
      upkeep,
    },
  )
  expect(done).toEqual(['payments', 'refunds', 'payouts', 'missed sales', 'audit', 'policies', 'email'])
  await vi.advanceTimersByTimeAsync(60_000)
  expect(done.slice(7)).toEqual([
    'audit',
    'policies',
    'sweep',
    'attempts',
    'debits',
    'payments',
    'refunds',
    'payouts',
    'figures',
    'quota',
    'sellers',
  ])
  stop()
  await vi.advanceTimersByTimeAsync(120_000)
  expect(done).toHaveLength(18)
  expect(upkeep.list().map(({ name, runs, failed }) => [name, runs, failed])).toEqual([
    ['settlements', 2, null],
    ['audit', 2, null],
    ['policies', 2, null],
    ['email lists', 1, null],
    ['sweep', 1, null],
    ['attempts', 1, null],
    ['debits', 1, null],
    ['refunds', 1, null],
    ['email', 1, null],
  ])
})

it('notes the code of a part that failed, never its words, and lets the failure go on', async () => {
  const upkeep = createUpkeepWatch({ now: Date.now })
  const thrown = Object.assign(new Error('planted words of a driver'), { code: 'ECONNREFUSED' })
  await expect(upkeep.run('refunds', () => Promise.reject(thrown))).rejects.toBe(thrown)
  await upkeep.run('refunds', () => undefined)
  await expect(upkeep.run('refunds', () => Promise.reject(thrown))).rejects.toBe(thrown)
  expect(upkeep.list()).toMatchObject([{ name: 'refunds', runs: 3, failures: 2, failed: 'ECONNREFUSED' }])
  expect(JSON.stringify(upkeep.list())).not.toContain('planted')
})
