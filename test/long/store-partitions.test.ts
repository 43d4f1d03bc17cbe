// Tables that only grow, divided by time on a real PostgreSQL while calls go on.
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { newId } from '../../src/lib/ids.ts'
import type { Store } from '../../src/store/ports.ts'
import { TRY_PARTITIONS, UNLOCK_PARTITIONS } from '../../src/store/postgres/coordination/advisory-locks.ts'
import { findDivisions } from '../../src/store/postgres/partitions/catalogue.ts'
import { detachPartition } from '../../src/store/postgres/partitions/detach.ts'
import { divideTable } from '../../src/store/postgres/partitions/divide.ts'
import {
  guardOf,
  LAYOUTS,
  missingPartitions,
  PARTITIONED_TABLES,
  type PartitionedTable,
  type Period,
} from '../../src/store/postgres/partitions/layout.ts'
import { openPostgresStore } from '../../src/store/postgres/store.ts'
import { openPostgresSource } from '../../src/store/transfer/postgres-source.ts'
import { runCli } from '../support/cli.ts'
import {
  addAccount,
  addSetting,
  createPlace,
  ending,
  log,
  nextTransaction,
  NOW,
  type Place,
  reservation,
  sumOfLedger,
  times,
  unbalancedAccounts,
} from '../support/store.ts'

const BOOTS = ['boot-1', 'boot-2'] as const
const MONTH_MS = 31 * 24 * 3600 * 1000
/** 1 June 2026 plus a day is in June, so that the first partition ends with it. */
const JULY = Date.UTC(2026, 6, 1)

async function connected(place: Place): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: place.config.databaseUrl })
  client.on('error', () => {})
  await client.connect()
  return client
}

const noOther = () => Promise.reject(new Error('no lock of these databases needs another session'))
const divide = (session: pg.Client, table: PartitionedTable, period: Period = 'month', now = NOW) =>
  divideTable(session, { table, period, now, say: () => {}, openSession: noOther })

/** Which partition a row is in. */
async function placeOf(place: Place, table: PartitionedTable, id: string): Promise<unknown> {
  const rows = await place.query(
    `SELECT DISTINCT tableoid::regclass::text AS name FROM ${table} WHERE ${LAYOUTS[table].key} = '${id}'`,
  )
  return rows.map(({ name }) => name)
}

const grantOf = (accountId: string, reference: string, at = NOW) => ({
  accountId,
  amount: 3,
  reference,
  transactionId: newId('txn', at),
  now: at,
})

