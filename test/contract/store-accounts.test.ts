// Accounts, keys and the ledger, held to the same behaviour on every engine.
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../src/lib/ids.ts'
import type { ServiceKey, Store } from '../../src/store/ports.ts'
import { addAccount, createPlace, ENGINES, NOW, type Place, sumOfLedger, times } from '../support/store.ts'

const keyOf = (accountId: string, over: Partial<ServiceKey> = {}): ServiceKey => ({
  id: newId('key', NOW),
  accountId,
  label: 'another',
  admin: true,
  role: 'operator',
  createdAt: NOW,
  revokedAt: null,
  ...over,
})
const grantOf = (accountId: string, amount: number, reference: string) => ({
  accountId,
  amount,
  reference,
  transactionId: newId('txn', NOW),
  now: NOW,
})

describe.each(ENGINES)('accounts in %s', (engine) => {
  let place: Place
  let store: Store
  beforeAll(async () => {
    place = await createPlace(engine, 'accounts')
    store = await place.open()
  })
  afterAll(() => place.remove())

  it('creates an account with its key and its free credits, once', async () => {
    const id = newId('acct', NOW)
    const keyHash = randomBytes(32)
    const account = { id, name: 'ops', createdAt: NOW }
    const key = keyOf(id)
    const grant = { transactionId: newId('txn', NOW), amount: 100, reference: 'free credits' }
    await store.createAccount({ account, key, keyHash, grant })

    expect(await store.getAccount(id)).toEqual(account)
    expect(await store.findKey(keyHash)).toEqual(key)
    expect(await store.balance(id)).toBe(100)
    expect(await store.ledger(id, { limit: 10 })).toEqual({
      items: [
        {
          transactionId: grant.transactionId,
          account: id,
          amount: 100,
          kind: 'grant',
          reference: 'free credits',
          createdAt: NOW,
        },
      ],
      next: null,
    })
  })

  it('refuses a key hash that exists and leaves nothing of the account behind', async () => {
    const keyHash = randomBytes(32)
    const first = await addAccount(store, 0)
    expect(await store.addKey({ key: keyOf(first), keyHash })).toBe(true)

    const id = newId('acct', NOW)
    const grant = { transactionId: newId('txn', NOW), amount: 5, reference: 'free credits' }
    const again = store.createAccount({
      account: { id, name: 'copy', createdAt: NOW },
      key: keyOf(id),
      keyHash,
      grant,
    })
    await expect(again).rejects.toMatchObject({ name: 'GatewayError', code: 'state_conflict' })
    expect(await store.getAccount(id)).toBeUndefined()
    expect((await store.ledger(id, { limit: 10 })).items).toEqual([])
    await expect(store.addKey({ key: keyOf(first), keyHash })).rejects.toMatchObject({
      code: 'state_conflict',
    })
  })

  it('lets one of many creations with the same key hash through, and says so to the others', async () => {
    const keyHash = randomBytes(32)
    const results = await Promise.allSettled(
      times(8, () => {
        const id = newId('acct', NOW)
        const account = { id, name: 'racer', createdAt: NOW }
        const grant = { transactionId: newId('txn', NOW), amount: 1, reference: 'free credits' }
        return store.createAccount({ account, key: keyOf(id), keyHash, grant })
      }),
    )
    expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(1)
  })

  it('creates the first account once, however many processes start at once, and never beside a key', async () => {
    const empty = await createPlace(engine, 'first_account')
    try {
      // A data directory has one process; a database of PostgreSQL has many.
      const opened = await Promise.all(times(engine === 'postgres' ? 4 : 1, () => empty.open()))
      const create = (one: Store) => {
        const id = newId('acct', NOW)
        const account = { id, name: 'operator', createdAt: NOW }
        const grant = { transactionId: newId('txn', NOW), amount: 1, reference: 'free credits' }
        return one.createFirstAccount({ account, key: keyOf(id), keyHash: randomBytes(32), grant })
      }
      const made = await Promise.all(times(12, (i) => create(opened[i % opened.length]!)))
      expect(made.filter(Boolean)).toHaveLength(1)
      const [key, ...others] = (await opened[0]!.listKeys(undefined, { limit: 100 })).items
      expect(others).toEqual([])
      await opened[0]!.revokeKey({ id: key!.id, accountId: undefined, now: NOW })
      expect(await create(opened[0]!)).toBe(false)
      expect(await sumOfLedger(empty)).toBe(0)
      const events = await empty.query(`SELECT body FROM audit_events ORDER BY seq`)
      expect(
        events
          .map(({ body }) => JSON.parse(String(body)).event)
          .filter((event) => event === 'account.created'),
      ).toHaveLength(1)
    } finally {
      await empty.remove()
    }
  })

  it('creates an account without free credits and without an empty ledger entry', async () => {
    const id = await addAccount(store, 0)
    expect(await store.balance(id)).toBe(0)
    expect((await store.ledger(id, { limit: 1 })).items).toEqual([])
  })

  it('adds a key to an existing account only, and brings no credits', async () => {
    const id = await addAccount(store, 7)
    const keyHash = randomBytes(32)
    expect(await store.addKey({ key: keyOf(id), keyHash })).toBe(true)
    expect(await store.addKey({ key: keyOf('acct_none'), keyHash: randomBytes(32) })).toBe(false)
    expect(await store.balance(id)).toBe(7)
  })

  it('does not find a revoked key; revoking twice keeps the first time', async () => {
    const id = await addAccount(store, 0)
    const keyHash = randomBytes(32)
    const key = keyOf(id, { admin: false })
    await store.addKey({ key, keyHash })
    expect(await store.revokeKey({ id: key.id, accountId: 'acct_other', now: NOW })).toBeUndefined()
    expect(await store.findKey(keyHash)).toEqual(key)

    expect(await store.revokeKey({ id: key.id, accountId: id, now: NOW + 1 })).toEqual({
      ...key,
      revokedAt: NOW + 1,
    })
    expect(await store.findKey(keyHash)).toBeUndefined()
    const again = await store.revokeKey({ id: key.id, accountId: undefined, now: NOW + 2 })
    expect(again?.revokedAt).toBe(NOW + 1)
    expect(await store.revokeKey({ id: 'key_none', accountId: undefined, now: NOW })).toBeUndefined()
  })

  it('pages keys newest first, of one account or of all', async () => {
    const id = await addAccount(store, 0)
    const ids = times(5, (i) => newId('key', NOW + 1000 + i))
    for (const keyId of ids) await store.addKey({ key: keyOf(id, { id: keyId }), keyHash: randomBytes(32) })
    const seen: string[] = []
    let before: string | undefined
    do {
      const page = await store.listKeys(id, { limit: 2, before })
      expect(page.items.length).toBeLessThanOrEqual(2)
      seen.push(...page.items.map((key) => key.id))
      before = page.next ?? undefined
    } while (before !== undefined)
    expect(seen.slice(0, 5)).toEqual(ids.toReversed())
    expect(seen).toHaveLength(6) // and the account's first key
    const everyone = await store.listKeys(undefined, { limit: 100 })
    expect(new Set(everyone.items.map((key) => key.accountId)).size).toBeGreaterThan(1)
  })

  it('grants once per account and reference', async () => {
    const id = await addAccount(store, 10)
    const other = await addAccount(store, 10)
    expect(await store.grant(grantOf(id, 5, 'invoice 1'))).toEqual({ balance: 15, repeated: false })
    expect(await store.grant(grantOf(id, 9, 'invoice 1'))).toEqual({ balance: 15, repeated: true })
    expect(await store.grant(grantOf(id, 1, 'free credits'))).toEqual({ balance: 15, repeated: true })
    expect(await store.grant(grantOf(other, 5, 'invoice 1'))).toEqual({ balance: 15, repeated: false })
    expect(await store.grant(grantOf('acct_none', 5, 'invoice 1'))).toBeUndefined()
    expect(await sumOfLedger(place)).toBe(0)
  })

  it('grants once when the same reference arrives twenty times at once', async () => {
    const id = await addAccount(store, 0)
    const answers = await Promise.all(times(20, () => store.grant(grantOf(id, 3, 'same'))))
    expect(answers.filter((answer) => answer?.repeated === false)).toHaveLength(1)
    expect(answers.every((answer) => answer?.balance === 3)).toBe(true)
    expect(await store.balance(id)).toBe(3)
  })

  it.each([0, -1, 1.5, Number.NaN, Number.MAX_SAFE_INTEGER + 1])('refuses a grant of %s', async (amount) => {
    const id = await addAccount(store, 1)
    await expect(store.grant(grantOf(id, amount, 'odd'))).rejects.toMatchObject({ code: 'input_invalid' })
    expect(await store.balance(id)).toBe(1)
  })

  it('counts up to 2^53 - 1 credits exactly and refuses one more', async () => {
    const id = await addAccount(store, 0)
    const most = Number.MAX_SAFE_INTEGER
    expect(await store.grant(grantOf(id, most, 'all'))).toEqual({ balance: most, repeated: false })
    expect(await store.balance(id)).toBe(most)
    await expect(store.grant(grantOf(id, 1, 'one more'))).rejects.toMatchObject({ code: 'state_conflict' })
    expect(await store.balance(id)).toBe(most)
  })

  it('knows no balance of an unknown account', async () => {
    expect(await store.balance('acct_none')).toBeUndefined()
    expect(await store.getAccount('acct_none')).toBeUndefined()
    expect(await store.findKey(randomBytes(32))).toBeUndefined()
  })
})
