import { expect, it } from 'vitest'
import { keepNewest } from '../../../src/lib/keep-newest.ts'

it.each([
  [3, ['a', 'b', 'c']],
  [2, ['b', 'c']],
  [0, []],
])('with room for %d of three the oldest go', (max, left) => {
  const entries = new Map(['a', 'b', 'c'].map((key) => [key, 1]))
  keepNewest(entries, max)
  expect([...entries.keys()]).toEqual(left)
})
