import { describe, expect, it } from 'vitest'
import { command } from '../../../src/store/command.ts'
import { type CommandName, commandNames, isRead } from '../../../src/store/commands/index.ts'
import { createRowCache } from '../../../src/store/sqlite/row-cache.ts'

const digest = (byte: number) => Buffer.alloc(32, byte)

function setUp() {
  const rows = createRowCache()
  let asked = 0
  const find = (name: CommandName, ...args: unknown[]) => rows.through(name, args, () => ({ asked: ++asked }))
  return { rows, find, asked: () => asked }
}

describe('rows that are cached', () => {
  it('are read once for each token, capability and credential', () => {
    const { find, asked } = setUp()
    expect(find('findCapability', digest(1))).toEqual({ asked: 1 })
    expect(find('findCapability', digest(1))).toEqual({ asked: 1 })
    expect(find('findCapability', digest(2))).toEqual({ asked: 2 })
    expect(find('findKey', digest(1))).toEqual({ asked: 3 })
    expect(find('getCredential', 'cred_1', 'acct_1')).toEqual({ asked: 4 })
    expect(find('getCredential', 'cred_1', 'acct_2')).toEqual({ asked: 5 })
    expect(find('getCredential', 'cred_1', 'acct_1')).toEqual({ asked: 4 })
    expect(asked()).toBe(5)
  })

  it('leave out what was not found, and what moves with every call', () => {
    const { rows, find, asked } = setUp()
    expect(rows.through('findKey', [digest(1)], () => undefined)).toBeUndefined()
    expect(find('findKey', digest(1))).toEqual({ asked: 1 })
    for (const name of ['balance', 'getAttempt', 'getPermit', 'getMandate', 'getClaim'] as const) {
      const before = asked()
      find(name, 'id_1')
      find(name, 'id_1')
      expect(asked()).toBe(before + 2)
    }
  })

  /** What writes a token, a capability or a credential. */
  const FORGETTING = [
    'revokeKey',
    'rotateCredential',
    'revokeCredential',
    'editCredential',
    'deleteCredential',
    'replaceWrap',
    'revokeCapability',
    'insertCapability',
    'revokeEmailKey',
    'sweep',
    'recoverAttempts',
    'recoverDebits',
  ] as const
  it.each(FORGETTING)('are forgotten when %s was answered', (name) => {
    const { rows, find } = setUp()
    find('findCapability', digest(1))
    rows.after(name)
    expect(find('findCapability', digest(1))).toEqual({ asked: 2 })
  })

  it('cannot be left out of a command that writes', () => {
    // @ts-expect-error a write says what it touches
    command({ kind: 'transaction' })(function* () {})
  })

  it('outlast the commands of calls, which come with every one', () => {
    const kept = commandNames.filter((name) => {
      const { rows, find } = setUp()
      find('findCapability', digest(1))
      rows.after(name)
      return (find('findCapability', digest(1)) as { asked: number }).asked === 1
    })
    expect(kept).toEqual(
      expect.arrayContaining(['reserveAttempt', 'finishAttempt', 'balance', 'claimPayment']),
    )
    expect(
      kept.filter((name) => /key|credential|capabilit|wrap|account/i.test(name) && !isRead(name)),
    ).toEqual([])
  })

  it('are no more than a process can hold', () => {
    const { find, asked } = setUp()
    for (let i = 0; i < 6_000; i++) find('getCredential', `cred_${i}`, 'acct_1')
    find('getCredential', 'cred_5999', 'acct_1')
    expect(asked()).toBe(6_000)
    find('getCredential', 'cred_0', 'acct_1')
    expect(asked()).toBe(6_001)
  })
})
