// What PostgreSQL does beside the statements: locks that others hold, settings of a database, connections that fail.
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { all, first } from '../../src/store/command.ts'
import { createPool, type Pool, runDirect, runTransaction } from '../../src/store/postgres/pool.ts'
import { openStore } from '../../src/store/index.ts'
import { openPostgresStore } from '../../src/store/postgres/store.ts'
import type { Store } from '../../src/store/ports.ts'
import {
  addSetting,
  createPlace,
  ending,
  log,
  newClaim,
  nextTransaction,
  NOW,
  type Place,
  receiptFor,
  reservation,
  type Setting,
  times,
} from '../support/store.ts'

const BOOT = 'boot-1'

let place: Place
let store: Store
let pool: Pool
beforeAll(async () => {
  place = await createPlace('postgres', 'postgres')
  store = await place.open(BOOT)
  pool = createPool({ url: place.config.databaseUrl! }, log, 1)
})
afterAll(async () => {
  await pool.end()
  await place.remove()
})

describe('locks of others', () => {
  it('whoever inserts rows that name an account keeps nobody from paying, that account or another', async () => {
    const [busy, other] = [await addSetting(store, 50), await addSetting(store, 50)]
    const inserting = new pg.Client({ connectionString: place.config.databaseUrl })
    await inserting.connect()
    try {
      // What every insertion of a capability, a key or a mandate does until it is committed.
      await inserting.query('BEGIN')
      await inserting.query('SELECT 1 FROM accounts WHERE id = $1 FOR KEY SHARE', [busy.accountId])
      const reserved = times(8, (i) => store.reserveAttempt(reservation(i % 2 === 0 ? busy : other, BOOT)))
      expect((await Promise.all(reserved)).every(({ ok }) => ok)).toBe(true)
      const debit = {
        accountId: busy.accountId,
        amount: 2,
        transactionId: nextTransaction(),
        bootId: BOOT,
        reference: 'call',
        now: NOW,
      }
      expect(await store.debitCredits(debit)).toEqual({ ok: true, balance: 44 })
    } finally {
      await inserting.end()
    }
  })
})

describe('a row that somebody keeps locked', () => {
  it.each([
    [
      'an account',
      'SELECT 1 FROM accounts WHERE id = $1 FOR UPDATE',
      ({ accountId }: Setting) => accountId,
      0,
    ],
    [
      'a capability',
      'SELECT 1 FROM capabilities WHERE id = $1 FOR UPDATE',
      ({ capability }: Setting) => capability.id,
      30,
    ],
  ])(
    'keeps nobody waiting but those who want %s, and them no longer than it is locked',
    async (_name, lock, idOf, mayGoOn) => {
      const locked = await addSetting(store, 500)
      const others = await Promise.all(times(5, () => addSetting(store, 500)))
      const blocker = new pg.Client({ connectionString: place.config.databaseUrl })
      await blocker.connect()
      let answered = 0
      /** A call of each way that there is: under a caller's key, a fetch like any other, and a priced call. */
      async function pay(setting: Setting, way: number): Promise<void> {
        const { accountId } = setting
        if (way === 2) {
          const transactionId = nextTransaction()
          const debit = { accountId, amount: 1, transactionId, bootId: BOOT, reference: 'call', now: NOW }
          expect((await store.debitCredits(debit)).ok).toBe(true)
          expect(await store.settleDebit({ transactionId, receipt: receiptFor(accountId) })).toBe(true)
        } else {
          const input = reservation(setting, BOOT, { state: 'sending', sendingAt: NOW })
          const once = way === 0 ? { keyHash: input.attempt.id, maxBytes: 1000 } : undefined
          expect((await store.reserveAttempt({ ...input, once })).ok).toBe(true)
          expect((await store.finishAttempt(ending(input.attempt, BOOT))).ok).toBe(true)
        }
        if (setting === locked) answered++
      }
      try {
        await blocker.query('BEGIN')
        await blocker.query(lock, [idOf(locked)])
        const waiting = times(90, (i) => pay(locked, i % 3))
        // Nobody of them has been answered when all of these have been, round after round.
        for (let round = 0; round < 10; round++)
          await Promise.all([...others, ...others].map((setting, i) => pay(setting, (i + round) % 3)))
        expect(answered).toBeLessThanOrEqual(mayGoOn)
        await blocker.query('ROLLBACK')
        await Promise.all(waiting)
      } finally {
        await blocker.end()
      }
      expect(await store.balance(locked.accountId)).toBe(500 - 90)
      for (const { accountId } of others) expect(await store.balance(accountId)).toBe(500 - 20)
    },
  )
})

