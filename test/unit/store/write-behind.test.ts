// What a commit puts off is never lost, never twice, and always in the lists.
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { newId } from '../../../src/lib/ids.ts'
import { all, type Command } from '../../../src/store/command.ts'
import { sqliteDialect } from '../../../src/store/dialects.ts'
import { storeOf } from '../../../src/store/engine-store.ts'
import { migrate } from '../../../src/store/migrations.ts'
import type { Store } from '../../../src/store/ports.ts'
import type { Page, PageRequest } from '../../../src/store/model.ts'
import { createMerger, MERGE_EVERY } from '../../../src/store/sqlite/write-behind.ts'
import { openDatabase, type SqliteDatabase } from '../../../src/store/sqlite/database.ts'
import { sqliteCommands } from '../../../src/store/sqlite/fused.ts'
import { removeFolder } from '../../support/remove-folder.ts'
import { addSetting, NOW, reservation, type Setting } from '../../support/store.ts'

let folder: string
let db: SqliteDatabase
let store: Store
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gateway-write-behind-'))
  db = openDatabase(join(folder, 'gateway.db'))
  db.exec('PRAGMA synchronous = OFF')
  db.drive(migrate(sqliteDialect, NOW))
  store = storeOf({
    engine: 'sqlite',
    run: async (name, args) =>
      db.drive((sqliteCommands[name] as (...args: unknown[]) => Command<unknown>)(...args)),
    health: async () => ({ ok: true, latencyMs: 0, detail: 'direct' }),
    close: async () => {},
  })
})
afterEach(async () => {
  db.close()
  await removeFolder(folder)
})

const count = (from: string) => db.drive(all<{ n: number }>(`SELECT count(*) AS n FROM ${from}`))[0]!.n
const staged = () => [count('ledger_arrivals'), count('attempts WHERE listed = 0')]
/** Everything is merged after the second merge at the latest. */
function mergeTwice(merge: (commands: number) => void): void {
  merge(MERGE_EVERY)
  merge(MERGE_EVERY)
}

async function reserve(setting: Setting, at = NOW): Promise<string> {
  const input = reservation(setting, 'boot-1', { id: newId('att', at) })
  expect((await store.reserveAttempt({ ...input, transactionId: newId('txn', at) })).ok).toBe(true)
  return input.attempt.id
}
async function readAll<T>(read: (page: PageRequest) => Promise<Page<T>>): Promise<T[]> {
  const items: T[] = []
  for (let before: string | undefined; ;) {
    const page = await read({ limit: 100, before })
    items.push(...page.items)
    if (page.next === null) return items
    before = page.next
  }
}

describe('merging what is staged', () => {
  it('shows each attempt and each entry once, newest first, whatever is merged by then', async () => {
    const merge = createMerger(db, () => 0)
    const settings = [
      await addSetting(store, 10_000),
      await addSetting(store, 10_000),
      await addSetting(store, 10_000),
    ]
    const made = new Map<Setting, string[]>(settings.map((setting) => [setting, []]))
    const merges: (readonly [commands: number, entries: number, attempts: number])[] = []
    for (let i = 1; i <= 4 * MERGE_EVERY + 50; i++) {
      const setting = settings[i % settings.length]!
      made.get(setting)!.unshift(await reserve(setting, NOW + i))
      merge(1)
      if (i % MERGE_EVERY === 1) merges.push([i, staged()[0]!, staged()[1]!])
      if (i % (MERGE_EVERY / 2) !== 7) continue
      for (const [{ accountId, capability }, ids] of made) {
        const attempts = await readAll((page) => store.listAttempts({ accountId }, page))
        expect(attempts.map(({ id }) => id)).toEqual(ids)
        const ofCapability = await readAll((page) =>
          store.listAttempts({ accountId, capabilityId: capability.id }, page),
        )
        expect(ofCapability).toEqual(attempts)
        const entries = await readAll((page) => store.ledger(accountId, page))
        expect(entries.filter(({ kind }) => kind === 'egress').map(({ reference }) => reference)).toEqual(ids)
      }
    }
    expect(merges).toEqual([
      [1, 0, 0],
      [MERGE_EVERY + 1, 2 * MERGE_EVERY, 0],
      [2 * MERGE_EVERY + 1, 0, MERGE_EVERY],
      [3 * MERGE_EVERY + 1, 2 * MERGE_EVERY, 0],
      [4 * MERGE_EVERY + 1, 0, MERGE_EVERY],
    ])
  })

  it('merges more often when merges take long, and less often again when they do not', () => {
    let clock = 0
    let tookMs = 0
    let called = 0
    const at: number[] = []
    const merge = createMerger(db, () => {
      // Asked when a merge begins and when it has ended.
      if (called++ % 2 === 0) at.push(i)
      return (clock += tookMs)
    })
    let i = 0
    const lengthsOf = (count: number, ms: number) => {
      tookMs = ms
      at.length = 0
      while (at.length <= count) {
        i++
        merge(1)
      }
      return at.slice(1).map((end, merge) => end - at[merge]!)
    }
    expect(lengthsOf(2, 15)).toEqual([1000, 1000])
    expect(lengthsOf(7, 21)).toEqual([500, 250, 125, 62, 32, 32, 32])
    expect(lengthsOf(2, 15)).toEqual([32, 32])
    expect(lengthsOf(6, 9)).toEqual([64, 128, 256, 512, 1000, 1000])
  })

  it('begins with what an earlier process left, of both', async () => {
    const setting = await addSetting(store, 10)
    await reserve(setting)
    expect(staged()).toEqual([2, 1])
    createMerger(db)(1)
    expect(staged()).toEqual([0, 0])
  })

  it('leaves everything staged when a merge finds no room, and finishes it in a later one', async () => {
    const setting = await addSetting(store, 100)
    const merge = createMerger(db)
    merge(1)
    const ids: string[] = []
    for (let i = 1; i <= 60; i++) ids.unshift(await reserve(setting, NOW + i))
    db.exec('PRAGMA max_page_count = 1')
    mergeTwice(merge)
    expect(staged()).toEqual([120, 60])
    db.exec('PRAGMA max_page_count = 100000')
    // The thread goes on: nothing is left open.
    ids.unshift(await reserve(setting, NOW + 100))
    mergeTwice(merge)
    expect(staged()).toEqual([0, 0])
    const entries = await store.ledger(setting.accountId, { limit: 61 })
    expect(entries.items.map(({ reference }) => reference)).toEqual(ids)
  })

  it('merges all others when the id of one was given twice, every time', async () => {
    const setting = await addSetting(store, 10)
    const merge = createMerger(db)
    const first = reservation(setting, 'boot-1')
    expect((await store.reserveAttempt(first)).ok).toBe(true)
    mergeTwice(merge)
    expect(staged()).toEqual([0, 0])
    const { transactionId } = first
    const twice = { ...reservation(setting, 'boot-1'), transactionId }
    expect((await store.reserveAttempt(twice)).ok).toBe(true)
    for (let nth = 1; nth < 4; nth++) {
      await reserve(setting, NOW + nth)
      mergeTwice(merge)
      expect(staged()).toEqual([2, 0])
    }
    // Nothing of it is lost: the ledger says what the balance says.
    const { items } = await store.ledger(setting.accountId, { limit: 9 })
    expect(items.reduce((sum, { amount }) => sum + amount, 0)).toBe(await store.balance(setting.accountId))
    expect(items.filter((entry) => entry.transactionId === transactionId)).toHaveLength(2)
  })
})
