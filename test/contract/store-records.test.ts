// Published keys, A2A tasks, retention, opening and closing; on every engine.
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { GatewayError } from '../../src/core/errors.ts'
import { newId } from '../../src/lib/ids.ts'
import { TABLE_VERSION } from '../../src/store/migrations.ts'
import type { Store, StoredTask } from '../../src/store/ports.ts'
import { runRaw } from '../support/raw-sql.ts'
import {
  addAccount,
  addCapability,
  addSetting,
  createPlace,
  ending,
  ENGINES,
  NOW,
  type Place,
  reservation,
  times,
} from '../support/store.ts'

const DAY_MS = 24 * 3600 * 1000

const taskOf = (over: Partial<StoredTask> = {}): StoredTask => ({
  id: newId('task', NOW),
  contextId: 'context-1',
  owner: 'acct_owner',
  state: 'TASK_STATE_SUBMITTED',
  revision: 1,
  json: '{"id":"x","text":"grüße"}',
  updatedAt: NOW,
  expiresAt: NOW + DAY_MS,
  ...over,
})

describe.each(ENGINES)('records in %s', (engine) => {
  let place: Place
  let store: Store
  beforeAll(async () => {
    place = await createPlace(engine, 'records')
    store = await place.open('boot-1')
  })
  afterAll(() => place.remove())

  it('publishes a key once and keeps the time at which it was first retired', async () => {
    const key = { kid: 'k1', purpose: 'sign' as const, jwk: '{}', notBefore: NOW, retiredAt: null }
    await store.publishKey(key)
    await store.publishKey({ ...key, jwk: '{"other":1}' })
    await store.publishKey({ ...key, kid: 'k0', purpose: 'wrap', notBefore: NOW - 1 })
    await store.retireKey('k1', NOW + 1)
    await store.retireKey('k1', NOW + 2)
    const valid = { revokedAt: null, revocationReason: null }
    expect(await store.listPublishedKeys()).toEqual([
      { ...key, ...valid, kid: 'k0', purpose: 'wrap', notBefore: NOW - 1 },
      { ...key, ...valid, retiredAt: NOW + 1 },
    ])
  })

  it('retires the signing keys that are left, and keeps the first time and reason of a revocation', async () => {
    const key = { purpose: 'sign' as const, jwk: '{}', notBefore: NOW + 10, retiredAt: null }
    for (const kid of ['r1', 'r2', 'r3']) await store.publishKey({ ...key, kid })
    await store.publishKey({ ...key, kid: 'r4', purpose: 'wrap' })
    await store.retireKey('r1', NOW + 90)
    await store.retireSigningKeysBut('r3', NOW + 60)
    await store.retireKey('r1', NOW + 80)
    await store.revokeSigningKey('r2', 'stolen', NOW + 50)
    await store.revokeSigningKey('r2', 'again', NOW + 70)
    await store.revokeSigningKey('r4', 'no signing key', NOW + 50)
    const kept = (await store.listPublishedKeys()).filter(({ kid }) => kid.startsWith('r'))
    expect(
      kept.map(({ kid, retiredAt, revokedAt, revocationReason }) => [
        kid,
        retiredAt,
        revokedAt,
        revocationReason,
      ]),
    ).toEqual([
      ['r1', NOW + 80, null, null],
      ['r2', NOW + 50, NOW + 50, 'stolen'],
      ['r3', null, null, null],
      ['r4', null, null, null],
    ])
  })

  it('saves a task by compare-and-set on its revision', async () => {
    const task = taskOf()
    expect(await store.saveTask({ ...task, revision: 2 })).toBe(false)
    const created = await Promise.all(times(5, () => store.saveTask(task)))
    expect(created.filter(Boolean)).toHaveLength(1)
    expect(await store.getTask(task.id)).toEqual(task)
    const saved = await Promise.all(
      times(20, (i) => store.saveTask({ ...task, revision: 2, state: `S${i}`, updatedAt: NOW + 1 })),
    )
    expect(saved.filter(Boolean)).toHaveLength(1)
    expect(await store.getTask(task.id)).toEqual({
      ...task,
      revision: 2,
      state: `S${saved.indexOf(true)}`,
      updatedAt: NOW + 1,
    })
    expect(await store.saveTask({ ...task, revision: 4 })).toBe(false)
    expect(await store.getTask('task_none')).toBeUndefined()
    const anonymous = taskOf({ owner: null })
    await store.saveTask(anonymous)
    expect(await store.getTask(anonymous.id)).toEqual(anonymous)
  })

  it('lists the tasks of one owner, filtered, in pages, with the number of all that match', async () => {
    const owner = 'acct_lister'
    const tasks = times(5, (i) =>
      taskOf({
        id: newId('task', NOW + i),
        owner,
        contextId: i < 3 ? 'a' : 'b',
        state: i === 4 ? 'DONE' : 'OPEN',
        updatedAt: NOW + i,
      }),
    )
    for (const task of [...tasks, taskOf({ owner: 'acct_else' })]) await store.saveTask(task)
    const first = await store.listTasks({ owner }, { limit: 3 })
    expect(first).toEqual({ items: tasks.slice(2).toReversed(), next: expect.any(String), total: 5 })
    const second = await store.listTasks({ owner }, { limit: 3, before: first.next! })
    expect(second).toEqual({ items: tasks.slice(0, 2).toReversed(), next: null, total: 5 })
    const total = async (filter: object) => (await store.listTasks({ owner, ...filter }, { limit: 1 })).total
    expect(await total({ contextId: 'a' })).toBe(3)
    expect(await total({ state: 'DONE' })).toBe(1)
    expect(await total({ since: NOW + 3 })).toBe(2)
    expect(await total({ contextId: 'b', state: 'OPEN', since: NOW })).toBe(1)
    // The newest status comes first, not the newest task.
    await store.saveTask({ ...tasks[0]!, revision: 2, updatedAt: NOW + 9 })
    const again = await store.listTasks({ owner }, { limit: 2 })
    expect(again.items.map(({ id }) => id)).toEqual([tasks[0]!.id, tasks[4]!.id])
    const rest = await store.listTasks({ owner }, { limit: 9, before: again.next! })
    expect(rest.items.map(({ id }) => id)).toEqual([tasks[3]!.id, tasks[2]!.id, tasks[1]!.id])
  })

  it('sweeps every other kind where one cannot be swept, and says that', async () => {
    const held = taskOf({ expiresAt: NOW - 9 })
    await store.saveTask(held)
    const quote = {
      id: 'q_swept',
      jws: 'a.b.c',
      createdAt: NOW - 2 * DAY_MS,
      expiresAt: NOW - DAY_MS,
    }
    await store.saveQuote(quote)
    await runRaw(
      place,
      'CREATE TABLE holds (id TEXT REFERENCES tasks (id))',
      `INSERT INTO holds (id) VALUES ('${held.id}')`,
    )
    await expect(store.sweep(NOW - 9)).rejects.toThrow()
    expect(await place.query(`SELECT id FROM quotes WHERE id = '${quote.id}'`)).toEqual([])
    await runRaw(place, 'DROP TABLE holds')
    expect(await store.sweep(NOW - 9)).toMatchObject({ tasks: 1, quotes: 0 })
  })

  it('sweeps what retention allows, in pieces, and keeps ledger, receipts and what is not finished', async () => {
    const old = NOW - 31 * DAY_MS
    const setting = await addSetting(store, 20)
    const { accountId, credential } = setting
    const [finished, open] = times(2, () => reservation(setting, 'boot-1', { id: newId('att', old) }))
    const recent = reservation(setting, 'boot-1')
    for (const input of [finished!, open!, recent]) await store.reserveAttempt(input)
    const ends = [finished!, recent].map(({ attempt }, i) => ({
      ...ending(attempt, 'boot-1'),
      now: i === 0 ? old : NOW,
    }))
    for (const end of ends) {
      await store.markSending({ id: end.id, bootId: 'boot-1', now: end.now })
      expect(await store.finishAttempt(end)).toMatchObject({ ok: true })
    }
    const gone = await addCapability(store, credential, { expiresAt: old })
    const narrowed = await addCapability(store, credential, { parentId: gone.id, expiresAt: old })
    const kept = await addCapability(store, credential, { expiresAt: NOW - 1 })
    const doomed = times(1200, () => taskOf({ expiresAt: NOW }))
    const spared = taskOf({ expiresAt: NOW + 1 })
    await Promise.all([...doomed, spared].map((task) => store.saveTask(task)))

    expect(await store.sweep(NOW)).toMatchObject({ tasks: 1200, attempts: 1, capabilities: 2 })
    expect(await store.sweep(NOW)).toMatchObject({ tasks: 0, attempts: 0, capabilities: 0 })
    expect(await store.getAttempt(finished!.attempt.id, accountId)).toBeUndefined()
    expect(await store.getAttempt(open!.attempt.id, accountId)).toBeDefined()
    expect(await store.getAttempt(recent.attempt.id, accountId)).toBeDefined()
    expect(await store.getReceipt(ends[0]!.receipt.id)).toEqual(ends[0]!.receipt)
    expect((await store.ledger(accountId, { limit: 10 })).items).toHaveLength(4)
    expect(await store.findCapability(narrowed.tokenHash)).toBeUndefined()
    expect(await store.findCapability(kept.tokenHash)).toBeDefined()
    expect(await store.getTask(doomed[0]!.id)).toBeUndefined()
    expect(await store.getTask(spared.id)).toEqual(spared)
  })

  it('reports health with the engine and a latency', async () => {
    const health = await store.health()
    expect(health).toMatchObject({ ok: true, detail: expect.stringMatching(/SQLite|PostgreSQL/) as string })
    expect(health.latencyMs).toBeGreaterThan(0)
    expect(store.engine).toBe(engine)
  })

  it('never lets a word of the driver out', async () => {
    const keyHash = randomBytes(32)
    const key = (id: string) => ({
      id: newId('key', NOW),
      accountId: id,
      label: 'x',
      admin: false,
      role: 'operator' as const,
      createdAt: NOW,
      revokedAt: null,
    })
    const id = await addAccount(store, 0)
    await store.addKey({ key: key(id), keyHash })
    const failures = await Promise.allSettled([
      store.addKey({ key: key(id), keyHash }),
      store.saveTask({ ...taskOf(), json: null as unknown as string }),
    ])
    for (const failure of failures) {
      const reason = failure.status === 'rejected' ? (failure.reason as unknown) : undefined
      expect(reason).toBeInstanceOf(GatewayError)
      expect((reason as Error).message).not.toMatch(/constraint|unique|null|bind|tasks|service_keys/i)
    }
  })
})

