import { describe, expect, it, vi } from 'vitest'
import { within } from '../../../src/lib/deadline.ts'

describe('within', () => {
  it('gives what the work brings in time', async () => {
    expect(await within(1_000, Promise.resolve(7))).toBe(7)
  })

  it('gives undefined when the time is over, and drops a failure that comes later', async () => {
    vi.useFakeTimers()
    try {
      const { promise, reject } = Promise.withResolvers<number>()
      const waited = within(1_000, promise)
      await vi.advanceTimersByTimeAsync(1_000)
      expect(await waited).toBeUndefined()
      // An unhandled rejection would end the test run.
      reject(new Error('too late'))
      await vi.advanceTimersByTimeAsync(0)
    } finally {
      vi.useRealTimers()
    }
  })

  it('rejects with the work, and leaves no timer behind', async () => {
    vi.useFakeTimers()
    try {
      await expect(within(1_000, Promise.reject(new Error('no')))).rejects.toThrow('no')
      expect(vi.getTimerCount()).toBe(0)
    } finally {
      vi.useRealTimers()
    }
  })
})