describe.each(['straight', 'through a pooler'])(
  'rows of many accounts that somebody keeps locked, %s',
  (way) => {
    const MANY = 12
    let serving: Store
    let blocker: pg.Client
    beforeAll(async () => {
      const url = place.config.databaseUrl!
      // A pooler lets no session have settings of its own.
      const address = { url, directUrl: way === 'straight' ? undefined : url }
      serving = await openPostgresStore({ address, log, bootId: `boot-${way}`, waitMs: 60_000 })
    })
    afterAll(() => serving.close())
    beforeEach(async () => {
      blocker = new pg.Client({ connectionString: place.config.databaseUrl })
      await blocker.connect()
      await blocker.query('BEGIN')
    })
    afterEach(() => blocker.end())

    /** Every way that a call goes, and nobody of `blocked` has heard anything when all of these have been answered. */
    async function expectOthersGoOn(blocked: readonly Promise<unknown>[]): Promise<void> {
      let ended = 0
      const note = () => void ended++
      const settled = Promise.all(blocked.map((each) => each.then(note, note)))
      const others = await Promise.all(times(3, () => addSetting(serving, 500)))
      for (let round = 0; round < 5; round++) {
        await Promise.all(others.flatMap((setting) => times(4, (kind) => callOf(setting, kind, round))))
        expect(await serving.health()).toMatchObject({ ok: true })
      }
      await serving.recoverDebits({ bootId: `boot-${way}`, now: NOW })
      expect(ended).toBe(0)
      await blocker.query('ROLLBACK')
      await settled
    }
    function callOf(setting: Setting, kind: number, round: number): Promise<unknown> {
      const { accountId } = setting
      const [transactionId, reference] = [nextTransaction(), `call ${round}`]
      const input = reservation(setting, `boot-${way}`, { state: 'sending', sendingAt: NOW })
      switch (kind) {
        case 0:
          return serving.debitCredits({
            accountId,
            amount: 1,
            transactionId,
            bootId: `boot-${way}`,
            reference,
            now: NOW,
          })
        case 1:
          return serving.grant({ accountId, amount: 1, transactionId, reference, now: NOW })
        case 2:
          return serving.reserveAttempt({ ...input, once: { keyHash: input.attempt.id, maxBytes: 1000 } })
        default:
          return serving.reserveAttempt(input)
      }
    }

    it('keep nobody else waiting, whichever way the calls go', async () => {
      const locked = await Promise.all(times(MANY, () => addSetting(serving, 500)))
      const ids = locked.map(({ accountId }) => accountId)
      await blocker.query('SELECT 1 FROM accounts WHERE id = ANY ($1) FOR UPDATE', [ids])
      const blocked = locked.flatMap((setting) => times(8, (n) => callOf(setting, n % 4, n)))
      await expectOthersGoOn(blocked)
      for (const { accountId } of locked) expect(await serving.balance(accountId)).toBe(500 - 4)
    })

    it('nor do those of statements that stand alone', async () => {
      const tasks = times(40, (i) => ({
        id: `task_${way}_${i}`,
        contextId: 'context',
        owner: null,
        state: 'working',
        revision: 1,
        json: '{}',
        updatedAt: NOW,
        expiresAt: NOW + 1000,
      }))
      for (const task of tasks) expect(await serving.saveTask(task)).toBe(true)
      await blocker.query('SELECT 1 FROM tasks WHERE id = ANY ($1) FOR UPDATE', [tasks.map(({ id }) => id)])
      await expectOthersGoOn(tasks.map((task) => serving.saveTask({ ...task, revision: 2 })))
    })

    it('nor does who holds what everybody who changes access wants', async () => {
      await blocker.query('SELECT 1 FROM access_version FOR UPDATE')
      await Promise.all(times(30, () => addSetting(serving, 0)))
      const keys = await place.query('SELECT id, account_id AS account FROM service_keys')
      await expectOthersGoOn(
        keys.map(({ id, account }) =>
          serving.revokeKey({ id: String(id), accountId: String(account), now: NOW }),
        ),
      )
    })
  },
)

