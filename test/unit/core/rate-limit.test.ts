import { describe, expect, it, vi } from 'vitest'
import { createRateLimiter } from '../../../src/core/rate-limit.ts'

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

  it('say a minute at most where the clock of the machine was set back, to the others as well', async () => {
    const told: number[] = []
    const limiter = createRateLimiter(undefined, {
      others: () => 0,
      counted: (_key, _used, leftMs) => void told.push(leftMs),
    })
    await limiter.take('tool', 'caller', 2)
    const dayBefore = Date.now() - 24 * 60 * 60_000
    const clock = vi.spyOn(Date, 'now').mockReturnValue(dayBefore)
    const state = await limiter.take('tool', 'caller', 2).finally(() => clock.mockRestore())
    expect(state).toMatchObject({ remaining: 0, resetSeconds: 60 })
    expect(told.at(-1)).toBe(60_000)
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

  it.each<[string, string, string, boolean]>([
    ['two addresses of one network', '2001:db8:1:2::7', '2001:db8:1:2:ffff:0:0:1', true],
    ['two spellings', '2001:db8:0:0:1::', '2001:0DB8::1:0:0:1', true],
    ['neighbouring networks', '2001:db8:1:2::7', '2001:db8:1:3::7', false],
    ['networks with their zeros at the end and at the beginning', '1::', '::1', false],
    ['an address in two zones', 'fe80::1%eth0', 'fe80::2%eth1', true],
    ['IPv4 in IPv6', '198.51.100.7', '::ffff:198.51.100.7', true],
    ['IPv4 in IPv6 in hexadecimal', '198.51.100.7', '::FFFF:c633:6407', true],
    ['two addresses of IPv4 in IPv6', '::ffff:198.51.100.7', '::ffff:198.51.100.8', false],
    ['two addresses of IPv4', '198.51.100.7', '198.51.100.8', false],
  ])('count %s as who holds them: %s and %s', async (_, one, other, same) => {
    const limiter = createRateLimiter(undefined)
    await limiter.take('a', one, 1)
    expect((await limiter.take('a', other, 1))!.exceeded).toBe(same)
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
