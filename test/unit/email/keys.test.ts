import { describe, expect, it } from 'vitest'
import { createFreeKeys, networkOf } from '../../../src/email/keys.ts'
import { GatewayError } from '../../../src/core/errors.ts'
import type { EmailKey } from '../../../src/store/ports.ts'
import { hashToken, parseToken } from '../../../src/lib/tokens.ts'

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

const NOW = Date.parse('2026-11-21T13:20:00.000Z')

describe('free keys', () => {
  /** Counts as a store does. */
  function setUp(isLimited: boolean, dailyQuota = 1000) {
    const clock = { now: NOW }
    const stored: { key: EmailKey; keyHash: Buffer }[] = []
    const counts = new Map<string, number>()
    const create = createFreeKeys({
      store: {
        async createEmailKey({ limits, ...made }) {
          const named = limits.map(({ holder, period }) => `${holder} ${period}`)
          const reached = limits.findIndex(({ keys }, i) => (counts.get(named[i]!) ?? 0) >= keys)
          if (reached !== -1) return { ok: false, reached }
          for (const name of named) counts.set(name, (counts.get(name) ?? 0) + 1)
          stored.push(made)
          return { ok: true }
        },
      },
      dailyQuota,
      isLimited,
      now: () => clock.now,
    })
    return { create, stored, counts, clock }
  }

  it('are stored as a digest, and told once', async () => {
    const { create, stored } = setUp(true)
    const made = await create('192.0.2.1')
    const token = made.token.use((text) => text)
    expect(parseToken(token)).toEqual({ kind: 'ek' })
    const key = { id: made.id, createdAt: NOW, revokedAt: null, lastSeenDay: '2026-11-21' }
    expect(stored).toEqual([{ key, keyHash: hashToken(token) }])
    expect(JSON.stringify(made)).not.toContain(token)
    expect(made.dailyQuota).toBe(1000)
    expect((await setUp(true, 0).create('192.0.2.1')).dailyQuota).toBeNull()
  })

  it('are counted by network, hour and day', async () => {
    const { create, counts } = setUp(true)
    await create('192.0.2.1')
    await create('2001:db8:1:2::3')
    expect([...counts]).toEqual([
      ['192.0.2.0/24 2026-11-21T13', 1],
      ['192.0.2.0/24 2026-11-21', 1],
      ['2001:db8:1::/48 2026-11-21T13', 1],
      ['2001:db8:1::/48 2026-11-21', 1],
    ])
  })

  it('are five an hour for one network, whichever address in it asks; another network has its own', async () => {
    const { create, stored, clock } = setUp(true)
    for (let i = 1; i <= 5; i++) await create(`192.0.2.${i}`)
    await expect(create('192.0.2.200')).rejects.toMatchObject({
      code: 'rate_limited',
      message: expect.stringContaining('At most 5 free keys an hour'),
      extras: { retry_after_seconds: 40 * 60 },
    })
    await create('192.0.3.1')
    for (let i = 1; i <= 5; i++) await create(`2001:db8:1:${i}::1`)
    await expect(create('2001:db8:1:ffff::1')).rejects.toThrow(GatewayError)
    expect(stored).toHaveLength(11)
    // What it was told to wait for is enough.
    clock.now += 40 * 60 * 1000
    await create('192.0.2.200')
  })

  it('are twenty a day for one network, however they are spread over it', async () => {
    const { create, stored, clock } = setUp(true)
    for (let hour = 0; hour < 4; hour++, clock.now += 3_600_000)
      for (let i = 1; i <= 5; i++) await create('192.0.2.1')
    await expect(create('192.0.2.1')).rejects.toMatchObject({
      code: 'rate_limited',
      message: expect.stringContaining('At most 20 free keys a day'),
      extras: { retry_after_seconds: (6 * 60 + 40) * 60 },
    })
    clock.now += (6 * 60 + 40) * 60 * 1000
    await create('192.0.2.1')
    expect(stored).toHaveLength(21)
  })

  it('have no limit where the operator switched limits off', async () => {
    const { create, stored } = setUp(false)
    for (let i = 0; i < 30; i++) await create('192.0.2.1')
    expect(stored).toHaveLength(30)
  })
})
