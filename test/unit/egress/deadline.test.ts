import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { startDeadline } from '../../../src/egress/adapters/deadline.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

it('tells whoever waits once, when the time is over and not before', () => {
  const deadline = startDeadline(100, undefined)
  const onOver = vi.fn()
  deadline.onOver = onOver
  const signal = deadline.signal()
  vi.advanceTimersByTime(99)
  expect([deadline.isOver, signal.aborted, onOver.mock.calls.length]).toEqual([false, false, 0])
  vi.advanceTimersByTime(1)
  expect([deadline.isOver, signal.aborted, onOver.mock.calls.length]).toEqual([true, true, 1])
})

it('is over when whoever asked gives up, also where that was before', () => {
  const wish = new AbortController()
  const deadline = startDeadline(100, wish.signal)
  const onOver = vi.fn()
  deadline.onOver = onOver
  wish.abort()
  vi.advanceTimersByTime(1_000)
  expect([deadline.isOver, onOver.mock.calls.length]).toEqual([true, 1])
  expect(startDeadline(100, wish.signal).isOver).toBe(true)
})

it('gives a signal that is aborted already to whoever asks too late', () => {
  const deadline = startDeadline(100, undefined)
  vi.advanceTimersByTime(100)
  expect(deadline.signal().aborted).toBe(true)
})

it('does not pass any more once it is cleared', () => {
  const wish = new AbortController()
  const deadline = startDeadline(100, wish.signal)
  deadline.clear()
  wish.abort()
  vi.advanceTimersByTime(1_000)
  expect(deadline.isOver).toBe(false)
  expect(vi.getTimerCount()).toBe(0)
})
