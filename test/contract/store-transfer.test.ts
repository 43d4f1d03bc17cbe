// Data that leaves one database and comes into another: every table is carried whole between both engines, and what is damaged, cut off, unknown or in
// the wrong place changes nothing.
import { randomBytes } from 'node:crypto'
import { mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { TABLE_VERSION } from '../../src/store/migrations.ts'
import { readBackupFile } from '../../src/store/transfer/backup-file.ts'
import {
  carry,
  carryFile,
  checkLoaded,
  findImbalances,
  openSink,
  openSource,
} from '../../src/store/transfer/carry.ts'
import { CARRIED_TABLES, carriedColumns, TABLE_FATES } from '../../src/store/transfer/tables.ts'
import { tallyOf } from '../../src/store/transfer/tally.ts'
import { writeBackup } from '../../src/store/transfer/write-backup.ts'
import { removeFolder } from '../support/remove-folder.ts'
import { addAccount, createPlace, type EngineName, NOW, type Place } from '../support/store.ts'
import { backUpFilled, describeRestores, ignore, ORIGIN } from '../support/transfer.ts'
import { createPlaceWith } from '../support/useless-locks.ts'

let folder: string
/** A data directory with a row in every table, and a backup of it. */
let full: string
let file: string
const places: Place[] = []
const newPlace = async (engine: EngineName) => {
  const place = await createPlace(engine, 'transfer')
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

describe('the fate of tables', () => {
  const tablesOf = async (place: Place, sql: string) => {
    await (await place.open()).close()
    return (await place.query(sql)).map(({ name }) => String(name))
  }

  it('is decided for every table of either engine, and for the same columns', async () => {
    const [sqlite, postgres] = [await newPlace('sqlite'), await newPlace('postgres')]
    const inSqlite = await tablesOf(sqlite, `SELECT name FROM sqlite_schema WHERE type = 'table'`)
    const inPostgres = await tablesOf(
      postgres,
      `SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema()`,
    )
    // Where advisory locks are of no use there are others beside them.
    const byRows = await createPlaceWith(['postgres', 'void'], 'transfer_rows')
    places.push(byRows)
    const inRows = await tablesOf(
      byRows,
      `SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema()`,
    )
    const decided = Object.keys(TABLE_FATES).toSorted()
    expect(decided).toEqual([...new Set([...inSqlite, ...inPostgres, ...inRows])].toSorted())
    const there = await postgres.query(
      `SELECT table_name || '.' || column_name AS name FROM information_schema.columns WHERE table_schema = current_schema()`,
    )
    const columnsThere = Map.groupBy(
      there.map(({ name }) => String(name).split('.')),
      ([table]) => table,
    )
    for (const table of CARRIED_TABLES) {
      const here = await sqlite.query(`SELECT name FROM pragma_table_info('${table}')`)
      expect([
        table,
        carriedColumns(
          table,
          here.map(({ name }) => String(name)),
        ),
      ]).toEqual([
        table,
        carriedColumns(
          table,
          columnsThere.get(table)!.map(([, column]) => column!),
        ),
      ])
    }
  })

  it('loads a table after those that its rows refer to', async () => {
    const place = await newPlace('sqlite')
    await (await place.open()).close()
    for (const [at, table] of CARRIED_TABLES.entries()) {
      const references = await place.query(`SELECT "table" AS name FROM pragma_foreign_key_list('${table}')`)
      for (const { name } of references)
        expect([table, CARRIED_TABLES.indexOf(String(name))]).toEqual([
          table,
          expect.toSatisfy((of: number) => of < at),
        ])
    }
  })
})

describeRestores('sqlite')

describe('a file', () => {
  const read = (from: string) =>
    readBackupFile(from, {
      async table(_table, _columns, pieces) {
        await tallyOf(pieces)
      },
    })
  const damage = async (change: (bytes: Buffer) => Buffer) => {
    const at = join(folder, `damaged-${randomBytes(4).toString('hex')}.gz`)
    await writeFile(at, change(await readFile(file)))
    return at
  }

  it('is refused with one bit of it turned, wherever that is', async () => {
    const { length } = await readFile(file)
    for (let at = 11; at < length - 8; at += Math.ceil(length / 40)) {
      const damaged = await damage((bytes) => bytes.fill(bytes[at]! ^ 16, at, at + 1))
      await expect(read(damaged), `byte ${at}`).rejects.toThrow(/damaged|no backup|does not know/)
    }
  })

  it('is refused where its rows were changed with care for the compression', async () => {
    const text = gunzipSync(await readFile(file)).toString('latin1')
    for (const changed of [
      text.replace('accounts.name', 'accounts.mane'),
      // The last line is beyond the digest, and says what the tables hold.
      text.replace('"accounts":{"rows":1', '"accounts":{"rows":2'),
      text.replace('"engine":"sqlite"', '"engine":"postgres"'),
    ]) {
      expect(changed).not.toBe(text)
      await expect(read(await damage(() => gzipSync(Buffer.from(changed, 'latin1'))))).rejects.toThrow(
        /damaged/,
      )
    }
  })

  it('is refused wherever it was cut', async () => {
    const { length } = await readFile(file)
    for (let end = 20; end < length; end += Math.ceil(length / 30)) {
      const cut = await damage((bytes) => bytes.subarray(0, end))
      await expect(read(cut), `${end} of ${length}`).rejects.toThrow(/damaged/)
    }
    // A text that ends early, in a file that does not.
    const text = gunzipSync(await readFile(file))
    const short = await damage(() => gzipSync(text.subarray(0, text.lastIndexOf('{"end"'))))
    await expect(read(short)).rejects.toThrow(/damaged/)
  })

  it('is refused with words where it is none of these, or of a release that is not known', async () => {
    const text = gunzipSync(await readFile(file)).toString('latin1')
    const other = (from: string, to: string) =>
      damage(() => gzipSync(Buffer.from(text.replace(from, to), 'latin1')))
    await expect(read(await other('"format_version":1', '"format_version":2'))).rejects.toThrow(/format 2/)
    await expect(read(await other('{"table":"accounts"', '{"table":"brand_new"'))).rejects.toThrow(
      /newer release/,
    )
    await expect(read(await damage(() => Buffer.from('hello')))).rejects.toThrow(/no backup/)
    await expect(read(await damage(() => gzipSync('{"a":1}\n')))).rejects.toThrow(/no backup/)
    const earlier = await damage(() => Buffer.alloc(1024).fill('ustar', 257, 262))
    await expect(read(earlier)).rejects.toThrow(/earlier release. Unpack it/)
    await expect(read(join(folder, 'nothing'))).rejects.toThrow(/cannot be read/)
    await expect(read(folder)).rejects.toThrow(/no file/)
  })

  it('names no document that leads out of the data directory', async () => {
    const text = gunzipSync(await readFile(file)).toString('latin1')
    const evil = await damage(() =>
      gzipSync(Buffer.from(text.replace('\tmarket\n', '\t../evil\n'), 'latin1')),
    )
    const place = await newPlace('sqlite')
    const sink = await openSink(place.config, TABLE_VERSION, NOW)
    try {
      await expect(carryFile(evil, sink, ignore)).rejects.toThrow(/cannot be a file/)
    } finally {
      await sink.close()
    }
    expect(await readdir(place.config.dataDir)).toEqual(['lock.db'])
  })

  it('of an earlier release may name a file of somebody else, and is not written over one', async () => {
    const text = gunzipSync(await readFile(file)).toString('latin1')
    const old = await damage(() =>
      gzipSync(Buffer.from(text.replace('\tmarket\n', '\tcloud-account\n'), 'latin1')),
    )
    const place = await newPlace('sqlite')
    const theirs = join(place.config.dataDir, 'cloud-account.json')
    await writeFile(theirs, 'theirs')
    const sink = await openSink(place.config, TABLE_VERSION, NOW)
    try {
      await expect(carryFile(old, sink, ignore)).rejects.toThrow(/no document of a gateway.*Move yours/s)
    } finally {
      await sink.close()
    }
    expect(await readFile(theirs, 'utf8')).toBe('theirs')
  })

  it('is never written over another one, and not half', async () => {
    const config = { dataDir: full, databaseUrl: undefined }
    await expect(writeBackup({ config, origin: ORIGIN }, file)).rejects.toThrow(/exists already/)
    const stopped = join(folder, 'stopped.gz')
    const stop = new AbortController()
    const signal = stop.signal
    await expect(
      writeBackup({ config, origin: ORIGIN, signal, onProgress: () => stop.abort() }, stopped),
    ).rejects.toThrow()
    expect((await readdir(folder)).filter((name) => name.includes('stopped'))).toEqual([])
    await expect(writeBackup({ config, origin: ORIGIN }, join(folder, 'no', 'x.gz'))).rejects.toThrow(
      /does not exist/,
    )
  })
})

describe('a data directory with files of somebody else', () => {
  it('gives its documents alone', async () => {
    const place = await newPlace('sqlite')
    const { dataDir } = place.config
    await (await place.open()).close()
    for (const name of ['market', 'cloud-account', 'gateway', 'providers'])
      await writeFile(join(dataDir, `${name}.json`), '{"private_key": "of an operator"}')
    const source = await openSource(place.config)
    try {
      const names: (string | undefined)[] = []
      for await (const line of source.rowsOf('documents'))
        names.push(line.toString('utf8').split('\t').at(-1))
      expect(names).toEqual(['market\n'])
    } finally {
      await source.close()
    }
  })

  it('takes a backup, and they stay as they are', async () => {
    const place = await newPlace('sqlite')
    const { dataDir } = place.config
    const theirs = join(dataDir, 'cloud-account.json')
    await writeFile(theirs, 'theirs')
    for (const keep of [false, true]) {
      const sink = await openSink(place.config, TABLE_VERSION, NOW)
      await carryFile(file, sink, ignore)
      if (keep) await sink.commit()
      await sink.close()
      expect(await readFile(theirs, 'utf8')).toBe('theirs')
      expect((await readdir(dataDir)).includes('market.json')).toBe(keep)
    }
    // Of what is there now the words name what a gateway wrote.
    await expect(openSink(place.config, TABLE_VERSION, NOW)).rejects.toThrow(
      /is not empty: gateway\.db, market\.json\./,
    )
  })
})

describe('a restore', () => {
  it('is refused where the data of the directory was moved away, before anything is written', async () => {
    const place = await newPlace('sqlite')
    const { dataDir } = place.config
    await writeFile(join(dataDir, 'moved.json'), '{}')
    await expect(openSink(place.config, TABLE_VERSION, NOW)).rejects.toThrow(
      /moved\.json says .* was moved to PostgreSQL.*GATEWAY_DATA_DIR.*remove moved\.json/s,
    )
    expect((await readdir(dataDir)).toSorted()).toEqual(['lock.db', 'moved.json'])
  })

  it('makes anew what one that was cut off left, and leaves nothing of that where it ends in words', async () => {
    const place = await newPlace('sqlite')
    const { dataDir } = place.config
    for (const name of ['gateway.db.restoring', 'installation.json']) await writeFile(join(dataDir, name), '')
    const sink = await openSink(place.config, TABLE_VERSION, NOW)
    await carryFile(file, sink, ignore)
    await sink.close()
    expect(await readdir(dataDir)).toEqual(['lock.db'])
  })
})

it('a row that does not read back as it was written is found', async () => {
  const place = await newPlace('sqlite')
  const source = await openSource({ dataDir: full, databaseUrl: undefined })
  const sink = await openSink(place.config, TABLE_VERSION, NOW)
  try {
    const carried = await carry(source, sink, ignore)
    await sink.run(function* () {
      yield { text: `UPDATE receipts SET jws = jws || 'x'`, values: [] }
    })
    await expect(checkLoaded(sink, carried)).rejects.toThrow(/receipts/)
    await sink.run(function* () {
      yield { text: 'UPDATE accounts SET balance = 8', values: [] }
    })
    expect(await findImbalances(sink)).toEqual(['the balance of accounts is not what its ledger adds up to'])
  } finally {
    await source.close()
    await sink.close()
  }
})

it('a source holds its moment while rows are added', async () => {
  const place = await newPlace('sqlite')
  const store = await place.open()
  await addAccount(store, 1)
  const source = await openSource(place.config)
  try {
    const before = await tallyOf(source.rowsOf('accounts'))
    await addAccount(store, 1)
    expect(await tallyOf(source.rowsOf('accounts'))).toEqual(before)
    const db = new DatabaseSync(join(place.config.dataDir, 'gateway.db'), { readOnly: true })
    expect(db.prepare('SELECT count(*) AS n FROM accounts').get()).toEqual({ n: 2 })
    db.close()
  } finally {
    await source.close()
  }
})
