import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import { migrationNames, TABLE_VERSION } from '../../src/store/migrations.ts'
import { planUpgrade, SIDE_BY_SIDE_FROM } from '../../src/store/releases.ts'
import { readTableVersion } from '../../src/store/table-version.ts'
import { openSink, openSource } from '../../src/store/transfer/carry.ts'
import { addAccount, createPlace, ENGINES, NOW, type Place } from '../support/store.ts'

describe.each(ENGINES)('tables in %s', (engine) => {
  it('are found with their version, and where there are none', async () => {
    const place = await createPlace(engine, 'table_version')
    try {
      expect(await readTableVersion(place.config)).toMatchObject({ engine, reached: 0, obstacle: undefined })
      const store = await place.open()
      // Beside who has it open.
      expect(await readTableVersion(place.config)).toMatchObject({ engine, reached: TABLE_VERSION })
      await store.close()
      const before = await place.query('SELECT count(*) AS count FROM migrations')
      expect(await readTableVersion(place.config)).toMatchObject({
        reached: TABLE_VERSION,
        obstacle: undefined,
      })
      expect(await place.query('SELECT count(*) AS count FROM migrations')).toEqual(before)
    } finally {
      await place.remove()
    }
  })

  it('are found without a trace: no file is made beside them', async () => {
    const place = await createPlace(engine, 'table_version_files')
    try {
      await (await place.open()).close()
      const files = await readdir(place.config.dataDir)
      expect(await readTableVersion(place.config)).toMatchObject({ reached: TABLE_VERSION })
      expect(await readdir(place.config.dataDir)).toEqual(files)
    } finally {
      await place.remove()
    }
  })

  it('are not begun where a restore did not end, and how to decide that is said', async () => {
    const place = await createPlace(engine, 'table_version_unfinished')
    try {
      // A restore that is under way is one that has not ended.
      const sink = await openSink(place.config, TABLE_VERSION, NOW)
      try {
        expect(await readTableVersion(place.config)).toMatchObject({
          reached: 0,
          undecided: expect.stringMatching(/was begun and did not end.*remove/s) as string,
        })
      } finally {
        await sink.close()
      }
      expect(await readTableVersion(place.config)).toMatchObject({ reached: 0, undecided: undefined })
    } finally {
      await place.remove()
    }
  })

  it('say no address of a server, which may hold a password', async () => {
    const place = await createPlace(engine, 'table_version_place')
    try {
      const found = await readTableVersion(place.config)
      expect(found.place).toMatch(engine === 'sqlite' ? /gateway\.db$/ : /^PostgreSQL \d+/)
    } finally {
      await place.remove()
    }
  })
})

describe.each(ENGINES)('tables of a newer release in %s', (engine) => {
  const NEWER = TABLE_VERSION + 1
  /** A place that a release after this one has migrated since. */
  async function migratedPlace(usableFrom: number | undefined): Promise<{ place: Place; accountId: string }> {
    const place = await createPlace(engine, 'table_terms')
    const store = await place.open()
    const accountId = await addAccount(store, 7)
    await store.close()
    await run(place, `INSERT INTO migrations (version, applied_at) VALUES (${NEWER}, 0)`)
    if (usableFrom !== undefined)
      await run(place, `INSERT INTO table_terms (version, usable_from) VALUES (${NEWER}, ${usableFrom})`)
    return { place, accountId }
  }
  async function run(place: Place, text: string): Promise<void> {
    if (engine === 'postgres') return void (await place.query(text))
    const db = new DatabaseSync(join(place.config.dataDir, 'gateway.db'))
    db.exec(text)
    db.close()
  }
  const versions = async (place: Place) =>
    (await place.query('SELECT version FROM migrations')).map(({ version }) => Number(version))

  it('are served as they are where they say that this one can use them', async () => {
    const { place, accountId } = await migratedPlace(TABLE_VERSION)
    try {
      for (const boot of ['boot-1', 'boot-2']) {
        const store = await place.open(boot)
        expect(await store.balance(accountId)).toBe(7)
        await addAccount(store, 1)
        await store.close()
      }
      expect(await versions(place)).toHaveLength(NEWER)
      const found = await readTableVersion(place.config)
      expect(found).toMatchObject({ reached: NEWER, usableFrom: TABLE_VERSION })
      const { byHand, migrations } = planUpgrade(engine, found.reached, '9.9.9', found)
      expect({ byHand, migrations }).toEqual({ byHand: [], migrations: [] })
    } finally {
      await place.remove()
    }
  })

  it.each([
    ['that it cannot', NEWER],
    ['nothing', undefined],
  ])('are refused where they say %s', async (_, usableFrom) => {
    const { place } = await migratedPlace(usableFrom)
    try {
      await expect(place.open()).rejects.toThrow(/version \d+.*run the newer release again/)
      expect(await readTableVersion(place.config)).toMatchObject({ reached: NEWER, usableFrom })
    } finally {
      await place.remove()
    }
  })

  it('are carried nowhere: what they have beside would be left behind', async () => {
    const { place } = await migratedPlace(TABLE_VERSION)
    try {
      await expect(openSource(place.config)).rejects.toThrow(/of a newer release .*with that release/)
    } finally {
      await place.remove()
    }
  })

  it('are told who can use those of this one', async () => {
    const place = await createPlace(engine, 'own_terms')
    try {
      for (const boot of ['boot-1', 'boot-2']) await (await place.open(boot)).close()
      const [terms, ...others] = await place.query('SELECT version, usable_from AS oldest FROM table_terms')
      expect([Number(terms!['version']), Number(terms!['oldest'])]).toEqual([
        TABLE_VERSION,
        SIDE_BY_SIDE_FROM,
      ])
      expect(others).toEqual([])
    } finally {
      await place.remove()
    }
  })
})