it('reads for one account on a few connections, and leaves the others to everybody else', async () => {
  const { accountId } = await addSetting(store, 9)
  const blocker = new pg.Client({ connectionString: place.config.databaseUrl })
  await blocker.connect()
  try {
    await blocker.query('BEGIN')
    await blocker.query('LOCK TABLE ledger_entries IN ACCESS EXCLUSIVE MODE')
    const asked = times(30, () => store.ledger(accountId, { limit: 1 }))
    const waiting = `SELECT count(*)::int AS count FROM pg_stat_activity
      WHERE wait_event_type = 'Lock' AND query LIKE '%FROM ledger_entries%' AND datname = current_database()`
    const counts: number[] = []
    const look = async () => {
      counts.push(Number((await runDirect(pool, () => first<{ count: number }>(waiting)))!.count))
      return counts.length
    }
    await expect.poll(look).toBeGreaterThanOrEqual(20)
    // Four that try for the first time, and one that tries again.
    expect(Math.max(...counts)).toBeGreaterThan(0)
    expect(Math.max(...counts)).toBeLessThanOrEqual(5)
    await blocker.query('ROLLBACK')
    expect((await Promise.all(asked)).map(({ items }) => items.length)).toEqual(times(30, () => 1))
  } finally {
    await blocker.end()
  }
})

it('debits once for a transaction that two processes ask for while its account is locked', async () => {
  const other = await place.open('boot-2')
  const { accountId } = await addSetting(store, 9)
  const transactionId = nextTransaction()
  const debit = { accountId, amount: 4, transactionId, bootId: BOOT, reference: 'call', now: NOW }
  const blocker = new pg.Client({ connectionString: place.config.databaseUrl })
  await blocker.connect()
  try {
    await blocker.query('BEGIN')
    await blocker.query('SELECT 1 FROM accounts WHERE id = $1 FOR UPDATE', [accountId])
    // Each has looked for an earlier debit before it waits for the row.
    const asked = [store.debitCredits(debit), other.debitCredits(debit)]
    const waiting = `SELECT count(*) AS count FROM pg_stat_activity
      WHERE wait_event_type = 'Lock' AND query LIKE '%reference text%' AND datname = current_database()`
    await expect.poll(() => runDirect(pool, () => first<{ count: number }>(waiting))).toEqual({ count: 2 })
    await blocker.query('ROLLBACK')
    expect(await Promise.all(asked)).toEqual(times(2, () => ({ ok: true, balance: 5 })))
  } finally {
    await blocker.end()
  }
  expect(await store.balance(accountId)).toBe(5)
})

