import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAccounts } from '../../../src/accounts/index.ts'
import type { Accounts } from '../../../src/accounts/ports.ts'
import { hashToken } from '../../../src/lib/tokens.ts'
import { openTempStore, type TempStore } from '../../support/temp-store.ts'

let temp: TempStore
let accounts: Accounts
beforeAll(async () => {
  temp = await openTempStore()
  accounts = createAccounts({ store: temp.store, freeCredits: 100, now: Date.now })
})
afterAll(() => temp.close())

const open = (name: string, admin = false) => accounts.createAccount({ name, label: 'first', admin })

describe('accounts', () => {
  it('gives the free credits once per account, not per key', async () => {
    const { account, credits } = await open('a')
    expect(credits).toBe(100)
    await accounts.createKey({ accountId: account.id, label: 'second' })
    expect(await accounts.balance(account.id)).toBe(100)
    const { items } = await accounts.ledger(account.id, { limit: 10 })
    expect(items.map(({ amount, kind, reference }) => ({ amount, kind, reference }))).toEqual([
      { amount: 100, kind: 'grant', reference: 'free credits' },
    ])
  })

  it('makes keys that authenticate until they are revoked', async () => {
    const { account } = await open('b')
    const { key, token } = await accounts.createKey({ accountId: account.id, label: 'deploy' })
    const hash = token.use(hashToken)
    expect((await temp.store.findKey(hash))?.id).toBe(key.id)
    expect((await accounts.revokeKey(account.id, key.id)).revokedAt).not.toBeNull()
    expect(await temp.store.findKey(hash)).toBeUndefined()
    expect(`${token} ${JSON.stringify({ token })}`).not.toMatch(/agw_sk_/)
  })

  it('passes administration on to further keys of the first account only', async () => {
    const admin = await open('admin', true)
    const other = await open('other')
    expect((await accounts.createKey({ accountId: admin.account.id, label: 'x' })).key.admin).toBe(true)
    expect((await accounts.createKey({ accountId: other.account.id, label: 'x' })).key.admin).toBe(false)
  })

  it('hides the keys of one account from another', async () => {
    const mine = await open('mine')
    const theirs = await open('theirs')
    const { items } = await accounts.listKeys(mine.account.id, { limit: 100 })
    expect(items.map(({ id }) => id)).toEqual([mine.key.id])
    await expect(accounts.revokeKey(mine.account.id, theirs.key.id)).rejects.toMatchObject({
      code: 'key_not_found',
    })
  })

  it('grants a reference once, and says when it is repeated', async () => {
    const { account } = await open('c')
    const grant = { accountId: account.id, amount: 7, reference: 'invoice 1' }
    expect(await accounts.grant(grant)).toEqual({ balance: 107, repeated: false })
    expect(await accounts.grant(grant)).toEqual({ balance: 107, repeated: true })
    expect(await accounts.grant({ ...grant, reference: 'invoice 2' })).toEqual({
      balance: 114,
      repeated: false,
    })
  })

  it.each([
    ['balance', () => accounts.balance('acct_none')],
    ['grant', () => accounts.grant({ accountId: 'acct_none', amount: 1, reference: 'x' })],
    ['createKey', () => accounts.createKey({ accountId: 'acct_none', label: 'x' })],
  ])('answers account_not_found to %s of an account that does not exist', async (_name, act) => {
    await expect(act()).rejects.toMatchObject({ code: 'account_not_found' })
  })
})

describe('the last administrator key', () => {
  it('cannot be revoked, not even when two are revoked at the same moment', async () => {
    const own = await openTempStore()
    try {
      const service = createAccounts({ store: own.store, freeCredits: 0, now: Date.now })
      const { account, key: first } = await service.createAccount({ name: 'a', label: 'first', admin: true })
      await expect(service.revokeKey(account.id, first.id)).rejects.toMatchObject({ code: 'state_conflict' })

      const { key: second } = await service.createKey({ accountId: account.id, label: 'second' })
      const outcomes = await Promise.allSettled([
        service.revokeKey(account.id, first.id),
        service.revokeKey(undefined, second.id),
      ])
      expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
      const live = (await service.listKeys(undefined, { limit: 10 })).items.filter(
        (key) => key.revokedAt === null,
      )
      expect(live).toHaveLength(1)
    } finally {
      await own.close()
    }
  })
})
