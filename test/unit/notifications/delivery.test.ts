// What is due goes out side by side: a receiver that never answers holds up its own account at most.
import { createSecretKey, randomBytes } from 'node:crypto'
import { describe, expect, it, vi } from 'vitest'
import { sealAddress } from '../../../src/notifications/address.ts'
import { createDelivery } from '../../../src/notifications/delivery.ts'
import type { DueNotification } from '../../../src/store/ports.ts'

const key = createSecretKey(randomBytes(32))
const due = (accountId: string, at: number): DueNotification => {
  const row = { id: `ntg_${accountId}_${at}`, accountId, host: `${accountId}.example.com:443` }
  return {
    id: `nty_${accountId}_${at}`,
    body: '{"type":"approval","timestamp":"","data":{}}',
    createdAt: 0,
    tries: 1,
    target: {
      ...row,
      sealed: sealAddress(key, row, `https://${accountId}.example.com/hook`),
      kinds: ['approval'],
      admin: false,
      createdAt: 0,
      createdBy: 'key_1',
      toldAt: null,
      problem: null,
      problemAt: null,
    },
  }
}

describe('delivery', () => {
  it('tells others at once while the receivers of one account never answer', async () => {
    const waiting = Array.from({ length: 500 }, (_, at) => due('slow', at))
    const told: string[] = []
    const ends: (string | null)[] = []
    let answer = () => {}
    const never = new Promise<undefined>((resolve) => {
      answer = () => resolve(undefined)
    })
    const delivery = createDelivery({
      store: {
        engine: 'sqlite',
        takeNotifications: async ({ limit }) => waiting.splice(0, limit),
        finishNotification: async ({ problem }) => void ends.push(problem),
        forgetNotifications: async () => 0,
        queueNotifications: async () => 0,
      },
      async post({ url }) {
        told.push(new URL(url).hostname)
        return url.includes('slow') ? never : undefined
      },
      sign: () => ({ kid: 'kid', signature: '' }),
      key,
      baseUrl: 'https://gateway.example.com',
      log: { warn: () => {}, error: () => {} } as never,
      now: () => 0,
    })
    delivery.wake()
    await vi.waitFor(() => expect(waiting).toHaveLength(0), { timeout: 60_000 })
    expect(told.filter((host) => host === 'slow.example.com')).toHaveLength(20)
    // The others of that account are tried again later: nothing is lost.
    await vi.waitFor(() => expect(ends).toEqual(Array.from({ length: 480 }, () => 'slow_receivers')), {
      timeout: 60_000,
    })
    waiting.push(due('quick', 0))
    delivery.wake()
    await vi.waitFor(() => expect(told.at(-1)).toBe('quick.example.com'), { timeout: 60_000 })
    answer()
    await delivery.close()
    expect(ends).toHaveLength(501)
  })
})
