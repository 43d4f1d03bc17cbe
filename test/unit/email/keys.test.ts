import { afterEach, describe, expect, it, vi } from 'vitest'
import { createFreeKeys, networkOf } from '../../../src/email/keys.ts'
import { GatewayError } from '../../../src/errors.ts'
import type { EmailKey } from '../../../src/store/ports.ts'
import { hashToken, parseToken } from '../../../src/tokens.ts'

describe('the network of an address', () => {
  it.each<[string, string]>([
    ['192.0.2.77', '192.0.2.0/24'],
    ['192.0.3.77', '192.0.3.0/24'],
    ['::ffff:192.0.2.1', '192.0.2.0/24'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1::/48'],
    ['2001:0db8:0001:ffff::1', '2001:db8:1::/48'],
    ['2001:db8::1', '2001:db8:0::/48'],
    ['::1', '0:0:0::/48'],
    ['fe80::1%eth0', 'fe80:0:0::/48'],
    ['unknown', 'unknown'],
  ])('%s is in %s', (address, network) => {
    expect(networkOf(address)).toBe(network)
  })
})

afterEach(() => void vi.useRealTimers())

describe('free keys', () => {
  function setUp(isLimited: boolean, dailyQuota = 1000) {
    const stored: { key: EmailKey; keyHash: Buffer }[] = []
    const create = createFreeKeys({
      store: { createEmailKey: async (made) => void stored.push(made) },
      dailyQuota,
      isLimited,
      now: () => 7,
    })
    return { create, stored }
  }

  it('are stored as a digest, and told once', async () => {
    const { create, stored } = setUp(true)
    const made = await create('192.0.2.1')
    const token = made.token.use((text) => text)
    expect(parseToken(token)).toEqual({ kind: 'ek' })
    expect(stored).toEqual([
      { key: { id: made.id, createdAt: 7, revokedAt: null }, keyHash: hashToken(token) },
    ])
    expect(JSON.stringify(made)).not.toContain(token)
    expect(made.dailyQuota).toBe(1000)
    expect((await setUp(true, 0).create('192.0.2.1')).dailyQuota).toBeNull()
  })

  it('are five an hour for one network, whichever address in it asks; another network has its own', async () => {
    const { create, stored } = setUp(true)
    for (let i = 1; i <= 5; i++) await create(`192.0.2.${i}`)
    const refused = await create('192.0.2.200').catch((thrown: unknown) => thrown)
    expect(refused).toBeInstanceOf(GatewayError)
    const { code, extras, message } = refused as GatewayError
    expect([code, message]).toEqual(['rate_limited', expect.stringContaining('At most 5 free keys an hour')])
    expect(extras.retry_after_seconds).toBeGreaterThan(3500)
    expect(extras.retry_after_seconds).toBeLessThanOrEqual(3600)
    await create('192.0.3.1')
    for (let i = 1; i <= 5; i++) await create(`2001:db8:1:${i}::1`)
    await expect(create('2001:db8:1:ffff::1')).rejects.toThrow(GatewayError)
    expect(stored).toHaveLength(11)
  })

  it('are twenty a day for one network, however they are spread over it', async () => {
    vi.useFakeTimers()
    const { create, stored } = setUp(true)
    for (let hour = 0; hour < 4; hour++) {
      for (let i = 1; i <= 5; i++) await create('192.0.2.1')
      await vi.advanceTimersByTimeAsync(3_600_001)
    }
    const refused = await create('192.0.2.1').catch((thrown: unknown) => thrown)
    expect(refused).toMatchObject({
      code: 'rate_limited',
      message: expect.stringContaining('At most 20 free keys a day'),
    })
    expect((refused as GatewayError).extras.retry_after_seconds).toBeGreaterThan(19 * 3600)
    await vi.advanceTimersByTimeAsync(20 * 3_600_000)
    await create('192.0.2.1')
    expect(stored).toHaveLength(21)
  })

  it('have no limit where the operator switched limits off', async () => {
    const { create, stored } = setUp(false)
    for (let i = 0; i < 30; i++) await create('192.0.2.1')
    expect(stored).toHaveLength(30)
  })
})