describe('a table that is divided while calls go on', () => {
  let place: Place
  let stores: readonly [Store, Store]
  let session: pg.Client
  const said: string[] = []
  const receipts: string[] = []
  const debits: string[] = []
  const granted = { times: 0 }
  let early: string
  const servers = new Set<string>()

  beforeAll(async () => {
    place = await createPlace('postgres', 'partitions')
    stores = [await place.open(BOOTS[0]), await place.open(BOOTS[1])]
    session = await connected(place)
    await session.query(
      `DO $$ BEGIN CREATE ROLE partitions_reader; EXCEPTION WHEN duplicate_object THEN NULL; END $$`,
    )
    for (const table of PARTITIONED_TABLES)
      await session.query(`GRANT SELECT ON ${table} TO partitions_reader`)
    early = await addAccount(stores[0], 10)
    session.on('notice', ({ message }) => said.push(message ?? ''))
    await session.query('SET client_min_messages = debug1')

    const over = new AbortController()
    const settings = [await addSetting(stores[0], 1_000_000), await addSetting(stores[0], 1_000_000)]
    async function callOn(which: 0 | 1): Promise<void> {
      const [store, setting, bootId] = [stores[which], settings[which]!, BOOTS[which]]
      while (!over.signal.aborted) {
        const asked = reservation(setting, bootId)
        const { attempt } = asked
        expect((await store.reserveAttempt(asked)).ok).toBe(true)
        await store.markSending({ id: attempt.id, bootId, now: NOW })
        const end = ending(attempt, bootId)
        await store.finishAttempt(end)
        receipts.push(end.receipt.id)
        const transactionId = nextTransaction()
        const debit = {
          accountId: setting.accountId,
          amount: 2,
          transactionId,
          bootId,
          reference: 'call',
          now: NOW,
        }
        expect((await store.debitCredits(debit)).ok).toBe(true)
        debits.push(transactionId)
        const grant = grantOf(setting.accountId, `invoice ${debits.length >> 3}`)
        if ((await store.grant(grant))?.repeated === false) granted.times++
        servers.add(which === 0 ? 'first' : 'second')
      }
    }
    const working = Promise.all(times(8, (i) => callOn((i % 2) as 0 | 1)))
    while (receipts.length < 200) await new Promise((resolve) => setTimeout(resolve, 10))
    for (const table of PARTITIONED_TABLES) await divide(session, table)
    const before = receipts.length
    while (receipts.length < before + 200) await new Promise((resolve) => setTimeout(resolve, 10))
    over.abort()
    await working
  })
  afterAll(async () => {
    await session.query('DROP OWNED BY partitions_reader')
    await session.query('DROP ROLE IF EXISTS partitions_reader').catch(() => undefined)
    await session.end()
    await place.remove()
  })

  it('loses nothing and doubles nothing', async () => {
    const found = await place.query('SELECT id FROM receipts')
    expect(new Set(found.map(({ id }) => id))).toEqual(new Set(receipts))
    expect(found).toHaveLength(receipts.length)
    const entries = await place.query(
      `SELECT transaction_id AS id FROM ledger_entries WHERE kind = 'call' AND amount < 0`,
    )
    expect(entries.map(({ id }) => id).toSorted()).toEqual(debits.toSorted())
    expect(await sumOfLedger(place)).toBe(0)
    expect(await unbalancedAccounts(place)).toEqual([])
    const grants = await place.query(
      `SELECT count(*)::int AS n FROM ledger_entries WHERE kind = 'grant' AND amount > 0 AND reference LIKE 'invoice%'`,
    )
    expect(grants).toEqual([{ n: granted.times }])
    expect(servers.size).toBe(2)
  })

  it('becomes the first partition without being looked through while it is taken', () => {
    expect(said.filter((line) => line.includes('implied by existing constraints'))).toHaveLength(2)
  })

  it('leaves no guard behind, and is not divided twice', async () => {
    expect(
      await place.query(`SELECT conname FROM pg_constraint WHERE conname LIKE '%first_partition'`),
    ).toEqual([])
    for (const table of PARTITIONED_TABLES) expect(await divide(session, table)).toBeUndefined()
  })

  it('keeps what other roles may do with it', async () => {
    for (const table of PARTITIONED_TABLES)
      expect(
        await place.query(`SELECT has_table_privilege('partitions_reader', '${table}', 'SELECT') AS may`),
      ).toEqual([{ may: true }])
  })

  it('is read by a backup as one that is whole is', async () => {
    const source = await openPostgresSource({ url: place.config.databaseUrl! })
    try {
      for (const table of PARTITIONED_TABLES) {
        let lines = 0
        for await (const piece of source.rowsOf(table))
          lines += piece.toString('latin1').split('\n').length - 1
        const [row] = await place.query(`SELECT count(*)::int AS rows FROM ${table}`)
        expect({ table, rows: lines }).toEqual({ table, rows: row!['rows'] })
      }
    } finally {
      await source.close()
    }
  })

  it('takes rows by their time', async () => {
    const [store] = stores
    const account = await addAccount(store, 10)
    expect(await placeOf(place, 'receipts', receipts[0]!)).toEqual(['receipts_before_2026_07_01'])
    const { transactionId } = grantOf(account, 'in July', JULY)
    await store.grant({ ...grantOf(account, 'in July', JULY), transactionId })
    expect(await placeOf(place, 'ledger_entries', transactionId)).toEqual(['ledger_entries_2026_07'])
  })

  it('grants a reference once, in whatever partition', async () => {
    const [store, other] = stores
    const account = await addAccount(store, 10)
    expect(await store.grant(grantOf(account, 'once'))).toEqual({ balance: 13, repeated: false })
    expect(await other.grant(grantOf(account, 'once', JULY))).toEqual({ balance: 13, repeated: true })
    const answers = await Promise.all(
      times(20, (i) => stores[i % 2]!.grant(grantOf(account, 'at once', NOW + (i % 2) * MONTH_MS))),
    )
    expect(answers.filter((answer) => answer?.repeated === false)).toHaveLength(1)
    expect(await store.balance(account)).toBe(16)
  })

  it('refuses a grant or purchase past the check of the store, in whatever partition', async () => {
    const [store] = stores
    const account = await addAccount(store, 10)
    const insert = (kind: string, reference: string, of: string, at: number) =>
      session.query(
        `INSERT INTO ledger_entries (transaction_id, account, amount, kind, reference, created_at)
         VALUES ($1, $2, 5, $3, $4, 0) RETURNING account`,
        [newId('txn', at), of, kind, reference],
      )
    await insert('purchase', 'clm_1', account, NOW)
    await expect(insert('purchase', 'clm_1', early, JULY)).rejects.toMatchObject({ code: '23505' })
    // What was granted before the table was divided is known as well.
    for (const of of [account, early])
      expect((await insert('grant', 'free credits', of, JULY)).rows).toEqual([])
  })
})

