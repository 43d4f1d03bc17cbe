import { setImmediate as turn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createBatcher } from '../../../src/lib/batcher.ts'

function start(maxMs: number) {
  const groups: number[] = []
  let come = 0
  let at = 0
  const batcher = createBatcher({
    count: () => come,
    maxMs,
    now: () => at++,
    flush() {
      groups.push(come)
      come = 0
    },
  })
  return {
    groups,
    add() {
      come++
      batcher.add()
    },
  }
}

it('sends one that is alone after the turn in which nobody else came', async () => {
  const { groups, add } = start(1000)
  add()
  expect(groups).toEqual([])
  await turn()
  await turn()
  expect(groups).toEqual([1])
})

it('waits for the rest while every turn brings more', async () => {
  const { groups, add } = start(1000)
  for (let i = 0; i < 5; i++) {
    add()
    add()
    await turn()
  }
  expect(groups).toEqual([])
  await turn()
  await turn()
  expect(groups).toEqual([10])
})

it('does not wait longer than it was told, however many come', async () => {
  const { groups, add } = start(2)
  for (let i = 0; i < 5; i++) {
    add()
    await turn()
  }
  await turn()
  expect(groups.length).toBeGreaterThan(1)
  expect(groups.reduce((sum, each) => sum + each, 0)).toBe(5)
})

it('starts anew for what comes after a group has gone', async () => {
  const { groups, add } = start(1000)
  add()
  await turn()
  await turn()
  add()
  add()
  await turn()
  await turn()
  expect(groups).toEqual([1, 2])
})

it('lets what comes while a group goes go after it', async () => {
  const groups: number[] = []
  let come = 0
  const batcher = createBatcher({
    count: () => come,
    maxMs: 1000,
    now: () => 0,
    flush() {
      groups.push(come)
      come = 0
      if (groups.length > 1) return
      come = 1
      batcher.add()
    },
  })
  come = 2
  batcher.add()
  for (let i = 0; i < 5; i++) await turn()
  expect(groups).toEqual([2, 1])
})