describe.each(ENGINES)('opening and closing in %s', (engine) => {
  let place: Place
  beforeAll(async () => {
    place = await createPlace(engine, 'opening')
  })
  afterAll(() => place.remove())

  it('keeps everything over a close and opens migrated data as it is', async () => {
    const first = await place.open('boot-1')
    const accountId = await addAccount(first, 42)
    await first.close()
    const second = await place.open('boot-2')
    expect(await second.balance(accountId)).toBe(42)
    expect(await place.query('SELECT version FROM migrations')).toHaveLength(TABLE_VERSION)
    await second.close()
  })

  it('finishes what is queued before it closes and refuses what comes later', async () => {
    const store = await place.open('boot-3')
    const accountId = await addAccount(store, 0)
    const grants = times(50, (i) =>
      store.grant({ accountId, amount: 1, reference: `r${i}`, transactionId: newId('txn', NOW), now: NOW }),
    )
    const closed = store.close()
    expect((await Promise.all(grants)).every((grant) => grant?.repeated === false)).toBe(true)
    await closed
    await store.close()
    await expect(store.balance(accountId)).rejects.toMatchObject({ code: 'store_unavailable' })
    await expect(store.sweep(NOW)).rejects.toMatchObject({ code: 'store_unavailable' })
    expect(await store.health()).toMatchObject({ ok: false })
  })

  it('refuses a database of a newer release and says so', async () => {
    const own = await createPlace(engine, 'newer')
    try {
      await (await own.open()).close()
      if (engine === 'sqlite') {
        const { DatabaseSync } = await import('node:sqlite')
        const db = new DatabaseSync(`${own.config.dataDir}/gateway.db`)
        db.exec('INSERT INTO migrations (version, applied_at) VALUES (999, 0)')
        db.close()
      } else await own.query('INSERT INTO migrations (version, applied_at) VALUES (999, 0)')
      await expect(own.open()).rejects.toThrow(/version 999.*newer release/)
    } finally {
      await own.remove()
    }
  })
})

