// Several processes on one PostgreSQL whose advisory locks are of no use keep what they promise each other, and never do so in two ways at once.
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { examine } from '../../src/app/doctor/examine.ts'
import { openStore } from '../../src/store/index.ts'
import { TABLE_VERSION } from '../../src/store/migrations.ts'
import type { Store } from '../../src/store/ports.ts'
import { divideTable } from '../../src/store/postgres/partitions/divide.ts'
import { TRY_PARTITIONS_ROW } from '../../src/store/postgres/coordination/row-locks.ts'
import { planUpgrade } from '../../src/store/releases.ts'
import { readTableVersion } from '../../src/store/table-version.ts'
import { openSink, openSource } from '../../src/store/transfer/carry.ts'
import {
  addAccount,
  addSetting,
  createPlace,
  log,
  newClaim,
  NOW,
  type Place,
  reservation,
  submission,
  sumOfLedger,
  times,
  unbalancedAccounts,
} from '../support/store.ts'
import {
  allow,
  asSuperuser,
  deny,
  USELESS_LOCKS,
  withOwner,
  withUselessLocks,
} from '../support/useless-locks.ts'

const tablesOf = async (place: Place) => {
  const rows = await place.query(
    `SELECT tablename AS name FROM pg_tables WHERE tablename IN ('boots', 'boots_unused', 'process_leases', 'lock_rows') ORDER BY 1`,
  )
  return rows.map(({ name }) => name)
}

/** Opens a store and says what its log warned of. */
async function openLoudly(place: Place, bootId: string): Promise<{ store: Store; warned: string[] }> {
  const warned: string[] = []
  const loud = { ...log, warn: (said: unknown) => warned.push(String(said)) } as typeof log
  return { store: await openStore({ config: place.config, log: loud, bootId }), warned }
}

async function connected(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  return client
}

