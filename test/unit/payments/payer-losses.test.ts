// Payers whose payments could not be settled by their own doing: how many may be open, and for how long none.
import { expect, it } from 'vitest'
import { createPayerLosses } from '../../../src/payments/payer-losses.ts'

const MINUTE = 60_000
const PAYER = { network: 'eip155:8453', payer: '0xaa' }

function open() {
  const clock = { at: 1_000_000 }
  return { clock, ...createPayerLosses(() => clock.at, 128) }
}

it('a payer that nothing is known of has no bound of its own', () => {
  expect(open().most(PAYER, 128)).toBeUndefined()
})

it('a single loss has no consequence, nor has one that comes long after it', () => {
  const { lost, most, clock } = open()
  lost(PAYER)
  expect(most(PAYER, 128)).toBeUndefined()
  clock.at += 10 * MINUTE
  lost(PAYER)
  expect(most(PAYER, 128)).toBeUndefined()
  clock.at += 10 * MINUTE - 1
  lost(PAYER)
  expect(most(PAYER, 128)).not.toBeUndefined()
})

it('each further one halves what may be worked on, and each payment that settles doubles it', () => {
  const { lost, paid, most, clock } = open()
  function lose() {
    lost(PAYER)
    clock.at += 5 * MINUTE
    return most(PAYER, 128)
  }
  function settle() {
    paid(PAYER)
    return most(PAYER, 128)
  }
  expect(Array.from({ length: 10 }, lose)).toEqual([undefined, 64, 32, 16, 8, 4, 2, 1, 1, 1])
  expect(most(PAYER, 8)).toBe(1)
  expect(Array.from({ length: 7 }, settle)).toEqual([2, 4, 8, 16, 32, 64, undefined])
  // It has not become one that nothing is known of.
  expect(lose()).toBe(64)
  expect(most(PAYER, 8)).toBe(4)
})

it('a burst that was lost is not to be had again for one payment', () => {
  const { lost, paid, most, clock } = open()
  for (let i = 0; i < 128; i++) lost(PAYER)
  expect(most(PAYER, 128)).toBe(0)
  clock.at += MINUTE
  paid(PAYER)
  expect(most(PAYER, 128)).toBe(2)
})

it('after an hour without a loss all is forgotten', () => {
  const { lost, most, clock } = open()
  for (let i = 0; i < 9; i++) lost(PAYER)
  clock.at += 60 * MINUTE - 1
  expect(most(PAYER, 128)).toBe(1)
  clock.at += 1
  expect(most(PAYER, 128)).toBeUndefined()
  lost(PAYER)
  expect(most(PAYER, 128)).toBeUndefined()
})

it('after three in a row none, for longer with each that follows', () => {
  const { lost, most, clock } = open()
  for (const expected of [undefined, 64, 0]) {
    lost(PAYER)
    expect(most(PAYER, 128)).toBe(expected)
  }
  clock.at += 4_999
  expect(most(PAYER, 128)).toBe(0)
  clock.at += 1
  expect(most(PAYER, 128)).toBe(32)
  lost(PAYER)
  clock.at += 9_999
  expect(most(PAYER, 128)).toBe(0)
})

it('another payer, and another network, are not meant', () => {
  const { lost, most } = open()
  for (let i = 0; i < 3; i++) lost(PAYER)
  expect([most({ ...PAYER, payer: '0xbb' }, 128), most({ ...PAYER, network: 'eip155:1' }, 128)]).toEqual([
    undefined,
    undefined,
  ])
})

it('a payer that nobody names is remembered by nothing', () => {
  const { lost, most } = open()
  for (let i = 0; i < 3; i++) lost({ ...PAYER, payer: '' })
  expect(most({ ...PAYER, payer: '' }, 128)).toBeUndefined()
})

it('forgets the oldest of very many', () => {
  const { lost, most } = open()
  function loseTwice(i: number) {
    for (let turn = 0; turn < 2; turn++) lost({ ...PAYER, payer: `0x${i}` })
  }
  for (let i = 0; i < 10_000; i++) loseTwice(i)
  // The newest is who lost last, not who was seen last for the first time.
  loseTwice(0)
  loseTwice(10_000)
  expect([0, 1, 2].map((i) => most({ ...PAYER, payer: `0x${i}` }, 128))).toEqual([0, undefined, 64])
})