describe('partitions to come', () => {
  let place: Place
  let session: pg.Client
  beforeAll(async () => {
    place = await createPlace('postgres', 'partitions')
    await place.open()
    session = await connected(place)
  })
  afterAll(async () => {
    await session.end()
    await place.remove()
  })
  const namesOf = async (table: PartitionedTable) =>
    (await findDivisions(session))
      .find((division) => division.table === table)
      ?.partitions.map(({ name }) => name)

  it('are made when the table is divided, and with each sweep of whatever process', async () => {
    await divide(session, 'receipts')
    expect(await namesOf('receipts')).toEqual([
      'receipts_before_2026_07_01',
      'receipts_2026_07',
      'receipts_2026_08',
    ])
    const stores = await Promise.all([place.open(), place.open()])
    // A start has looked at the clock.
    const now = Math.max(Date.now(), Date.UTC(2026, 10, 1)) + 3 * MONTH_MS
    await Promise.all(stores.map((store) => store.sweep(now)))
    const { partitions } = (await findDivisions(session))[0]!
    expect(partitions.at(-1)!.to).toBeGreaterThan(now + MONTH_MS)
    // Each begins where the one before ends.
    expect(partitions.slice(1).map(({ from }) => from)).toEqual(partitions.slice(0, -1).map(({ to }) => to))
  })

  it('are not made twice while somebody divides a table', async () => {
    const [store, other] = [await place.open(), await connected(place)]
    await other.query(TRY_PARTITIONS)
    const last = (await findDivisions(session))[0]!.partitions.at(-1)!.to
    const later = last - 20 * 24 * 3600 * 1000
    const before = await namesOf('receipts')
    await store.sweep(later)
    expect(await namesOf('receipts')).toEqual(before)
    await expect(divide(session, 'receipts')).rejects.toMatchObject({ code: 'state_conflict' })
    await other.query(UNLOCK_PARTITIONS)
    await other.end()
    await store.sweep(later)
    expect((await namesOf('receipts'))!.length).toBeGreaterThan(before!.length)
  })

  it('are told of where they cannot be made, and keep no sweep from its work', async () => {
    const told = vi.fn()
    const store = await openPostgresStore({
      address: { url: place.config.databaseUrl! },
      bootId: 'boot-told',
      log,
      onPartitionsMissing: told,
    })
    const { to } = (await findDivisions(session))
      .find(({ table }) => table === 'receipts')!
      .partitions.at(-1)!
    const [next] = missingPartitions('receipts', 'month', to, to)
    await session.query(`CREATE TABLE ${next!.name} (taken int)`)
    await store.sweep(to)
    expect(told).toHaveBeenCalledOnce()
    await session.query(`DROP TABLE ${next!.name}`)
    await store.sweep(to)
    expect(told).toHaveBeenCalledOnce()
    expect(await namesOf('receipts')).toContain(next!.name)
    await store.close()
  })

  it('of days are made for two weeks', async () => {
    await divide(session, 'ledger_entries', 'day')
    const names = (await namesOf('ledger_entries'))!
    expect(names.slice(0, 2)).toEqual(['ledger_entries_before_2026_06_03', 'ledger_entries_2026_06_03'])
    expect(names).toHaveLength(14)
  })
})

