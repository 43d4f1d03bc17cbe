import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { marketSettingsDocument } from '../../../src/market/settings.ts'

it('fills what an operator leaves out with the defaults, inside of a part too', () => {
  expect(marketSettingsDocument.parse({ fee: { bps: 500 }, payouts: { schedule: 'manual' } })).toMatchObject({
    fee: { bps: 500, fixed_atomic: 0, minimum_atomic: 0 },
    approval: 'first',
    payouts: { minimum_atomic: 1_000_000, schedule: 'manual', hour: 3 },
    fee_returned_on_refund: true,
  })
  expect(marketSettingsDocument.parse({})).toEqual(marketSettingsDocument.initial)
})

it.each([
  ['a fee above the price', { fee: { bps: 10_001 } }],
  ['a part of an atomic unit', { fee: { fixed_atomic: 0.5 } }],
  ['a negative minimum', { payouts: { minimum_atomic: -1 } }],
  ['a word that is none', { approval: 'maybe' }],
  ['a member that is none', { fees: {} }],
])('refuses %s', (_, document) => {
  expect(() => marketSettingsDocument.parse(document)).toThrow()
})

it('are shown in the guide as the defaults are', () => {
  const shown = readFileSync(new URL('../../../examples/policies/market.json', import.meta.url), 'utf8')
  expect(marketSettingsDocument.parse(JSON.parse(shown))).toEqual(marketSettingsDocument.initial)
})