describe('a plan', () => {
  it('runs every migration that is missing, and no other', () => {
    const { migrations, byHand, writtenBy, sideBySide } = planUpgrade('sqlite', 1, '9.9.9')
    expect(migrations.map(({ version }) => version)).toEqual(
      Array.from({ length: TABLE_VERSION - 1 }, (_, index) => index + 2),
    )
    expect(migrations[0]).toEqual({ version: 2, name: 'payment tables' })
    expect({ byHand, writtenBy, sideBySide }).toEqual({
      byHand: [],
      writtenBy: '5.0.2',
      sideBySide: undefined,
    })
    expect(planUpgrade('sqlite', 0, '9.9.9').migrations).toHaveLength(TABLE_VERSION)
  })

  it.each<[string, number, boolean | undefined, RegExp]>([
    ['with the same tables', TABLE_VERSION, true, /^$/],
    ['of the release before', SIDE_BY_SIDE_FROM, true, /^$/],
    ['older than that', SIDE_BY_SIDE_FROM - 1, false, /^Stop every process/],
    ['of the first release', 1, false, /^Stop every process/],
    ['of a newer release', TABLE_VERSION + 1, false, /would not start\. Run the newer release again/],
    ['that is empty', 0, undefined, /^$/],
  ])('for a PostgreSQL %s', (_, reached, sideBySide, byHand) => {
    const plan = planUpgrade('postgres', reached, '9.9.9')
    expect(plan.sideBySide).toBe(sideBySide)
    expect(plan.byHand.join()).toMatch(byHand)
  })

  it('says yes to a newer database that this release can use, and no to one that it cannot', () => {
    const planOf = (usableFrom: number) => planUpgrade('postgres', TABLE_VERSION + 1, '9.9.9', { usableFrom })
    expect(planOf(TABLE_VERSION)).toMatchObject({
      sideBySide: true,
      byHand: [],
      migrations: [],
      writtenBy: 'a release after 9.9.9',
    })
    expect(planOf(TABLE_VERSION + 1)).toMatchObject({ sideBySide: false, byHand: [expect.any(String)] })
  })

  it('says no to a newer database of any engine', () => {
    expect(planUpgrade('sqlite', TABLE_VERSION + 1, '9.9.9').byHand).toHaveLength(1)
    expect(planUpgrade('sqlite', TABLE_VERSION + 1, '9.9.9').writtenBy).toBe('a release after 9.9.9')
  })

  it('names what wrote the data as well as the tables tell', () => {
    expect(planUpgrade('sqlite', TABLE_VERSION, '9.9.9').writtenBy).toMatch(/^9\.9\.9/)
    expect(planUpgrade('sqlite', 2, '9.9.9').writtenBy).toBe('a build after 5.0.2')
    expect(planUpgrade('sqlite', 0, '9.9.9').writtenBy).toBe('nobody yet')
  })

  it('has words for each migration', () => {
    expect(migrationNames).toHaveLength(TABLE_VERSION)
    for (const name of migrationNames) expect(name).toMatch(/^[a-z]+(?: [a-z]+)*$/)
  })

  // Red after a new step: run `npm run chaos` (a rolling upgrade), and say here that the release before serves beside it, or that it does not.
  it('was decided for the newest migration', () => {
    expect([TABLE_VERSION - 1, TABLE_VERSION]).toContain(SIDE_BY_SIDE_FROM)
  })
})