describe('a division that is interrupted', () => {
  it('leaves a table that takes every row, once a process has looked', async () => {
    const place = await createPlace('postgres', 'partitions')
    try {
      const store = await place.open()
      const session = await connected(place)
      const guard = guardOf('receipts')
      await session.query(
        `ALTER TABLE receipts ADD CONSTRAINT ${guard} CHECK (id < '${newId('rcp', JULY).slice(0, 13)}') NOT VALID`,
      )
      const insert = () =>
        session.query(
          `INSERT INTO receipts (id, account_id, jws, created_at) VALUES ($1, 'acct', 'jws', 0)`,
          [newId('rcp', JULY)],
        )
      await expect(insert()).rejects.toMatchObject({ code: '23514' })
      // While the division goes on it stays.
      await session.query(TRY_PARTITIONS)
      await store.sweep(NOW)
      await expect(insert()).rejects.toMatchObject({ code: '23514' })
      await session.query(UNLOCK_PARTITIONS)
      await store.sweep(NOW)
      await insert()
      // The row is of the period that the first partition would not have: so the division ends later.
      await expect(divide(session, 'receipts')).rejects.toMatchObject({ code: '23514' })
      await insert()
      expect(await divide(session, 'receipts', 'month', JULY)).toBe('receipts_before_2026_08_01')
      await session.end()
    } finally {
      await place.remove()
    }
  })

  it('by a database that no gateway of this release has opened is not begun', async () => {
    const place = await createPlace('postgres', 'partitions')
    try {
      const session = await connected(place)
      await expect(divide(session, 'receipts')).rejects.toMatchObject({ code: 'state_conflict' })
      await session.end()
    } finally {
      await place.remove()
    }
  })
})

describe('whoever uses the table for long', () => {
  it('keeps the division waiting, and the division keeps no call waiting', async () => {
    const place = await createPlace('postgres', 'partitions')
    try {
      const store = await place.open(BOOTS[0])
      const setting = await addSetting(store, 1000)
      const [slow, session] = [await connected(place), await connected(place)]
      await slow.query('BEGIN')
      await slow.query('LOCK TABLE receipts IN ROW EXCLUSIVE MODE')
      let isDivided = false
      const divided = divide(session, 'receipts').then((first) => {
        isDivided = true
        return first
      })
      for (let calls = 0; calls < 50; calls++) {
        const asked = reservation(setting, BOOTS[0])
        await store.reserveAttempt(asked)
        await store.markSending({ id: asked.attempt.id, bootId: BOOTS[0], now: NOW })
        await store.finishAttempt(ending(asked.attempt, BOOTS[0]))
      }
      expect(isDivided).toBe(false)
      await slow.query('COMMIT')
      expect(await divided).toBe('receipts_before_2026_07_01')
      await slow.end()
      await session.end()
    } finally {
      await place.remove()
    }
  })
})

describe('a partition that is taken out', () => {
  it('takes its receipts with it, and is refused where they are young or the ledger', async () => {
    const place = await createPlace('postgres', 'partitions')
    try {
      const store = await place.open(BOOTS[0])
      const setting = await addSetting(store, 10)
      const asked = reservation(setting, BOOTS[0])
      await store.reserveAttempt(asked)
      await store.markSending({ id: asked.attempt.id, bootId: BOOTS[0], now: NOW })
      const end = ending(asked.attempt, BOOTS[0])
      await store.finishAttempt(end)
      const session = await connected(place)
      for (const table of PARTITIONED_TABLES) await divide(session, table)
      const detach = (name: string, now: number) => detachPartition(session, name, now)
      const first = 'receipts_before_2026_07_01'
      await expect(detach('receipts', JULY + 12 * MONTH_MS)).rejects.toMatchObject({ code: 'not_found' })
      await expect(detach('accounts; DROP TABLE receipts', JULY)).rejects.toMatchObject({ code: 'not_found' })
      await expect(detach('ledger_entries_before_2026_07_01', JULY + 12 * MONTH_MS)).rejects.toMatchObject({
        code: 'state_conflict',
      })
      await expect(detach(first, JULY + 29 * 24 * 3600 * 1000)).rejects.toMatchObject({
        code: 'state_conflict',
      })
      expect(await store.getReceipt(end.receipt.id)).toMatchObject({ id: end.receipt.id })
      await detach(first, JULY + MONTH_MS)
      expect(await store.getReceipt(end.receipt.id)).toBeUndefined()
      expect(await place.query(`SELECT id FROM ${first}`)).toEqual([{ id: end.receipt.id }])
      await session.end()
    } finally {
      await place.remove()
    }
  })
})

