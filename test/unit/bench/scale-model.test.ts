// The queue of the scale benchmark's model, against what is known in closed form.
import { expect, it } from 'vitest'
import { demandOf, meanWait, shareThatWaits } from '../../../bench/scale-model.ts'

it('is that of one server where there is one', () => {
  for (const load of [0.1, 0.5, 0.9]) {
    expect(shareThatWaits(1, load)).toBeCloseTo(load, 10)
    expect(meanWait(1, load, 2)).toBeCloseTo((2 * load) / (1 - load), 10)
  }
})

it('is that of two servers, and stays a number with a thousand', () => {
  // C(2, a) = a² / (2 + a)
  expect(shareThatWaits(2, 1)).toBeCloseTo(1 / 3, 10)
  expect(shareThatWaits(1000, 700)).toBeLessThan(1e-9)
  expect(shareThatWaits(1000, 990)).toBeGreaterThan(0.5)
})

it('asks a hundred times as much of the database for a hundred times the replicas', () => {
  const costs = { gatewayMs: 1, databaseMs: 0.5, walBytes: 2000, commits: 0.1, rows: 4 }
  const [one, hundred] = [demandOf(1, costs), demandOf(100, costs)]
  expect(one).toMatchObject({ perSecond: 700, cores: 1, rowsPerDay: 700 * 4 * 86_400 })
  expect(hundred.perSecond).toBe(70_000)
  expect(hundred.cores).toBe(50)
  expect(hundred.walMbPerSecond).toBeCloseTo(140, 6)
  expect(hundred.commitsPerSecond).toBeCloseTo(7000, 6)
})
