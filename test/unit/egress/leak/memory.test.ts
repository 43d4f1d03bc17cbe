import { expect, it } from 'vitest'
import { createMemory } from '../../../../src/egress/leak/memory.ts'

it('is the same memory for every text, more where it is too little, and holds nothing once it is cleared', () => {
  const memory = createMemory()
  const first = memory.take(10)
  first.fill(1)
  expect(memory.take(8)).toBe(first)
  const second = memory.take(1_000)
  expect(second.length).toBeGreaterThan(1_000)
  expect([...first].some(Boolean)).toBe(false)
  const third = memory.take(1 << 20)
  third.fill(1)
  memory.clear()
  expect([...second, ...third].some(Boolean)).toBe(false)
  expect(memory.take(10).length).toBeLessThan(1_000)
})
