import { describe, expect, it } from 'vitest'
import { createRateLimiter } from '../../src/limits.ts'

describe('rate limits', () => {
  it('count down to nothing and then say when to come back', async () => {
    const limiter = createRateLimiter(undefined)
    const take = () => limiter.take('tool', 'caller', 2)
    expect(await take()).toMatchObject({ limit: 2, remaining: 1, exceeded: false })
    expect(await take()).toMatchObject({ limit: 2, remaining: 0, exceeded: false })
    const refused = await take()
    expect(refused).toMatchObject({ limit: 2, remaining: 0, exceeded: true })
    expect(refused!.resetSeconds).toBeGreaterThanOrEqual(1)
    expect(refused!.resetSeconds).toBeLessThanOrEqual(60)
    expect(Number.isInteger(refused!.resetSeconds)).toBe(true)
  })

  it('are counted for each tool and each caller alone', async () => {
    const limiter = createRateLimiter(1)
    for (const [tool, caller] of [
      ['a', 'x'],
      ['a', 'y'],
      ['b', 'x'],
    ] as const)
      expect((await limiter.take(tool, caller, 300))!.exceeded).toBe(false)
    expect((await limiter.take('a', 'x', 300))!.exceeded).toBe(true)
  })

  it('are replaced by a configured figure, and switched off by 0', async () => {
    expect((await createRateLimiter(7).take('a', 'x', 300))!.limit).toBe(7)
    expect(await createRateLimiter(0).take('a', 'x', 300)).toBeUndefined()
  })

  it('of two gateways in one process are two', async () => {
    const [one, other] = [createRateLimiter(1), createRateLimiter(1)]
    await one.take('a', 'x', 1)
    expect((await other.take('a', 'x', 1))!.exceeded).toBe(false)
  })
})
