import { describe, expect, it } from 'vitest'
import { boundLargeCalls, createLargeCalls } from '../../../src/egress/limits/large-calls.ts'

const MIB = 1024 * 1024
const large = { max_bytes: 25 * MIB }

describe('large calls', () => {
  it('are refused before anything is charged, where those under way take the memory that is for them', () => {
    const calls = createLargeCalls()
    const leave = Array.from({ length: 20 }, () => calls.enter('acct_1', large))
    expect(() => calls.enter('acct_1', large)).toThrow(/Nothing was sent or charged/)
    leave[0]?.()
    leave[0]?.()
    calls.enter('acct_1', large)
    expect(() => calls.enter('acct_1', large)).toThrow(/Nothing was sent or charged/)
  })

  it('of one account leave room for those of another, and all together are bounded', () => {
    const calls = createLargeCalls({ ofAccount: 50 * MIB, inAll: 100 * MIB })
    for (const account of ['acct_1', 'acct_1', 'acct_2', 'acct_2']) calls.enter(account, large)
    expect(() => calls.enter('acct_3', large)).toThrow()
  })

  it('are those with a large body or answer; usual ones are never refused here', () => {
    const calls = createLargeCalls({ ofAccount: 0, inAll: 0 })
    calls.enter('acct_1', { body: 'a'.repeat(128 * 1024), max_bytes: MIB })()
    expect(() => calls.enter('acct_1', { body: 'a'.repeat(300 * 1024) })).toThrow()
    expect(() => calls.enter('acct_1', { body_base64: 'a'.repeat(300 * 1024) })).toThrow()
    expect(() => calls.enter('acct_1', { max_bytes: MIB + 1 })).toThrow()
  })

  it('take room for a body as it grows, and nothing while it is small', () => {
    const calls = createLargeCalls({ ofAccount: 2 * MIB, inAll: 3 * MIB })
    const none = createLargeCalls({ ofAccount: 0, inAll: 0 }).hold('acct_1')
    none.reach(256 * 1024)
    expect(() => none.reach(256 * 1024 + 1)).toThrow(/Nothing was sent or charged/)
    none.leave()

    const first = calls.hold('acct_1')
    for (const size of [0, 1000, 300 * 1024, MIB, MIB - 1]) first.reach(size)
    const second = calls.hold('acct_1')
    second.reach(MIB)
    expect(() => first.reach(MIB + 1)).toThrow(expect.objectContaining({ code: 'overloaded' }))
    expect(() => calls.enter('acct_1', { max_bytes: MIB + 1 })).toThrow()
    const other = calls.hold('acct_2')
    other.reach(MIB)
    expect(() => other.reach(MIB + 1)).toThrow()
    second.leave()
    second.leave()
    other.reach(2 * MIB)
    expect(() => calls.hold('acct_1').reach(MIB)).toThrow()
    first.leave()
    calls.hold('acct_1').reach(MIB)
  })

  it('give their room back however they end', async () => {
    const calls = createLargeCalls({ ofAccount: 25 * MIB, inAll: 25 * MIB })
    const forward = boundLargeCalls(
      { prepare: async () => undefined, send: () => Promise.reject(new Error('refused')) },
      calls,
    )
    const asked = { url: 'https://api.example.com/', method: 'GET', headers: {}, ...large }
    const send = () => forward.send(asked, { accountId: 'acct_1' } as never, {} as never)
    await expect(send()).rejects.toThrow('refused')
    await expect(send()).rejects.toThrow('refused')
  })
})