describe('a partition whose detaching was cut off', () => {
  it('is shown as half detached, and is taken out by asking again', async () => {
    const place = await createPlace('postgres', 'partitions')
    try {
      const store = await place.open(BOOTS[0])
      const setting = await addSetting(store, 10)
      const asked = reservation(setting, BOOTS[0])
      await store.reserveAttempt(asked)
      await store.markSending({ id: asked.attempt.id, bootId: BOOTS[0], now: NOW })
      const end = ending(asked.attempt, BOOTS[0])
      await store.finishAttempt(end)
      const [reader, cut, session] = [await connected(place), await connected(place), await connected(place)]
      await divide(session, 'receipts')
      const first = 'receipts_before_2026_07_01'
      const detach = (on: pg.Client, name = first) => detachPartition(on, name, JULY + 12 * MONTH_MS)
      const halves = async () =>
        (await findDivisions(session))[0]!.partitions
          .filter(({ isHalfDetached }) => isHalfDetached)
          .map(({ name }) => name)
      const { rows } = await cut.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')

      // Whoever reads keeps it from being finished.
      await reader.query('BEGIN')
      await reader.query('SELECT 1 FROM receipts LIMIT 1')
      const cutOff = detach(cut).catch((thrown: unknown) => thrown)
      await expect.poll(halves).toEqual([first])
      await session.query('SELECT pg_terminate_backend($1)', [rows[0]!.pid])
      expect(await cutOff).toMatchObject({ code: '57P01' })
      await reader.query('COMMIT')

      expect(await halves()).toEqual([first])
      expect(await store.getReceipt(end.receipt.id)).toBeUndefined()
      const listed = await runCli(['database', 'partitions'], {
        GATEWAY_DATA_DIR: place.config.dataDir,
        GATEWAY_DATABASE_URL: place.config.databaseUrl!,
      })
      expect(listed.stdout).toContain(`agent-gateway database detach ${first}`)
      await expect(detach(session, 'receipts_2026_07')).rejects.toMatchObject({
        code: 'state_conflict',
        message: expect.stringContaining(first),
      })

      await detach(session)
      expect(await halves()).toEqual([])
      expect(await place.query(`SELECT id FROM ${first}`)).toEqual([{ id: end.receipt.id }])
      expect(
        await place.query(`SELECT relispartition AS "isPart" FROM pg_class WHERE relname = '${first}'`),
      ).toEqual([{ isPart: false }])
      await detach(session, 'receipts_2026_07')
      await Promise.all([reader.end(), session.end()])
    } finally {
      await place.remove()
    }
  })
})

describe('agent-gateway database', () => {
  it('divides, lists and says what cannot be done', async () => {
    const place = await createPlace('postgres', 'partitions')
    try {
      const env = { GATEWAY_DATA_DIR: place.config.dataDir, GATEWAY_DATABASE_URL: place.config.databaseUrl! }
      const command = (...args: string[]) => runCli(['database', ...args], env)
      expect(await command('partition', 'receipts')).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('start a gateway of this release on it first'),
      })
      await place.open()
      expect(await command('partitions')).toMatchObject({
        code: 0,
        stdout: expect.stringContaining('No table'),
      })
      const divided = await command('partition', 'ledger', '--every', 'day', '--json')
      expect(divided).toMatchObject({ code: 0, stderr: '' })
      expect(JSON.parse(divided.stdout)).toMatchObject({ table: 'ledger_entries', partitioned: true })
      expect(await command('partition', 'ledger')).toMatchObject({
        code: 0,
        stdout: expect.stringContaining('already'),
      })
      const listed = JSON.parse((await command('partitions', '--json')).stdout) as {
        partitions: { from: unknown }[]
      }
      expect(listed.partitions.length).toBeGreaterThan(10)
      expect(listed.partitions[0]!.from).toBeNull()
      expect((await command('partitions')).stdout).toMatch(/^ledger_entries +ledger_entries_before_/m)
      expect(await command('partition', 'accounts')).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('receipts, ledger'),
      })
      expect(await command('detach', 'receipts_2026_01')).toMatchObject({ code: 1 })
      expect(
        await runCli(['database', 'partitions'], { GATEWAY_DATA_DIR: place.config.dataDir }),
      ).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('GATEWAY_DATABASE_URL is not set'),
      })
      const nowhere = { ...env, GATEWAY_DATABASE_URL: 'postgres://gateway:hunter2@127.0.0.1:1/gateway' }
      const refused = await runCli(['database', 'partitions'], nowhere)
      expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('ECONNREFUSED') })
      expect(refused.stderr).not.toContain('hunter2')
    } finally {
      await place.remove()
    }
  })
})
