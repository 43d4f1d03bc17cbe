import { expect, it } from 'vitest'
import { createFairQueue } from '../../../src/lib/fair-queue.ts'

const anybody = () => true

it('lets owners take turns, and keeps the order of what one owner has', () => {
  const queue = createFairQueue<string>()
  for (const item of ['a1', 'a2', 'a3', 'b1', 'c1', 'b2']) queue.add(item.slice(0, 1), item)
  const taken: (string | undefined)[] = []
  while (queue.size > 0) taken.push(queue.take(anybody))
  expect(taken).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3'])
  expect(queue.take(anybody)).toBeUndefined()
})

it('passes over an owner who may not take, without a loss of its place', () => {
  const queue = createFairQueue<string>()
  for (const item of ['a1', 'b1', 'b2']) queue.add(item.slice(0, 1), item)
  expect(queue.take((owner) => owner !== 'a')).toBe('b1')
  expect(queue.take((owner) => owner === 'c')).toBeUndefined()
  expect(queue.take(anybody)).toBe('a1')
  expect(queue.size).toBe(1)
})

it('gives up what is removed, once', () => {
  const queue = createFairQueue<string>()
  for (const item of ['a1', 'a2', 'b1']) queue.add(item.slice(0, 1), item)
  expect(queue.remove('a', 'a1')).toBe(true)
  expect(queue.remove('a', 'a1')).toBe(false)
  expect(queue.remove('nobody', 'a1')).toBe(false)
  expect(queue.takeAll()).toEqual(['a2', 'b1'])
  expect([queue.size, queue.take(anybody)]).toEqual([0, undefined])
})
