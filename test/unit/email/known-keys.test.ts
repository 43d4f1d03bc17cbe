import { describe, expect, it } from 'vitest'
import { KNOWN_MS, rememberKeys } from '../../../src/email/known-keys.ts'
import type { EmailKey } from '../../../src/store/ports.ts'

describe('keys that were found a moment ago', () => {
  it('are not looked for again, and are once the moment is over', async () => {
    let now = 0
    let stored: EmailKey | undefined = { id: 'ek_1', createdAt: 0, revokedAt: null }
    let asked = 0
    const find = rememberKeys(
      async () => (asked++, stored),
      () => now,
    )
    const hash = Buffer.from([1, 2, 255])
    expect(await find(hash)).toBe(stored)
    stored = undefined
    now = KNOWN_MS - 1
    expect(await find(hash)).toMatchObject({ id: 'ek_1' })
    expect(asked).toBe(1)
    // A key that was revoked opens nothing a second later.
    now = 1_000
    expect(await find(hash)).toBeUndefined()
    stored = { id: 'ek_1', createdAt: 0, revokedAt: null }
    // What was not there is asked for every time: a new key works at once.
    expect(await find(hash)).toBe(stored)
    expect(await find(Buffer.from([1, 2, 254]))).toBe(stored)
    expect(asked).toBe(4)
  })
  it('open nothing for another key', async () => {
    const stored = Buffer.from([1])
    const find = rememberKeys(
      async (hash) => (hash.equals(stored) ? { id: 'ek_1', createdAt: 0, revokedAt: null } : undefined),
      () => 0,
    )
    expect(await find(stored)).toBeDefined()
    expect(await find(Buffer.from([2]))).toBeUndefined()
  })
})
