import { describe, expect, it } from 'vitest'
import { KNOWN_MS, rememberKeys } from '../../../src/email/known-keys.ts'
import type { EmailKey } from '../../../src/store/ports.ts'

const KEY: EmailKey = { id: 'ek_1', createdAt: 0, revokedAt: null, lastSeenDay: '1970-01-01' }
const touchEmailKey = async () => {}

describe('keys that were found a moment ago', () => {
  it('are not looked for again, and are once the moment is over', async () => {
    let now = 0
    let stored: EmailKey | undefined = KEY
    let asked = 0
    const { find } = rememberKeys({ findEmailKey: async () => (asked++, stored), touchEmailKey }, () => now)
    const hash = Buffer.from([1, 2, 255])
    expect(await find(hash)).toBe(stored)
    stored = undefined
    now = KNOWN_MS - 1
    expect(await find(hash)).toMatchObject({ id: 'ek_1' })
    expect(asked).toBe(1)
    // A key that another process revoked opens nothing a second later.
    now = 1_000
    expect(await find(hash)).toBeUndefined()
    stored = { ...KEY }
    // What was not there is asked for every time: a new key works at once.
    expect(await find(hash)).toBe(stored)
    expect(await find(Buffer.from([1, 2, 254]))).toBe(stored)
    expect(asked).toBe(4)
  })

  it('open nothing for another key', async () => {
    const stored = Buffer.from([1])
    const findEmailKey = async (hash: Buffer) => (hash.equals(stored) ? KEY : undefined)
    const { find } = rememberKeys({ findEmailKey, touchEmailKey }, () => 0)
    expect(await find(stored)).toBeDefined()
    expect(await find(Buffer.from([2]))).toBeUndefined()
  })

  it('are forgotten when they are revoked here, and only they', async () => {
    const asked: string[] = []
    const findEmailKey = async (hash: Buffer) => {
      asked.push(hash.toString())
      return { ...KEY, id: `ek_${hash.toString()}` }
    }
    const { find, forget } = rememberKeys({ findEmailKey, touchEmailKey }, () => 0)
    for (const name of ['a', 'b']) await find(Buffer.from(name))
    forget('ek_a')
    for (const name of ['a', 'b']) await find(Buffer.from(name))
    expect(asked).toEqual(['a', 'b', 'a'])
  })

  it('are not remembered where one was revoked while they were looked for', async () => {
    let answer: (key: EmailKey) => void = () => {}
    let asked = 0
    const findEmailKey = () => {
      asked++
      return new Promise<EmailKey>((resolve) => (answer = resolve))
    }
    const { find, forget } = rememberKeys({ findEmailKey, touchEmailKey }, () => 0)
    const found = find(Buffer.from('a'))
    forget('ek_1')
    answer(KEY)
    expect(await found).toBe(KEY)
    const again = find(Buffer.from('a'))
    answer(KEY)
    await again
    expect(asked).toBe(2)
  })
})

describe('the day a key was used last', () => {
  it('is written down once a day, whatever becomes of it', async () => {
    let now = Date.parse('2026-11-21T23:59:50.000Z')
    let stored = { ...KEY, lastSeenDay: '2026-11-20' }
    const touched: string[] = []
    const { find } = rememberKeys(
      {
        findEmailKey: async () => stored,
        async touchEmailKey({ id, day }) {
          touched.push(`${id} ${day}`)
          stored = { ...stored, lastSeenDay: day }
          throw new Error('away')
        },
      },
      () => now,
    )
    for (let i = 0; i < 3; i++, now += 2 * KNOWN_MS) await find(Buffer.from('a'))
    expect(touched).toEqual(['ek_1 2026-11-21'])
    now = Date.parse('2026-11-22T00:00:00.000Z')
    await find(Buffer.from('a'))
    expect(touched).toEqual(['ek_1 2026-11-21', 'ek_1 2026-11-22'])
  })
})
