// Backups of a database with a row in every table, and what a restore of one has to do on either engine.
import { cp, mkdir, mkdtemp, readFile, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { StoreConfig } from '../../src/store/index.ts'
import { TABLE_VERSION } from '../../src/store/migrations.ts'
import {
  countLiving,
  type EndedOf,
  endWhatWorksOnce,
  noteArrival,
  revokeTokens,
} from '../../src/store/transfer/after-restore.ts'
import { readBackupFile, type Tallied } from '../../src/store/transfer/backup-file.ts'
import {
  carryFile,
  checkLoaded,
  findImbalances,
  openSink,
  openSource,
} from '../../src/store/transfer/carry.ts'
import { CARRIED_TABLES } from '../../src/store/transfer/tables.ts'
import { tallyOf } from '../../src/store/transfer/tally.ts'
import { writeBackup } from '../../src/store/transfer/write-backup.ts'
import { fillTables, NASTY } from './filled-tables.ts'
import { removeFolder } from './remove-folder.ts'
import { addAccount, createPlace, type EngineName, NOW, type Place } from './store.ts'

export const ORIGIN = { gateway: 'test', taken_at: '2026-06-01T00:00:00.000Z' }
const DOCUMENT = `{"note": ${JSON.stringify(NASTY)}}\n`
export const ignore = () => {}

/** Makes a data directory with a row in every table, and a backup of it. */
export async function backUpFilled(folder: string): Promise<{ full: string; file: string }> {
  const full = join(folder, 'full')
  await mkdir(full)
  fillTables(join(full, 'gateway.db'))
  await writeFile(join(full, 'market.json'), DOCUMENT)
  const file = join(folder, 'full.gz')
  await writeBackup({ config: { dataDir: full, databaseUrl: undefined }, origin: ORIGIN }, file)
  return { full, file }
}

export async function talliesOf(config: StoreConfig): Promise<Tallied> {
  const source = await openSource(config)
  try {
    const found: Record<string, Awaited<ReturnType<typeof tallyOf>>> = {}
    for (const table of CARRIED_TABLES) found[table] = await tallyOf(source.rowsOf(table))
    return found
  } finally {
    await source.close()
  }
}

async function restoreInto(config: StoreConfig, from: string): Promise<void> {
  const { header } = await readBackupFile(from, {
    async table(_table, _columns, pieces) {
      await tallyOf(pieces)
    },
  })
  const sink = await openSink(config, header.schema_version, NOW)
  try {
    await checkLoaded(sink, await carryFile(from, sink, ignore))
    expect(await findImbalances(sink)).toEqual([])
    await sink.upgrade(NOW)
    await sink.commit()
  } finally {
    await sink.close()
  }
}

export function describeRestores(engine: EngineName): void {
  describe(`from a backup into ${engine}`, () => {
    let folder: string
    let full: string
    let file: string
    const places: Place[] = []
    const newPlace = async (on: EngineName) => {
      const place = await createPlace(on, 'transfer')
      places.push(place)
      return place
    }
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'gateway-transfer-'))
      ;({ full, file } = await backUpFilled(folder))
    })
    afterAll(async () => {
      for (const place of places) await place.remove()
      await removeFolder(folder)
    })

    it('carries a row of every table, which another backup finds again', async () => {
      const place = await newPlace(engine)
      await restoreInto(place.config, file)
      const first = await talliesOf({ dataDir: full, databaseUrl: undefined })
      for (const table of CARRIED_TABLES)
        expect([table, first[table]!.rows]).toEqual([table, table === 'ledger_entries' ? 2 : 1])
      expect(await talliesOf(place.config)).toEqual(first)

      // And out of this engine again.
      const again = join(folder, `${engine}.gz`)
      await writeBackup({ config: place.config, origin: ORIGIN }, again)
      expect((await stat(again)).mode & 0o777).toBe(0o600)
      const other = await newPlace('sqlite')
      await restoreInto(other.config, again)
      expect(await talliesOf(other.config)).toEqual(first)
      const [row] = await other.query('SELECT name FROM accounts')
      expect(row!['name']).toBe(`accounts.name ${NASTY}`)
    })

    it('leaves a store that opens, lists what it holds and goes on counting', async () => {
      const before = await newPlace('sqlite')
      const account = await addAccount(await before.open(), 100)
      const from = join(folder, `counting-${engine}.gz`)
      await writeBackup({ config: before.config, origin: ORIGIN }, from)
      const place = await newPlace(engine)
      await restoreInto(place.config, from)
      const store = await place.open()
      expect(await store.balance(account)).toBe(100)
      expect((await store.ledger(account, { limit: 5 })).items).toHaveLength(1)
      await store.grant({
        accountId: account,
        amount: 5,
        transactionId: 'txn_x',
        reference: 'more',
        now: NOW,
      })
      expect(await store.balance(account)).toBe(105)
    })

    it('brings a backup of the release before to the tables of this one', async () => {
      const old = join(folder, `old-${engine}`)
      await mkdir(old)
      fillTables(join(old, 'gateway.db'), TABLE_VERSION - 3)
      const from = join(folder, `old-${engine}.gz`)
      await writeBackup({ config: { dataDir: old, databaseUrl: undefined }, origin: ORIGIN }, from)
      const place = await newPlace(engine)
      await restoreInto(place.config, from)
      const [row] = await place.query('SELECT max(version) AS version, count(*) AS steps FROM migrations')
      expect([Number(row!['version']), Number(row!['steps'])]).toEqual([TABLE_VERSION, TABLE_VERSION])
      expect(await (await place.open()).balance('accounts')).toBe(7)
    })

    it('refuses a place that has something in it, and changes nothing there', async () => {
      const place = await newPlace(engine)
      const store = await place.open()
      const account = await addAccount(store, 3)
      await store.close()
      await expect(restoreInto(place.config, file)).rejects.toThrow(/not empty/)
      expect(
        (await place.query('SELECT balance FROM accounts')).map(({ balance }) => Number(balance)),
      ).toEqual([3])
      expect(account).toMatch(/^acct_/)
    })

    it('keeps a gateway from starting on half of it, and begins anew', async () => {
      const place = await newPlace(engine)
      const sink = await openSink(place.config, TABLE_VERSION, NOW)
      await carryFile(file, sink, ignore)
      if (engine === 'sqlite') {
        // What a crash leaves: the copy keeps the unfinished file that closing removes.
        await cp(join(place.config.dataDir, 'gateway.db.restoring'), join(folder, 'cut'))
        await sink.close()
        await cp(join(folder, 'cut'), join(place.config.dataDir, 'gateway.db.restoring'))
        // Its documents may have been written by then.
        await writeFile(join(place.config.dataDir, 'market.json'), '{}')
      } else {
        await place.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE application_name = 'agent-gateway transfer' AND datname = current_database()`)
        await sink.close()
      }
      await expect(place.open()).rejects.toThrow(/restore.* was begun and did not end/)
      await restoreInto(place.config, file)
      expect(await (await place.open()).balance('accounts')).toBe(7)
    })

    it('leaves the place as it was where the load ends in words', async () => {
      const place = await newPlace(engine)
      const bad = join(folder, `bad-${engine}.gz`)
      const bytes = await readFile(file)
      // In the checksum that ends the file: every row is loaded by then, and what stands in the middle depends on the tables.
      bytes[bytes.length - 6]! ^= 1
      await writeFile(bad, bytes)
      const sink = await openSink(place.config, TABLE_VERSION, NOW)
      await expect(carryFile(bad, sink, ignore)).rejects.toThrow(/damaged|does not fit/)
      await sink.close()
      expect(await (await place.open()).firstAccount()).toBe(undefined)
    })

    it('ends what works once, and counts what still works', async () => {
      const place = await newPlace(engine)
      const sink = await openSink(place.config, TABLE_VERSION, NOW)
      try {
        await carryFile(file, sink, ignore)
        await sink.run(function* () {
          yield {
            text: `UPDATE permits SET state = 'ready', attempt_id = NULL, expires_at = ${NOW + 9}`,
            values: [],
          }
          yield { text: `UPDATE attempts SET state = 'reserved'`, values: [] }
          yield {
            text: 'UPDATE invitations SET used_at = NULL, revoked_at = NULL, expires_at = 9000000000000',
            values: [],
          }
          yield { text: 'UPDATE recovery_codes SET used_at = NULL', values: [] }
          yield { text: 'UPDATE connections SET revoked_at = NULL', values: [] }
          yield { text: 'UPDATE service_keys SET revoked_at = NULL', values: [] }
          yield { text: 'UPDATE market_payout_batches SET finished_at = NULL', values: [] }
        })
        const of: EndedOf = new Map()
        expect(await sink.run(() => endWhatWorksOnce(NOW, of))).toEqual({
          permits: 1,
          sessions: 1,
          invitations: 1,
          recovery_codes: 1,
          assistants: 1,
          attempts_in_doubt: 1,
          payments_in_doubt: 1,
          payout_batches: 1,
        })
        for (const kind of ['permits', 'sessions', 'invitations', 'assistants'] as const)
          expect([...of.values()].flatMap((ended) => ended[kind] ?? [])).toHaveLength(1)
        const accounts = [...of.keys()]
        await sink.run(
          noteArrival({
            now: NOW,
            event: 'backup.restored',
            id: 'x.gz',
            detail: {},
            of: { ended: of, since: 'then' },
          }),
        )
        const told = await sink.query<{ chain: string; body: string }>('SELECT chain, body FROM audit_events')
        const arrivals = told.filter(({ body }) => body.includes('"backup.restored"'))
        expect(arrivals.map(({ chain }) => chain).toSorted()).toEqual(
          ['installation', ...accounts].toSorted(),
        )
        expect(await sink.run(() => countLiving(NOW))).toMatchObject({ service_keys: 1, sellers: 1 })
        expect(await sink.run(() => revokeTokens(Buffer.alloc(32, 9), NOW, of))).toBeUndefined()
        const left = await sink.query<{ n: number }>(
          `SELECT count(*) AS n FROM oauth_rows WHERE model <> 'Client' UNION ALL SELECT count(*) FROM access_tokens
         UNION ALL SELECT count(*) FROM sessions UNION ALL SELECT count(*) FROM sign_in_challenges
         UNION ALL SELECT count(*) FROM recovery_codes WHERE used_at IS NULL
         UNION ALL SELECT count(*) FROM invitations WHERE revoked_at IS NULL
         UNION ALL SELECT count(*) FROM permits WHERE expires_at > ${NOW}
         UNION ALL SELECT count(*) FROM payment_claims WHERE state = 'claimed'`,
        )
        expect(left.map(({ n }) => Number(n))).toEqual([0, 0, 0, 0, 0, 0, 0, 0])
      } finally {
        await sink.close()
      }
    })
  })
}
