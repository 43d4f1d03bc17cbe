// A gateway that runs settles every minute what other processes left behind.
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { startHousekeeping } from '../../../src/app/housekeeping.ts'
import type { FaultKind } from '../../../src/core/faults.ts'
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
  const money = ['attempts', 'debits', 'payments', 'refunds', 'payouts', 'figures']
  const round = done.slice(7)
  expect(round.filter((part) => money.includes(part))).toEqual(money)
  expect(round.filter((part) => !money.includes(part))).toEqual([
    'audit',
    'policies',
    'sweep',
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
    ['attempts', 1, null],
    ['debits', 1, null],
    ['sweep', 1, null],
    ['refunds', 1, null],
    ['email', 1, null],
  ])
})

it('gives money back, and does all the rest, whichever of its parts fail or do not end', async () => {
  const done: string[] = []
  const failing = (what: string) => async () => {
    done.push(what)
    throw new Error(`${what} failed`)
  }
  const upkeep = createUpkeepWatch({ now: Date.now })
  const logged: unknown[] = []
  const faults: FaultKind[] = []
  const log = { ...createLogger('silent'), error: (fields: unknown) => void logged.push(fields) }
  const stop = startHousekeeping(
    {
      log: log as ReturnType<typeof createLogger>,
      now: () => 0,
      store: { sweep: failing('sweep') } as Partial<Store> as Store,
      onFault: (kind) => void faults.push(kind),
    },
    {
      audit: { settle: failing('audit') },
      policies: { settle: failing('policies') },
      egress: { recover: failing('attempts') },
      debits: { recover: failing('debits') },
      settlements: { reconcile: failing('payments') },
      refunds: { reconcile: async () => void done.push('refunds') },
      payouts: { keep: async () => void done.push('payouts') },
      figures: { begin: async () => {}, keep: async () => void done.push('figures') },
      email: { prepare: failing('email'), settle: failing('quota') },
      sellers: { round: () => void done.push('sellers'), settled: async () => {} },
      upkeep,
    },
  )
  await vi.advanceTimersByTimeAsync(0)
  done.length = 0
  logged.length = 0
  faults.length = 0
  await vi.advanceTimersByTimeAsync(60_000)
  stop()
  expect(done.toSorted()).toEqual(
    ['attempts', 'debits', 'payments', 'refunds', 'payouts', 'figures']
      .concat(['audit', 'policies', 'sweep', 'quota', 'sellers'])
      .toSorted(),
  )
  // Each failure by itself.
  expect(logged).toHaveLength(7)
  expect(faults).toEqual(Array(7).fill('upkeep_failed'))
})

it('gives money back while the sweep does not end', async () => {
  const done: string[] = []
  const note = (what: string) => async () => void done.push(what)
  const stop = startHousekeeping(
    {
      log: createLogger('silent'),
      now: () => 0,
      store: { sweep: () => new Promise(() => {}) } as Partial<Store> as Store,
    },
    {
      audit: { settle: () => new Promise(() => {}) },
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
      upkeep: createUpkeepWatch({ now: Date.now }),
    },
  )
  done.length = 0
  await vi.advanceTimersByTimeAsync(60_000)
  stop()
  expect(done).toEqual(expect.arrayContaining(['attempts', 'debits', 'payments', 'refunds', 'payouts']))
})

it('signs the audit log in no second round beside one that takes longer than a minute, and does the rest', async () => {
  const done: string[] = []
  const note = (what: string) => async () => void done.push(what)
  const signed = Promise.withResolvers<void>()
  const stop = startHousekeeping(
    {
      log: createLogger('silent'),
      now: () => 0,
      store: { sweep: async () => (done.push('sweep'), {}) } as Partial<Store> as Store,
    },
    {
      audit: { settle: () => (done.push('audit'), signed.promise) },
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
      upkeep: createUpkeepWatch({ now: Date.now }),
    },
  )
  const times = (part: string) => done.filter((name) => name === part).length
  await vi.advanceTimersByTimeAsync(180_000)
  expect([times('audit'), times('sweep')]).toEqual([1, 3])
  signed.resolve()
  await vi.advanceTimersByTimeAsync(60_000)
  stop()
  expect([times('audit'), times('sweep')]).toEqual([2, 4])
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