describe.each(USELESS_LOCKS)('advisory locks that are %s', (how) => {
  let place: Place
  let stores: readonly Store[]
  const boots = ['boot-a', 'boot-b', 'boot-c']
  beforeAll(async () => {
    place = await createPlace('postgres', `locks_${how}`, (url) => withUselessLocks(url, how))
    // All at once on an empty database.
    stores = await Promise.all(boots.map((bootId) => place.open(bootId)))
  })
  afterAll(() => place.remove())

  it('let processes that start at once make the tables once, and use rows', async () => {
    const [made] = await place.query(
      'SELECT count(*)::int AS count, max(version)::int AS version FROM migrations',
    )
    expect(made).toEqual({ count: TABLE_VERSION, version: TABLE_VERSION })
    expect(await tablesOf(place)).toEqual(['boots_unused', 'lock_rows', 'process_leases'])
    expect(await Promise.all(stores.map((store) => store.health()))).toMatchObject(
      times(3, () => ({ ok: true })),
    )
  })

  it('are spoken of once in the log of a start, by the doctor and before an upgrade', async () => {
    const why = how === 'denied' ? /permission denied/ : /given to two sessions at once/
    const { store, warned } = await openLoudly(place, 'boot-loud')
    await store.close()
    expect(warned).toEqual([
      expect.stringMatching(/^PostgreSQL: rows are locked in the place of advisory locks/),
    ])
    expect(warned[0]).toMatch(why)
    const { dataDir, databaseUrl } = place.config
    const findings = await examine({ GATEWAY_DATA_DIR: dataDir, GATEWAY_DATABASE_URL: databaseUrl })
    const found = findings.filter(({ check }) => check === 'locks')
    expect(found).toEqual([
      expect.objectContaining({ level: 'warn', says: expect.stringMatching(why) as string }),
    ])
    // Who is here already locks in the same way: they go on beside the next.
    expect(await readTableVersion(place.config)).toMatchObject({ lockFault: undefined })
  })

  it('leave what living processes have under way, and let one recovery of several settle what a dead one left', async () => {
    const [a, b, c] = [stores[0]!, stores[1]!, stores[2]!]
    const dead = await place.open('boot-dead')
    const setting = await addSetting(a, 100)
    const [claim, debit] = [newClaim(), { accountId: await addAccount(a, 9), transactionId: 'txn_left' }]
    await Promise.all(times(20, () => dead.reserveAttempt(reservation(setting, 'boot-dead'))))
    await dead.claimPayment({ claim, bootId: 'boot-dead' })
    await dead.submitClaim(submission(claim.id, 'boot-dead'))
    await dead.debitCredits({ ...debit, amount: 4, bootId: 'boot-dead', reference: 'call', now: NOW })
    const recoverOne = [
      async (store: Store, bootId: string) =>
        (await store.recoverAttempts({ bootId, now: NOW })).refunded.length,
      async (store: Store, bootId: string) => (await store.recoverClaims({ bootId, now: NOW })).unknown,
      async (store: Store, bootId: string) => (await store.recoverDebits({ bootId, now: NOW })).refunded,
    ]
    const recover = (store: Store, bootId: string) => Promise.all(recoverOne.map((one) => one(store, bootId)))
    expect(await recover(b, 'boot-b')).toEqual([0, 0, 0])
    await dead.close()
    const at = await Promise.all([recover(a, 'boot-a'), recover(b, 'boot-b'), recover(c, 'boot-c')])
    // Who finds the dead one locked by another leaves it to a later sweep.
    const later: number[] = []
    for (const one of recoverOne) later.push(await one(a, 'boot-a'))
    const settled = [...at, later]
    expect([0, 1, 2].map((i) => settled.reduce((sum, one) => sum + one[i]!, 0))).toEqual([20, 1, 1])
    await a.recoverAttempts({ bootId: 'boot-a', now: NOW })
    expect(await a.balance(setting.accountId)).toBe(100)
    expect(await a.balance(debit.accountId)).toBe(9)
    expect(await sumOfLedger(place)).toBe(0)
    expect(await unbalancedAccounts(place)).toEqual([])
    expect(await place.query(`SELECT boot_id FROM process_leases WHERE boot_id = 'boot-dead'`)).toEqual([])
  })

  it('have a process taken for dead by the clock of the database, and one that nobody lists', async () => {
    const a = stores[0]!
    const setting = await addSetting(a, 10)
    const list = (text: string) =>
      asSuperuser(place.config.databaseUrl!, async (client) => void (await client.query(text)))
    await list(
      `INSERT INTO process_leases (boot_id, expires_at) VALUES ('boot-ghost', clock_timestamp() + interval '1 hour')`,
    )
    await a.reserveAttempt(reservation(setting, 'boot-ghost'))
    expect((await a.recoverAttempts({ bootId: 'boot-a', now: NOW })).refunded).toEqual([])
    await list(`UPDATE process_leases SET expires_at = clock_timestamp() WHERE boot_id = 'boot-ghost'`)
    expect((await a.recoverAttempts({ bootId: 'boot-a', now: NOW })).refunded).toHaveLength(1)
    await a.reserveAttempt(reservation(setting, 'boot-ghost'))
    expect((await a.recoverAttempts({ bootId: 'boot-a', now: NOW })).refunded).toHaveLength(1)
    expect(await a.balance(setting.accountId)).toBe(10)
  })

  it('let nobody come back while another settles what he left, and keep no other recovery waiting', async () => {
    const [a, b] = [stores[0]!, stores[1]!]
    const recovering = await connected(place.config.databaseUrl!)
    try {
      await recovering.query('BEGIN')
      await recovering.query(`SELECT 1 FROM process_leases WHERE boot_id = 'boot-b' FOR UPDATE`)
      const waiting = `SELECT count(*)::int AS count FROM pg_stat_activity
        WHERE wait_event_type = 'Lock' AND query LIKE 'INSERT INTO process_leases%' AND datname = current_database()`
      await expect.poll(() => place.query(waiting)).toEqual([{ count: 1 }])
      await a.recoverAttempts({ bootId: 'boot-a', now: NOW })
      await recovering.query('COMMIT')
    } finally {
      await recovering.end()
    }
    const setting = await addSetting(a, 10)
    await expect.poll(async () => (await b.health()).ok).toBe(true)
    await b.reserveAttempt(reservation(setting, 'boot-b'))
    expect((await a.recoverAttempts({ bootId: 'boot-a', now: NOW })).refunded).toEqual([])
    expect(await a.balance(setting.accountId)).toBe(9)
  })

  it('keep what one payer claims within its bounds, whatever process it comes from', async () => {
    for (let round = 0; round < 4; round++) {
      const { payer } = newClaim()
      const claims = await Promise.all(
        times(24, (i) =>
          stores[i % 3]!.claimPayment({ claim: newClaim({ payer }), bootId: boots[i % 3]!, maxOpen: 2 }),
        ),
      )
      expect(claims.filter(({ ok }) => ok)).toHaveLength(2)
    }
  })

  it('keep a payer from claiming who has not the row of its lock to wait for', async () => {
    const url = place.config.databaseUrl!
    await asSuperuser(url, async (client) => void (await client.query('DELETE FROM lock_rows')))
    const claim = { claim: newClaim(), bootId: 'boot-a', maxOpen: 2 }
    await expect(stores[0]!.claimPayment(claim)).rejects.toMatchObject({ code: 'store_unavailable' })
    await (await place.open('boot-again')).close()
    expect(await stores[0]!.claimPayment(claim)).toMatchObject({ ok: true })
  })

  it('let one divide a table at a time, and nobody add to it meanwhile', async () => {
    const url = place.config.databaseUrl!
    const [session, other, call] = [await connected(url), await connected(url), await connected(url)]
    const division = {
      table: 'receipts',
      period: 'month',
      now: NOW,
      openSession: () => connected(url),
    } as const
    try {
      const isFree = async () => (await other.query(TRY_PARTITIONS_ROW)).rows.length > 0
      // A call under way keeps the table from being changed, so that the division is still going on when it is looked at.
      await call.query('BEGIN')
      await call.query('LOCK TABLE receipts IN ROW EXCLUSIVE MODE')
      let isBegun = false
      const divided = divideTable(session, { ...division, say: () => void (isBegun = true) })
      await Promise.race([divided, expect.poll(() => isBegun).toBe(true)])
      expect(await isFree()).toBe(false)
      await call.query('COMMIT')
      await divided
      expect(await isFree()).toBe(true)
      await other.query('BEGIN')
      expect(await isFree()).toBe(true)
      await expect(divideTable(session, { ...division, say: () => {} })).rejects.toMatchObject({
        code: 'state_conflict',
      })
      await stores[0]!.sweep(NOW + 365 * 24 * 3600 * 1000)
      const pieces = `SELECT count(*)::int AS count FROM pg_inherits WHERE inhparent = 'receipts'::regclass`
      const before = await place.query(pieces)
      await other.query('ROLLBACK')
      await stores[0]!.sweep(NOW + 365 * 24 * 3600 * 1000)
      expect(await place.query(pieces)).not.toEqual(before)
    } finally {
      await Promise.all([session, other, call].map((client) => client.end()))
    }
  })

  it('let data out of such a database and into another', async () => {
    const target = await createPlace('postgres', `locks_into_${how}`, (url) => withUselessLocks(url, how))
    try {
      const source = await openSource(place.config)
      await source.close()
      const sink = await openSink(target.config, TABLE_VERSION, NOW)
      // A gateway that starts meanwhile waits for this row, and then finds what the sink has made.
      const free = await target.query(
        'SELECT number FROM lock_rows WHERE space = 24951 FOR UPDATE SKIP LOCKED',
      )
      expect(free).toEqual([{ number: -1 }])
      await sink.commit()
      await sink.close()
      const store = await target.open()
      expect((await store.health()).ok).toBe(true)
      expect(await tablesOf(target)).toEqual(['boots_unused', 'lock_rows', 'process_leases'])
    } finally {
      await target.remove()
    }
  })
})

