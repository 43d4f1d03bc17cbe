// `agent-gateway upgrade-check` over data that other releases left behind.
import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { TABLE_VERSION } from '../../src/store/migrations.ts'
import { runCli } from '../support/cli.ts'
import { removeFolder } from '../support/remove-folder.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'upgrade-'))
})
afterEach(() => removeFolder(folder))

const check = (...args: string[]) => runCli(['upgrade-check', ...args], { GATEWAY_DATA_DIR: folder })

function leaveTables(version: number) {
  const db = new DatabaseSync(join(folder, 'gateway.db'))
  db.exec('CREATE TABLE migrations (version INTEGER PRIMARY KEY, applied_at INTEGER NOT NULL)')
  for (let one = 1; one <= version; one++)
    db.prepare('INSERT INTO migrations (version, applied_at) VALUES (?, 0)').run(one)
  db.close()
}

it('ends with 78 where no database is, says where it looked, and makes nothing', async () => {
  const { code, stdout, stderr } = await check()
  expect([code, stdout]).toEqual([78, ''])
  expect(stderr).toContain(`There is no database in ${folder}. Set GATEWAY_DATA_DIR`)
  expect(readdirSync(folder)).toEqual([])
  const gone = join(folder, 'gone')
  expect((await runCli(['upgrade-check'], { GATEWAY_DATA_DIR: gone })).code).toBe(78)
})

it('names who wrote the data and what would run', async () => {
  leaveTables(1)
  const { code, stdout } = await check()
  expect(code).toBe(0)
  expect(stdout).toMatch(/^written by {4}5\.0\.2$/m)
  expect(stdout).toMatch(
    new RegExp(`^migrations {4}${TABLE_VERSION - 1}, from version 2 on: payment tables, `, 'm'),
  )
  expect(stdout).toMatch(/^by hand {7}nothing\. Back up before/m)
  const json = await check('--json')
  expect(JSON.parse(json.stdout)).toMatchObject({
    ok: true,
    engine: 'sqlite',
    table_version: 1,
    side_by_side: null,
    by_hand: [],
  })
})

it('ends with 1 and says why for data of a newer release, and for what is no database', async () => {
  leaveTables(TABLE_VERSION + 1)
  const newer = await check()
  expect(newer.code).toBe(1)
  expect(newer.stdout).toMatch(/^by hand .*Run the newer release again/m)
  writeFileSync(join(folder, 'gateway.db'), 'not a database')
  const broken = await check()
  expect(broken.code).toBe(1)
  expect(broken.stderr).toMatch(/gateway\.db cannot be read as a database/)
})

it('ends with 0 for data of a newer release that says that this one can use it', async () => {
  leaveTables(TABLE_VERSION + 1)
  const db = new DatabaseSync(join(folder, 'gateway.db'))
  db.exec('CREATE TABLE table_terms (version INTEGER PRIMARY KEY, usable_from INTEGER NOT NULL)')
  db.prepare('INSERT INTO table_terms VALUES (?, ?)').run(TABLE_VERSION + 1, TABLE_VERSION)
  db.close()
  const { code, stdout } = await check()
  expect(code).toBe(0)
  expect(stdout).toMatch(/^migrations {4}none$/m)
  expect(stdout).toMatch(/^by hand {7}nothing\./m)
})

const MOVED = { state: 'moved', move_id: 'm', to: 'db.example:5432/gateway', at: '2026-06-01T00:00:00.000Z' }
it.each([
  ['was moved away', 'moved.json', JSON.stringify(MOVED), /was moved to PostgreSQL .*migrate --back/],
  [
    'is on its way elsewhere',
    'moved.json',
    JSON.stringify({ ...MOVED, state: 'begun' }),
    /did not end\. Run/,
  ],
  ['may be elsewhere', 'moved.json', '{', /cannot be read\. See where the data is/],
  ['was not restored to its end', 'gateway.db.restoring', '', /restore` again: it begins anew/],
])('ends with 1 where data %s, and says what to decide', async (_, name, content, words) => {
  leaveTables(TABLE_VERSION)
  writeFileSync(join(folder, name), content)
  const { code, stdout } = await check()
  expect(code).toBe(1)
  expect(stdout.split('\n').find((line) => line.startsWith('by hand'))).toMatch(words)
  const json = await check('--json')
  expect([json.code, JSON.parse(json.stdout)]).toMatchObject([
    1,
    { ok: false, by_hand: [expect.any(String)] },
  ])
})

it('ends with 1 where a database server does not answer, without its password', async () => {
  const { code, stdout, stderr } = await runCli(['upgrade-check'], {
    GATEWAY_DATA_DIR: folder,
    GATEWAY_DATABASE_URL: 'postgres://gateway:hunter2@127.0.0.1:9/gateway',
  })
  expect(code).toBe(1)
  expect(stderr).toMatch(/The database does not answer.*ECONNREFUSED/)
  expect(stdout + stderr).not.toContain('hunter2')
})
