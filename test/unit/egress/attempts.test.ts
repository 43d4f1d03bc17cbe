import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { createAttemptLedger } from '../../../src/egress/attempts.ts'
import type { Config } from '../../../src/core/config.ts'
import { GatewayError } from '../../../src/core/errors.ts'
import { newId } from '../../../src/lib/ids.ts'
import { createLogger } from '../../../src/lib/log.ts'
import type { Store } from '../../../src/store/ports.ts'
import type { Attempt } from '../../../src/store/model.ts'
import { refusing, runRaw } from '../../support/raw-sql.ts'
import { seedAccount, seedCapability } from '../../support/seed.ts'
import { openTempStore, type TempStore } from '../../support/temp-store.ts'

let temp: TempStore
let accountId: string
let attempt: Attempt
/** Store commands that fail until they are taken out again. */
let failing: Set<keyof Store>
let store: Store

beforeEach(async () => {
  temp = await openTempStore()
  failing = new Set()
  store = new Proxy(temp.store, {
    get(target, name: keyof Store) {
      const member = target[name]
      if (typeof member !== 'function') return member
      return (...args: never[]) =>
        failing.has(name)
          ? Promise.reject(new GatewayError('store_unavailable', 'The store is away.'))
          : (member as (...given: never[]) => unknown).apply(target, args)
    },
  })
  accountId = await seedAccount(temp.store, 10)
  const { capability, credential } = await seedCapability(temp.store, accountId)
  attempt = {
    id: newId('att'),
    accountId,
    kind: 'fetch' as const,
    capabilityId: capability.id,
    permitId: null,
    credentialId: credential.id,
    credentialVersion: 1,
    state: 'reserved',
    method: 'POST',
    host: 'api.example.com',
    requestDigest: 'digest',
    idempotencyKey: 'key',
    createdAt: Date.now(),
    sendingAt: null,
    finishedAt: null,
    upstreamStatus: null,
    responseDigest: null,
    outcome: null,
    receiptId: null,
  }
  expect((await reserve(attempt)).ok).toBe(true)
})
const reserve = (one: Attempt, bootId = 'boot') =>
  store.reserveAttempt({
    attempt: one,
    bootId,
    transactionId: newId('txn'),
    cost: 1,
    isBudgeted: false,
    now: Date.now(),
  })
afterEach(() => temp.close())

const ledger = (given = store) =>
  createAttemptLedger({
    store: given,
    signer: {
      kid: 'k',
      environment: 'production',
      sign: (typ, payload) => `${typ} ${JSON.stringify(payload)}`,
    },
    baseUrl: 'https://gateway.example',
    bootId: 'boot',
    now: Date.now,
    log: createLogger('silent'),
  })
const delivered = {
  state: 'settled',
  outcome: 'delivered',
  upstreamStatus: 200,
  responseDigest: 'd',
  gate: 'clean',
} as const
const stored = async () => (await temp.store.getAttempt(attempt.id, accountId))!
const send = () => store.markSending({ id: attempt.id, bootId: 'boot', now: Date.now() })

it('writes an ending later when the store would not take it at once', async () => {
  const attempts = ledger()
  await send()
  failing.add('finishAttempt')
  await expect(attempts.finish(attempt, delivered)).rejects.toMatchObject({ code: 'store_unavailable' })
  await attempts.recover()
  expect((await stored()).state).toBe('sending')
  failing.clear()
  await attempts.recover()
  expect(await stored()).toMatchObject({ state: 'settled', outcome: 'delivered' })
  expect(await temp.store.getReceipt((await stored()).receiptId!)).toBeDefined()
})

it('does so without waiting for the next round, once the store is back', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const attempts = ledger()
  await send()
  failing.add('finishAttempt')
  await expect(attempts.finish(attempt, delivered)).rejects.toThrow()
  await vi.advanceTimersByTimeAsync(1000)
  expect((await stored()).state).toBe('sending')
  failing.clear()
  await vi.advanceTimersByTimeAsync(5000)
  await expect.poll(async () => (await stored()).state).toBe('settled')
})

it('gives a credit back later, once, when the store would not take the refund at once', async () => {
  const attempts = ledger()
  failing.add('refundAttempt')
  await expect(attempts.refund(attempt, 'dns_failed')).rejects.toMatchObject({ code: 'store_unavailable' })
  failing.clear()
  await attempts.recover()
  await attempts.recover()
  expect(await stored()).toMatchObject({ state: 'refunded', outcome: 'dns_failed' })
  expect(await temp.store.balance(accountId)).toBe(10)
})

