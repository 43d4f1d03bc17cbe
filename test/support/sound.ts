// Asserted after every test of a store.
import { expect } from 'vitest'
import { type Place, sumOfLedger, unbalancedAccounts } from './store.ts'
import { brokenActions } from './store-actions.ts'

/** Nothing contradicts itself and no credit was made or lost. */
export async function expectSound(place: Place): Promise<void> {
  expect(await brokenActions(place)).toEqual([])
  expect(await sumOfLedger(place)).toBe(0)
  expect(await unbalancedAccounts(place)).toEqual([])
}