describe('processes of one database', () => {
  /** A database of a role that is no superuser; what it may do can be changed. */
  async function ownedPlace(): Promise<{ place: Place; change: (work: typeof deny) => Promise<void> }> {
    let superuser = ''
    const place = await createPlace('postgres', 'locks_change', async (url) => {
      superuser = url
      return (await withOwner(url)).owner
    })
    return { place, change: (work) => asSuperuser(superuser, work) }
  }

  it('use advisory locks where they work, and start beside nobody who cannot see them', async () => {
    const { place, change } = await ownedPlace()
    try {
      const first = await openLoudly(place, 'boot-1')
      expect(first.warned).toEqual([])
      expect(await tablesOf(place)).toEqual(['boots'])
      await change(deny)
      await expect(place.open('boot-2')).rejects.toMatchObject({
        code: 'store_unavailable',
        message: expect.stringMatching(/hold advisory locks.*permission denied.*GRANT EXECUTE/s) as string,
      })
      expect(await tablesOf(place)).toEqual(['boots', 'lock_rows'])
      const found = await readTableVersion(place.config)
      expect(planUpgrade('postgres', TABLE_VERSION, '9.9.9', found)).toMatchObject({
        sideBySide: false,
        byHand: [expect.stringMatching(/^Stop every process.*advisory locks, and here .*permission denied/)],
      })
      // It still holds its own, and goes on.
      expect((await first.store.health()).ok).toBe(true)
      const setting = await addSetting(first.store, 5)
      await first.store.reserveAttempt(reservation(setting, 'boot-1'))
      await first.store.close()

      // Nobody holds one any more: from here on they use rows, and what the first one left is settled.
      const second = await place.open('boot-2')
      expect(await tablesOf(place)).toEqual(['boots_unused', 'lock_rows', 'process_leases'])
      expect((await second.recoverAttempts({ bootId: 'boot-2', now: NOW })).refunded).toHaveLength(1)
      await change(allow)
      const third = await openLoudly(place, 'boot-3')
      expect(third.warned).toEqual([expect.stringContaining('other processes are alive')])
      expect(await tablesOf(place)).toEqual(['boots_unused', 'lock_rows', 'process_leases'])
      await second.close()
      await third.store.close()

      // And back, once nobody uses rows.
      const fourth = await openLoudly(place, 'boot-4')
      expect(fourth.warned).toEqual([])
      expect(await tablesOf(place)).toEqual(['boots', 'lock_rows'])
      await fourth.store.close()
    } finally {
      await place.remove()
    }
  })

  it('that use rows may wait longer for the lease of a start than for its renewal', async () => {
    const { place, change } = await ownedPlace()
    const slow = await connected(place.config.databaseUrl!)
    try {
      await change(deny)
      await (await place.open('boot-first')).close()
      await slow.query('BEGIN')
      await slow.query('LOCK TABLE process_leases IN ACCESS EXCLUSIVE MODE')
      const opening = place.open('boot-slow')
      opening.catch(() => undefined)
      const waiting = `SELECT count(*)::int AS count FROM pg_stat_activity
        WHERE wait_event_type = 'Lock' AND query LIKE 'INSERT INTO process_leases%' AND datname = current_database()`
      await expect.poll(() => place.query(waiting)).toEqual([{ count: 1 }])
      await sleep(3000)
      expect(await place.query(waiting)).toEqual([{ count: 1 }])
      await slow.query('COMMIT')
      const store = await opening
      await expect.poll(async () => (await store.health()).ok).toBe(true)
    } finally {
      await slow.end()
      await place.remove()
    }
  })

  it('that use rows are safe from one of the other way, cut off while it was changed, and from the release before', async () => {
    const { place, change } = await ownedPlace()
    try {
      const before = await place.open('boot-before')
      const url = place.config.databaseUrl!
      await change(deny)
      // Its lease breaks, and it may not take it again. Once its session is gone, so is the lock.
      const cut = `SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity
        WHERE application_name = 'agent-gateway lease' AND datname = current_database()`
      await place.query(cut)
      await expect.poll(async () => (await before.health()).ok).toBe(false)
      const after = await place.open('boot-after')
      await change(allow)
      const setting = await addSetting(after, 5)
      await after.reserveAttempt(reservation(setting, 'boot-after'))
      // The locks work for it again, and it neither recovers nor begins anything.
      await expect(before.recoverAttempts({ bootId: 'boot-before', now: NOW })).rejects.toThrow()
      await expect(before.reserveAttempt(reservation(setting, 'boot-before'))).rejects.toMatchObject({
        code: 'store_unavailable',
      })
      const old = await connected(url)
      // What the release before does when it starts, and when it looks for dead ones.
      for (const text of [
        `INSERT INTO boots (boot_id, lock_key) VALUES ('boot-old', 7) ON CONFLICT (boot_id) DO NOTHING`,
        `SELECT boot_id, pg_try_advisory_xact_lock(24951, lock_key::int) FROM boots WHERE boot_id <> 'boot-old'`,
      ])
        await expect(old.query(text)).rejects.toMatchObject({ code: '42P01' })
      await old.end()
      expect(await after.balance(setting.accountId)).toBe(4)
      expect((await after.health()).ok).toBe(true)
      expect((await before.health()).ok).toBe(false)
    } finally {
      await place.remove()
    }
  })

  it('that use rows and were taken for dead begin nothing once the others have gone back to advisory locks', async () => {
    const { place, change } = await ownedPlace()
    try {
      await change(deny)
      const late = await place.open('boot-late')
      await change(allow)
      // Cut off: it renews nothing, and its lease is over.
      await change(async (client) => {
        await client.query(
          `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'cut off'; END $$`,
        )
        await client.query(
          'CREATE TRIGGER cut BEFORE INSERT OR UPDATE ON process_leases FOR EACH ROW EXECUTE FUNCTION refuse()',
        )
        await client.query('DELETE FROM process_leases')
      })
      const fresh = await openLoudly(place, 'boot-new')
      expect(fresh.warned).toEqual([])
      expect(await tablesOf(place)).toEqual(['boots', 'lock_rows'])
      await expect(late.recoverAttempts({ bootId: 'boot-late', now: NOW })).rejects.toThrow()
      await expect.poll(async () => (await late.health()).ok).toBe(false)
      const setting = await addSetting(fresh.store, 5)
      await expect(late.reserveAttempt(reservation(setting, 'boot-late'))).rejects.toMatchObject({
        code: 'store_unavailable',
      })
      await fresh.store.close()
    } finally {
      await place.remove()
    }
  })
})
