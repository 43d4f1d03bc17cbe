// Payers whose payments could not be settled by their own doing: how many may be open, and for how long none.
import { expect, it } from 'vitest'
import { createPayerLosses } from '../../../src/payments/payer-losses.ts'

const PAYER = { network: 'eip155:8453', payer: '0xaa' }

function open() {
  const clock = { at: 1_000_000 }
  return { clock, ...createPayerLosses(() => clock.at) }
}

it('a payer that nothing is known of has no bound of its own', () => {
  expect(open().most(PAYER)).toBeUndefined()
})

it('after a loss one payment may be open, until one is settled', () => {
  const { lost, paid, most, clock } = open()
  lost(PAYER)
  clock.at += 24 * 3_600_000
  expect(most(PAYER)).toBe(1)
  paid(PAYER)
  expect(most(PAYER)).toBeUndefined()
})

it('after three in a row none, for longer with each that follows', () => {
  const { lost, most, clock } = open()
  for (const expected of [1, 1, 0]) {
    lost(PAYER)
    expect(most(PAYER)).toBe(expected)
  }
  clock.at += 4_999
  expect(most(PAYER)).toBe(0)
  clock.at += 1
  expect(most(PAYER)).toBe(1)
  lost(PAYER)
  clock.at += 9_999
  expect(most(PAYER)).toBe(0)
})

it('another payer, and another network, are not meant', () => {
  const { lost, most } = open()
  lost(PAYER)
  expect([most({ ...PAYER, payer: '0xbb' }), most({ ...PAYER, network: 'eip155:1' })]).toEqual([
    undefined,
    undefined,
  ])
})

it('a payer that nobody names is remembered by nothing', () => {
  const { lost, most } = open()
  lost({ ...PAYER, payer: '' })
  expect(most({ ...PAYER, payer: '' })).toBeUndefined()
})

it('forgets the oldest of very many', () => {
  const { lost, most } = open()
  for (let i = 0; i <= 10_000; i++) lost({ ...PAYER, payer: `0x${i}` })
  expect([most({ ...PAYER, payer: '0x0' }), most({ ...PAYER, payer: '0x1' })]).toEqual([undefined, 1])
})