describe('a database with settings of its own', () => {
  /** A database whose transactions see what stood when they began, unless they say otherwise. */
  async function strictPlace(): Promise<Place> {
    const strict = await createPlace('postgres', 'isolation')
    const client = new pg.Client({ connectionString: strict.config.databaseUrl })
    await client.connect()
    const name = new URL(strict.config.databaseUrl!).pathname.slice(1)
    await client.query(`ALTER DATABASE ${name} SET default_transaction_isolation = 'repeatable read'`)
    await client.end()
    return strict
  }

  it('bounds what one payer claims also where its default is another isolation, and sessions have that', async () => {
    const strict = await strictPlace()
    try {
      // As behind a pooler, which lets no session have settings of its own.
      const databaseDirectUrl = strict.config.databaseUrl!
      const unset = await openStore({ config: { ...strict.config, databaseDirectUrl }, log, bootId: BOOT })
      try {
        // The first ones open the connections, and come one after the other.
        for (let round = 0; round < 4; round++) {
          const { payer } = newClaim()
          const claims = await Promise.all(
            times(16, () => unset.claimPayment({ claim: newClaim({ payer }), bootId: BOOT, maxOpen: 1 })),
          )
          expect(claims.filter(({ ok }) => ok)).toHaveLength(1)
        }
      } finally {
        await unset.close()
      }
    } finally {
      await strict.remove()
    }
  })

  it('lets statements alone wait for each other also where its default is another isolation', async () => {
    const strict = await strictPlace()
    const session = createPool({ url: strict.config.databaseUrl! }, log, 1)
    try {
      const level = () => first("SELECT current_setting('transaction_isolation') AS level")
      expect(await runDirect(session, level)).toEqual({ level: 'read committed' })
      const own = await strict.open(BOOT)
      const setting = await addSetting(own, 20)
      const reserved = await Promise.all(times(40, () => own.reserveAttempt(reservation(setting, BOOT))))
      expect(reserved.filter(({ ok }) => ok)).toHaveLength(20)
    } finally {
      await session.end()
      await strict.remove()
    }
  })

  it('lets a transaction wait for a lock with an end also behind a pooler, where nothing else ends a statement', async () => {
    const url = place.config.databaseUrl!
    const through = createPool({ url, directUrl: url }, log, 1)
    try {
      const limit = (name: string) => first(`SELECT current_setting('${name}') AS limit`)
      expect(await runTransaction(through, () => limit('statement_timeout'))).toEqual({ limit: '0' })
      expect(await runTransaction(through, () => limit('lock_timeout'))).toEqual({ limit: '15s' })
      expect(await runTransaction(through, () => limit('lock_timeout'), 'short')).toEqual({ limit: '100ms' })
    } finally {
      await through.end()
    }
  })

  it('are told of where they break a promise, and not where all is well', async () => {
    const weak = await createPlace('postgres', 'weak')
    const databaseUrl = weak.config.databaseUrl!
    const opened = async (databaseDirectUrl?: string) => {
      const warned: string[] = []
      const own = await openStore({
        config: { ...weak.config, databaseDirectUrl },
        log: { ...log, warn: (said: unknown) => warned.push(String(said)) } as typeof log,
        bootId: BOOT,
      })
      await own.close()
      return warned
    }
    try {
      expect(await opened()).toEqual([])
      const client = new pg.Client({ connectionString: databaseUrl })
      await client.connect()
      const name = new URL(databaseUrl).pathname.slice(1)
      await client.query(`ALTER DATABASE ${name} SET synchronous_commit = off`)
      await client.end()
      expect(await opened()).toEqual([expect.stringMatching(/^PostgreSQL: synchronous_commit is off/)])
      // As behind a pooler.
      expect(await opened(databaseUrl)).toEqual([
        expect.stringContaining('synchronous_commit'),
        expect.stringContaining('statement_timeout'),
        expect.stringContaining('idle_in_transaction_session_timeout'),
      ])
    } finally {
      await weak.remove()
    }
  })

  it('what may do what is changed under any search path', async () => {
    const word = () => runDirect(pool, () => first<{ version: string }>('SELECT version FROM access_version'))
    await addSetting(store, 0)
    const before = await word()
    const client = new pg.Client({ connectionString: place.config.databaseUrl })
    await client.connect()
    await client.query(`SET search_path = ''`)
    await client.query('UPDATE public.service_keys SET label = label')
    await client.end()
    expect(await word()).not.toEqual(before)
  })
})

describe('a connection', () => {
  const pid = () => runDirect(pool, () => first<{ pid: number }>('SELECT pg_backend_pid() AS pid'))
  const missing = () => all('SELECT 1 / $1::int', 0)

  it('outlives a statement that the server refuses, alone and in a transaction', async () => {
    const before = await pid()
    await expect(runDirect(pool, missing)).rejects.toMatchObject({ reason: 'postgres 22012' })
    await expect(runTransaction(pool, missing)).rejects.toMatchObject({ reason: 'postgres 22012' })
    expect(await pid()).toEqual(before)
    // Nothing of the transaction is left on it.
    const { rows } = await pool.query<{ same: boolean }>('SELECT now() = statement_timestamp() AS same')
    expect(rows).toEqual([{ same: true }])
  })

  it('is replaced where the server ends it', async () => {
    const before = await pid()
    const end = () => all('SELECT pg_terminate_backend(pg_backend_pid())')
    await expect(runTransaction(pool, end)).rejects.toMatchObject({ code: 'store_unavailable' })
    expect(await pid()).not.toEqual(before)
  })
})
