import { describe, expect, it } from 'vitest'
import { createCircuitBreaker } from '../../../src/payments/circuit-breaker.ts'

const fail = (breaker: ReturnType<typeof createCircuitBreaker>, times: number, at: number) => {
  for (let i = 0; i < times; i++) breaker.record(false, at)
}

describe('circuit breaker', () => {
  it.each([
    [2, 'closed'],
    [3, 'open'],
  ])('after %i failures in a row is %s', (failures, state) => {
    const breaker = createCircuitBreaker()
    fail(breaker, failures, 0)
    expect(breaker.state(0)).toBe(state)
  })

  it('counts failures in a row only', () => {
    const breaker = createCircuitBreaker()
    fail(breaker, 2, 0)
    breaker.record(true, 0)
    fail(breaker, 2, 0)
    expect(breaker.state(0)).toBe('closed')
  })

  it.each([
    [4_999, 'open'],
    [5_000, 'half_open'],
  ])('%i ms after opening is %s', (at, state) => {
    const breaker = createCircuitBreaker()
    fail(breaker, 3, 0)
    expect(breaker.state(at)).toBe(state)
  })

  it('closes on a probe that succeeds, and starts from the beginning', () => {
    const breaker = createCircuitBreaker()
    fail(breaker, 3, 0)
    breaker.record(true, 5_100)
    expect(breaker.state(5_100)).toBe('closed')
    fail(breaker, 3, 6_000)
    expect(breaker.state(10_999)).toBe('open')
    expect(breaker.state(11_000)).toBe('half_open')
  })

  it('waits twice as long after a probe that fails, up to five minutes', () => {
    const breaker = createCircuitBreaker()
    fail(breaker, 3, 0)
    let at = 5_000
    const waits: number[] = []
    for (let i = 0; i < 8; i++) {
      breaker.record(false, at)
      let wait = 0
      while (breaker.state(at + wait) === 'open') wait += 5_000
      waits.push(wait)
      at += wait
    }
    expect(waits).toEqual([10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000, 300_000])
  })

  it.each([
    [64_999, 'half_open'],
    [65_000, 'closed'],
  ])('that nobody probed, because others are preferred, is at %i ms %s', (at, state) => {
    const breaker = createCircuitBreaker()
    fail(breaker, 3, 0)
    expect(breaker.state(at)).toBe(state)
    breaker.record(false, at)
    expect(breaker.state(at + 9_999)).toBe('open')
    expect(breaker.state(at + 10_000)).toBe('half_open')
  })

  it('does not wait longer for calls that left before it opened', () => {
    const breaker = createCircuitBreaker()
    fail(breaker, 3, 0)
    fail(breaker, 5, 4_000)
    expect(breaker.state(5_000)).toBe('half_open')
  })
})
