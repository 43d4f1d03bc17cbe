import { getHeapSpaceStatistics } from 'node:v8'
import { expect, it } from 'vitest'
import { createCreditCharge } from '../../../src/core/credit-charge.ts'

const price = { kind: 'credits', credits: 1, taken: 'attempt' } as const

/** Bytes of what outlived two collections of the young generation. */
const oldBytes = () =>
  getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space')?.space_used_size ?? Number.NaN

it('leaves nothing of a call behind once that has ended', () => {
  const held = () => {
    const before = oldBytes()
    for (let i = 0; i < 30_000; i++) {
      const ofCall = Array.from({ length: 100 }, () => i)
      const charge = createCreditCharge(price, () => void ofCall.length)
      charge.taken(1, 'att_1')
      expect(charge.findMissing()).toBeUndefined()
    }
    return oldBytes() - before
  }
  held()
  expect(held()).toBeLessThan(5_000_000)
})
