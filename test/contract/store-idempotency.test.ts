// Keys of callers on both engines: one attempt at most under each, its answer with its end, and when a key is free again.
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { MAX_KEPT_BYTES } from '../../src/store/commands/kept-answers.ts'
import type { KeyClaim, Store } from '../../src/store/ports.ts'
import {
  addCapability,
  addSetting,
  createPlace,
  ending,
  ENGINES,
  nextTransaction,
  NOW,
  type Place,
  receiptFor,
  reservation,
  sumOfLedger,
  times,
  unbalancedAccounts,
  usesOf,
} from '../support/store.ts'
import { addGrant, addPermit, execution } from '../support/store-actions.ts'

const BOOT = 'boot-1'
const DAY_MS = 24 * 3600 * 1000
let keys = 0
const claimOf = (over: Partial<KeyClaim> = {}): KeyClaim => ({
  keyHash: `key-${++keys}`,
  maxBytes: 1_048_576,
  ...over,
})
const sealed = Buffer.from('sealed answer')

describe.each(ENGINES)('idempotency keys in %s', (engine) => {
  let place: Place
  let store: Store
  /** A replica where the engine has any. */
  let other: Store
  beforeAll(async () => {
    place = await createPlace(engine, 'idempotency')
    store = await place.open(BOOT)
    other = engine === 'postgres' ? await place.open('boot-2') : store
  })
  afterAll(async () => {
    expect(await sumOfLedger(place)).toBe(0)
    expect(await unbalancedAccounts(place)).toEqual([])
    await place.remove()
  })

  const reserve = (setting: Parameters<typeof reservation>[0], once: KeyClaim, state?: 'sending') =>
    store.reserveAttempt({ ...reservation(setting, BOOT, state && { state, sendingAt: NOW }), once })
  const keptBytes = async (accountId: string) => {
    const [row] = await place.query(`SELECT bytes FROM kept_bytes WHERE account_id = '${accountId}'`)
    return Number(row?.['bytes'] ?? 0)
  }
  const setKeptBytes = async (accountId: string, bytes: number) => {
    const text = `UPDATE kept_bytes SET bytes = ${bytes} WHERE account_id = '${accountId}'`
    if (engine === 'postgres') return void (await place.query(text))
    const db = new DatabaseSync(join(place.config.dataDir, 'gateway.db'), { timeout: 5000 })
    db.exec(text)
    db.close()
  }
  const refund = (id: string, bootId = BOOT) =>
    store.refundAttempt({
      id,
      bootId,
      outcome: 'dns_failed',
      transactionId: nextTransaction(),
      now: NOW,
    })

  it('makes one attempt of two hundred reservations at once, whichever process makes them', async () => {
    const setting = await addSetting(store, 100)
    const once = claimOf()
    const bootOf = (i: number) => (i % 2 === 0 ? BOOT : 'boot-2')
    const results = await Promise.all(
      times(200, (i) => {
        const by = i % 2 === 0 ? store : other
        return by.reserveAttempt({ ...reservation(setting, bootOf(i)), once })
      }),
    )
    expect(results.filter(({ ok }) => ok)).toHaveLength(1)
    const boot = bootOf(results.findIndex(({ ok }) => ok))
    const repeated = results.flatMap((result) =>
      !result.ok && result.reason === 'repeated' ? [result.record] : [],
    )
    expect(repeated).toHaveLength(199)
    expect(new Set(repeated.map(({ attempt }) => attempt.id)).size).toBe(1)
    expect(repeated[0]).toMatchObject({ attempt: { state: 'reserved' }, answer: null, balance: 99 })
    const { keyHash } = once
    expect(await store.findKeyRecord({ keyHash, now: NOW })).toEqual(repeated[0])
    expect(await store.findKeyRecord({ ...claimOf(), now: NOW })).toBeUndefined()
    expect(await usesOf(store, setting.capability)).toBe(1)
    // Only the process that has it in hand gives it back, and either may be the first.
    expect(await refund(repeated[0]!.attempt.id, boot)).toMatchObject({ ok: true })
    expect(await store.findKeyRecord({ keyHash, now: NOW })).toBeUndefined()
    expect(await store.balance(setting.accountId)).toBe(100)
    expect(await usesOf(store, setting.capability)).toBe(0)
  })

  it('keeps the answer with the end of its attempt, and tells it before it asks for uses or credits', async () => {
    const setting = await addSetting(store, 1)
    const capability = await addCapability(store, setting.credential, { maxUses: 1 })
    const once = claimOf()
    const input = {
      ...reservation({ ...setting, capability }, BOOT, { state: 'sending', sendingAt: NOW }),
      once,
    }
    expect(await store.reserveAttempt(input)).toEqual({ ok: true, balance: 0 })
    const end = { ...ending(input.attempt, BOOT), answer: sealed }
    expect(await store.finishAttempt(end)).toEqual({ ok: true, balance: 0 })

    const again = await reserve({ ...setting, capability }, once)
    if (again.ok || again.reason !== 'repeated') throw new Error('not a repeat')
    const { answer, ...record } = again.record
    expect(Buffer.from(answer ?? [])).toEqual(sealed)
    expect(record).toEqual({
      maxBytes: once.maxBytes,
      replayReceiptId: null,
      balance: 0,
      attempt: await store.getAttempt(input.attempt.id, setting.accountId),
    })
    expect(await reserve({ ...setting, capability }, claimOf())).toEqual({
      ok: false,
      reason: 'capability_used_up',
    })
  })

  it('keeps no answer of an attempt that somebody else ended, nor a second one', async () => {
    const setting = await addSetting(store, 5)
    const [mine, theirs] = [claimOf(), claimOf()]
    const input = { ...reservation(setting, BOOT, { state: 'sending', sendingAt: NOW }), once: mine }
    await store.reserveAttempt(input)
    const other = { ...reservation(setting, BOOT, { state: 'sending', sendingAt: NOW }), once: theirs }
    await store.reserveAttempt(other)
    await store.finishAttempt(ending(input.attempt, BOOT))
    expect(await store.finishAttempt({ ...ending(input.attempt, BOOT), answer: sealed })).toMatchObject({
      ok: false,
    })
    expect(await store.finishAttempt({ ...ending(other.attempt, 'boot-9'), answer: sealed })).toMatchObject({
      ok: false,
    })
    for (const once of [mine, theirs])
      expect(await reserve(setting, once)).toMatchObject({ reason: 'repeated', record: { answer: null } })
    expect(await keptBytes(setting.accountId)).toBe(0)
  })

  it('keeps answers up to so many bytes of an account, and again once they are over', async () => {
    const setting = await addSetting(store, 9)
    const neighbour = await addSetting(store, 9)
    const finish = async (of: typeof setting, bytes: number) => {
      const once = claimOf()
      const input = { ...reservation(of, BOOT, { state: 'sending', sendingAt: NOW }), once }
      await store.reserveAttempt(input)
      const ended = await store.finishAttempt({
        ...ending(input.attempt, BOOT),
        answer: Buffer.alloc(bytes, 7),
      })
      const again = await reserve(of, once)
      return { ended, answer: again.ok || again.reason !== 'repeated' ? undefined : again.record.answer }
    }
    expect(await finish(setting, 5)).toMatchObject({ ended: { ok: true, balance: 8 }, answer: { length: 5 } })
    await setKeptBytes(setting.accountId, MAX_KEPT_BYTES - 10)
    expect(await finish(setting, 11)).toEqual({
      ended: { ok: true, balance: 7, isAnswerKept: false },
      answer: null,
    })
    expect((await finish(neighbour, 11)).answer).toHaveLength(11)
    expect(await finish(setting, 10)).toMatchObject({
      ended: { ok: true, balance: 6 },
      answer: { length: 10 },
    })
    expect((await finish(setting, 1)).ended).toMatchObject({ isAnswerKept: false })
    expect(await keptBytes(setting.accountId)).toBe(MAX_KEPT_BYTES)

    await store.sweep(NOW + DAY_MS - 1)
    expect(await keptBytes(setting.accountId)).toBe(MAX_KEPT_BYTES)
    await store.sweep(NOW + DAY_MS)
    expect(await keptBytes(setting.accountId)).toBe(MAX_KEPT_BYTES - 15)
    expect(await keptBytes(neighbour.accountId)).toBe(0)
    expect(await place.query('SELECT attempt_id FROM kept_answers')).toEqual([])
    expect((await finish(setting, 5)).ended).toEqual({ ok: true, balance: 4 })
  })

  it('frees the key of what was refused or refunded, and of nothing else before its time', async () => {
    const poor = await addSetting(store, 1)
    const refused = claimOf()
    await reserve(poor, claimOf())
    expect(await reserve(poor, refused)).toMatchObject({ reason: 'credits' })
    await store.grant({
      accountId: poor.accountId,
      amount: 5,
      reference: 'more',
      transactionId: nextTransaction(),
      now: NOW,
    })
    expect(await reserve(poor, refused)).toMatchObject({ ok: true })

    const plain = await addSetting(store, 9)
    const capability = await addCapability(store, plain.credential, { expiresAt: NOW + 9 * DAY_MS })
    const setting = { ...plain, capability }
    const once = claimOf()
    const input = { ...reservation(setting, BOOT), once }
    await store.reserveAttempt(input)
    await refund(input.attempt.id)
    const second = {
      ...reservation(setting, BOOT, { state: 'sending', sendingAt: NOW }),
      once: { ...once, maxBytes: 9 },
    }
    expect(await store.reserveAttempt(second)).toMatchObject({ ok: true })
    expect(await reserve(setting, once)).toMatchObject({
      record: { maxBytes: 9, attempt: { id: second.attempt.id } },
    })

    await store.finishAttempt(ending(second.attempt, BOOT))
    const late = NOW + DAY_MS
    expect(await store.reserveAttempt({ ...reservation(setting, BOOT), once, now: late - 1 })).toMatchObject({
      reason: 'repeated',
    })
    expect(await store.reserveAttempt({ ...reservation(setting, BOOT), once, now: late })).toMatchObject({
      ok: true,
    })
  })

  it('frees the key of an answer by which its upstream put the call off, for one call, where the claim says so', async () => {
    const setting = await addSetting(store, 99)
    const plain = claimOf()
    const once = { ...plain, freedBy: [409, 429] }
    const send = async (status: number, kind?: 'ambiguous') => {
      const input = { ...reservation(setting, BOOT, { state: 'sending', sendingAt: NOW }), once }
      expect(await store.reserveAttempt(input)).toMatchObject({ ok: true })
      await store.finishAttempt({ ...ending(input.attempt, BOOT, kind), upstreamStatus: status })
      return input.attempt.id
    }
    const putOff = await send(429)
    expect(await reserve(setting, plain)).toMatchObject({ record: { attempt: { id: putOff } } })
    expect(await store.findKeyRecord({ ...plain, now: NOW })).toMatchObject({ attempt: { id: putOff } })
    expect(await store.findKeyRecord({ ...once, now: NOW })).toBeUndefined()
    const results = await Promise.all(
      times(20, (i) => (i % 2 === 0 ? store : other).reserveAttempt({ ...reservation(setting, BOOT), once })),
    )
    expect(results.filter(({ ok }) => ok)).toHaveLength(1)
    const [held] = results.flatMap((result) =>
      !result.ok && result.reason === 'repeated' ? [result.record.attempt] : [],
    )
    await refund(held!.id)
    // What broke off after such a head may be anything.
    const broken = await send(409, 'ambiguous')
    expect(await reserve(setting, once)).toMatchObject({ record: { attempt: { id: broken } } })
  })

  it('holds the key of an ambiguous attempt past its time and past the sweep', async () => {
    const setting = await addSetting(store, 9)
    const [lost, done] = [claimOf(), claimOf()]
    const input = { ...reservation(setting, BOOT, { state: 'sending', sendingAt: NOW }), once: lost }
    await store.reserveAttempt(input)
    await store.finishAttempt(ending(input.attempt, BOOT, 'ambiguous'))
    const other = { ...reservation(setting, BOOT, { state: 'sending', sendingAt: NOW }), once: done }
    await store.reserveAttempt(other)
    await store.finishAttempt({ ...ending(other.attempt, BOOT), answer: sealed })

    await store.sweep(NOW + DAY_MS)
    expect(
      await store.reserveAttempt({ ...reservation(setting, BOOT), once: lost, now: NOW + 2 * DAY_MS }),
    ).toMatchObject({
      reason: 'repeated',
      record: { attempt: { state: 'ambiguous' } },
    })
    const rows = await place.query(
      `SELECT attempt_id FROM kept_answers WHERE attempt_id IN ('${input.attempt.id}', '${other.attempt.id}')`,
    )
    expect(rows).toEqual([])
  })

  it('holds the key of what an operator says has happened, whenever that was decided', async () => {
    const plain = await addSetting(store, 9)
    const setting = {
      ...plain,
      capability: await addCapability(store, plain.credential, { expiresAt: NOW + 9 * DAY_MS }),
    }
    const decide = async (decision: 'happened' | 'did_not_happen') => {
      const once = claimOf()
      const input = { ...reservation(setting, BOOT, { state: 'sending', sendingAt: NOW }), once }
      await store.reserveAttempt(input)
      await store.finishAttempt(ending(input.attempt, BOOT, 'ambiguous'))
      await store.reconcileAttempt({
        id: input.attempt.id,
        decision,
        outcome: `reconciled_${decision}`,
        reason: 'looked it up',
        decidedBy: 'key_1',
        receipt: receiptFor(setting.accountId),
        transactionId: nextTransaction(),
        now: NOW + 2 * DAY_MS,
      })
      return store.reserveAttempt({ ...reservation(setting, BOOT), once, now: NOW + 3 * DAY_MS })
    }
    expect(await decide('happened')).toMatchObject({
      reason: 'repeated',
      record: { answer: null, attempt: { state: 'settled', outcome: 'reconciled_happened' } },
    })
    expect(await decide('did_not_happen')).toMatchObject({ ok: true })
  })

  it('stores one receipt of a repeat, and names it to whoever comes later', async () => {
    const setting = await addSetting(store, 9)
    const once = claimOf()
    const input = { ...reservation(setting, BOOT), once }
    await store.reserveAttempt(input)
    const ids = { attemptId: input.attempt.id }
    const [first, second] = [receiptFor(setting.accountId), receiptFor(setting.accountId)]
    expect(await store.keepReplayReceipt({ ...ids, receipt: first })).toBe(first.id)
    expect(await store.keepReplayReceipt({ ...ids, receipt: second })).toBe(first.id)
    expect(await store.getReceipt(first.id)).toEqual(first)
    expect(await store.getReceipt(second.id)).toBeUndefined()
    expect(await store.keepReplayReceipt({ attemptId: 'none', receipt: second })).toBeUndefined()
    expect(await reserve(setting, once)).toMatchObject({ record: { replayReceiptId: first.id } })
  })

  it('tells copies of the one use of a permit or a capability that they are repeats, not that it is used up', async () => {
    const grant = await addGrant(store, 10)
    const permit = await addPermit(store, grant)
    const [once, lastKey] = [claimOf(), claimOf()]
    const input = { ...execution(permit, BOOT), once }
    const last = await addCapability(store, (await addSetting(store, 1)).credential, { maxUses: 1 })
    const uses = await Promise.all(
      times(20, () =>
        store.reserveAttempt({
          ...reservation(
            { accountId: last.accountId, credential: { id: last.credentialId ?? '' }, capability: last },
            BOOT,
          ),
          once: lastKey,
        }),
      ),
    )
    expect(uses.filter((result) => !result.ok && result.reason === 'repeated')).toHaveLength(19)

    const results = await Promise.all(
      times(20, () => store.reserveAction({ ...execution(permit, BOOT), once })),
    )
    expect(results.filter(({ ok }) => ok)).toHaveLength(1)
    expect(results.filter((result) => !result.ok && result.reason === 'repeated')).toHaveLength(19)
    expect(await store.reserveAction({ ...input, once: claimOf() })).toMatchObject({ reason: 'permit' })
  })
})