describe('an attempt of which the store did not say whether it has it', () => {
  const away = async () => {
    throw new GatewayError('store_unavailable', 'The connection was lost.')
  }

  it.each(['reserved', 'sending'] as const)(
    'is refunded where it has it, %s: nothing was sent',
    async (state) => {
      if (state === 'sending') await send()
      const attempts = ledger()
      await expect(attempts.begin(attempt, away)).rejects.toMatchObject({ code: 'store_unavailable' })
      await attempts.recover()
      await attempts.recover()
      expect(await stored()).toMatchObject({ state: 'refunded', outcome: 'store_unavailable' })
      expect(await temp.store.balance(accountId)).toBe(10)
    },
  )

  it('is refunded where it turns up later, as from a database that stood still', async () => {
    const attempts = ledger()
    const [late, own] = [
      { ...attempt, id: newId('att') },
      { ...attempt, id: newId('att') },
    ]
    await attempts.begin(own, () => reserve(own))
    await expect(attempts.begin(late, away)).rejects.toThrow()
    for (let round = 0; round < 20; round++) await attempts.recover()
    expect((await reserve(late)).ok).toBe(true)
    await attempts.recover()
    expect((await temp.store.getAttempt(late.id, accountId))?.state).toBe('refunded')
    expect((await temp.store.getAttempt(own.id, accountId))?.state).toBe('reserved')
  })

  it('is refunded without waiting for the next round, once the store is back', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const attempts = ledger()
    failing.add('refundAttempt')
    await expect(attempts.begin(attempt, away)).rejects.toThrow()
    await vi.advanceTimersByTimeAsync(1000)
    expect((await stored()).state).toBe('reserved')
    failing.clear()
    await vi.advanceTimersByTimeAsync(5000)
    await expect.poll(async () => (await stored()).state).toBe('refunded')
  })

  it('is left alone where the store said that it has it', async () => {
    const attempts = ledger()
    expect(await attempts.begin(attempt, async () => ({ ok: true, balance: 9 }))).toEqual({
      ok: true,
      balance: 9,
    })
    await attempts.recover()
    expect((await stored()).state).toBe('reserved')
  })
})

it('leaves what it works on alone until its ending is written, however long that takes', async () => {
  const attempts = ledger()
  await attempts.begin(attempt, async () => ({ ok: true }))
  await send()
  for (let round = 0; round < 20; round++) await attempts.recover()
  expect((await stored()).state).toBe('sending')
  failing.add('finishAttempt')
  await expect(attempts.finish(attempt, delivered)).rejects.toThrow()
  for (let round = 0; round < 20; round++) await attempts.recover()
  expect((await stored()).state).toBe('sending')
  failing.clear()
  await attempts.recover()
  expect(await stored()).toMatchObject({ state: 'settled', outcome: 'delivered' })
})

it('keeps no hold of an attempt that the store refused: one that it has all the same is refunded', async () => {
  const attempts = ledger()
  await attempts.begin(attempt, async () => ({ ok: false }))
  await attempts.recover()
  expect((await stored()).state).toBe('refunded')
})

describe('one that the store refuses to give back', () => {
  const away = async () => {
    throw new GatewayError('store_unavailable', 'The connection was lost.')
  }
  const withAccount = async () => {
    const poor = await seedAccount(temp.store, 10)
    const { capability, credential } = await seedCapability(temp.store, poor)
    return { id: newId('att'), accountId: poor, capabilityId: capability.id, credentialId: credential.id }
  }
  const place = () => ({ config: { dataDir: temp.directory } as Config })

  it('keeps no other of a dead process from being settled, and is settled once it can be', async () => {
    const other = { ...attempt, ...(await withAccount()) }
    const dead = { ...attempt, id: newId('att') }
    await reserve(dead, 'dead')
    await reserve(other, 'dead')
    await runRaw(place(), refusing(accountId))
    const attempts = ledger()
    await attempts.begin(attempt, async () => ({ ok: true }))
    await attempts.recover()
    expect(await temp.store.balance(other.accountId)).toBe(10)
    expect((await temp.store.getAttempt(dead.id, accountId))?.state).toBe('reserved')
    await runRaw(place(), 'DROP TRIGGER refusing')
    await attempts.recover()
    expect((await temp.store.getAttempt(dead.id, accountId))?.state).toBe('refunded')
  })

  it('keeps no dead process from being recovered where it is of this one', async () => {
    const other = { ...attempt, ...(await withAccount()) }
    await reserve(other, 'dead')
    await runRaw(place(), refusing(accountId))
    const attempts = ledger()
    await expect(attempts.begin(attempt, away)).rejects.toThrow()
    await expect(attempts.recover()).rejects.toThrow()
    expect(await temp.store.balance(other.accountId)).toBe(10)
  })
})

it('shows nothing of an ending when another process took the attempt for dead', async () => {
  await send()
  await temp.store.recoverAttempts({ bootId: 'other', now: Date.now() })
  await expect(ledger().finish(attempt, delivered)).rejects.toThrow('somebody else')
  expect(await stored()).toMatchObject({ state: 'ambiguous', receiptId: null })
})

it('signs the missing receipt of an attempt that a crash left ambiguous, once', async () => {
  await send()
  await temp.store.recoverAttempts({ bootId: 'other', now: Date.now() })
  const attempts = ledger()
  await attempts.recover()
  const { receiptId } = await stored()
  const receipt = await temp.store.getReceipt(receiptId!)
  expect(JSON.parse(receipt!.jws.replace(/^\S+ /, ''))).toMatchObject({
    state: 'ambiguous',
    outcome: 'crashed',
  })
  await attempts.recover()
  expect((await stored()).receiptId).toBe(receiptId)
})

it.each<[Attempt['kind'], string[]]>([
  ['fetch', ['capability_id', 'credential_id', 'credential_version']],
  ['action', ['credential_id', 'credential_version', 'permit_id']],
  ['edge', []],
])(
  'names in the receipt of an attempt of kind %s on whose word it went out, and nobody else',
  async (kind, holders) => {
    const finishing = { finishAttempt: async () => ({ ok: true, balance: 1 }) } as unknown as Store
    const { receipt } = await ledger(finishing).finish({ ...attempt, kind }, delivered)
    const signed = JSON.parse(receipt.jws.slice(receipt.jws.indexOf('{'))) as Record<string, unknown>
    const always = 'action attempt_id charge iat iss jti outcome request response state times'.split(' ')
    expect(Object.keys(signed).toSorted()).toEqual([...always, ...holders].toSorted())
  },
)