describe('the owner of a data directory', () => {
  it('is one process: a second opener is told which directory and what to do, and the first goes on', async () => {
    const place = await createPlace('sqlite')
    try {
      const first = await place.open()
      await expect(place.open()).rejects.toThrow(
        /GATEWAY_DATA_DIR: .*gateway-store-.* is in use .*GATEWAY_DATABASE_URL/s,
      )
      const accountId = await addAccount(first, 3)
      expect(await first.balance(accountId)).toBe(3)
      await first.close()
      const next = await place.open()
      expect(await next.balance(accountId)).toBe(3)
    } finally {
      await place.remove()
    }
  })
})

describe('several processes that open one empty PostgreSQL database at once', () => {
  it('migrate it once', async () => {
    const place = await createPlace('postgres', 'migration')
    try {
      const stores = await Promise.all(times(4, () => place.open()))
      expect(await place.query('SELECT version FROM migrations')).toHaveLength(TABLE_VERSION)
      const accountId = await addAccount(stores[0]!, 3)
      expect(await stores[3]!.balance(accountId)).toBe(3)
    } finally {
      await place.remove()
    }
  })

  it('names host and port, never the password, when the server is not there', async () => {
    const { openStore } = await import('../../src/store/index.ts')
    const { loadConfig } = await import('../../src/app/config.ts')
    const { log } = await import('../support/store.ts')
    const config = loadConfig({ GATEWAY_DATABASE_URL: 'postgres://user:hunter2@127.0.0.1:1/none' })
    const opening = openStore({ config, log, bootId: 'boot' })
    await expect(opening).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringMatching(/^(?!.*hunter2).*127\.0\.0\.1:1/s) as string,
    })
  })
})
