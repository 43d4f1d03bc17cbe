import { describe, expect, it, vi } from 'vitest'
import { createMemory } from '../../../src/email/cache.ts'

describe('a memory of names', () => {
  it('keeps a value for its seconds, and none for zero', () => {
    let now = 0
    const memory = createMemory<string>({ maxEntries: 10, now: () => now })
    memory.keep('a.com', 'x', 2)
    memory.keep('b.com', 'y', 0)
    expect(memory.recall('a.com')).toEqual({ value: 'x', secondsLeft: 2 })
    expect(memory.recall('b.com')).toBeUndefined()
    now = 1_999
    expect(memory.recall('a.com')).toEqual({ value: 'x', secondsLeft: 1 })
    now = 2_000
    expect(memory.recall('a.com')).toBeUndefined()
    expect(memory.size).toBe(0)
  })
  it('forgets the oldest beyond its size', () => {
    const memory = createMemory<number>({ maxEntries: 2, now: () => 0 })
    memory.keep('a.com', 1, 60)
    memory.keep('b.com', 2, 60)
    memory.keep('a.com', 3, 60)
    memory.keep('c.com', 4, 60)
    expect(['a.com', 'b.com', 'c.com'].map((name) => memory.recall(name)?.value)).toEqual([3, undefined, 4])
  })
  it('holds no name, and what it holds in its place is another one in every process', () => {
    const held: unknown[] = []
    const spy = vi.spyOn(Map.prototype, 'set').mockImplementation(function (this: unknown, key: unknown) {
      held.push(key)
      return this as Map<unknown, unknown>
    })
    for (const _process of [1, 2])
      createMemory<number>({ maxEntries: 2, now: () => 0 }).keep('ada.com', 1, 60)
    spy.mockRestore()
    expect(held).toHaveLength(2)
    expect(held[0]).not.toBe(held[1])
    for (const key of held) expect(key).not.toContain('ada.com')
  })
})
