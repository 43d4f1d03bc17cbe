// Backups in the data directory: the newest is kept until a newer one is whole, and nobody removes what another process writes.
import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { backupName, createBackup } from '../../../src/app/backup.ts'
import { addAccount, createPlace, NOW, type Place } from '../../support/store.ts'

const HOUR_MS = 3_600_000

let place: Place
let folder: string
let backup: ReturnType<typeof createBackup>
beforeEach(async () => {
  place = await createPlace('sqlite', 'backup')
  const store = await place.open()
  await addAccount(store, 10)
  folder = join(place.config.dataDir, 'backups')
  backup = createBackup({ config: place.config, store, now: () => NOW })
})
afterEach(() => place.remove())

const make = (signal = new AbortController().signal) => backup.make(() => {}, signal)

it('removes the one before when the new one is whole', async () => {
  const first = await make()
  expect(first.file).toBe(backupName(NOW))
  const second = await make()
  expect(second.file).not.toBe(first.file)
  expect(await readdir(folder)).toEqual([second.file])
})

it('keeps the one before where the new one is stopped or fails, and nothing of that', async () => {
  const { file } = await make()
  await expect(make(AbortSignal.abort())).rejects.toThrow()
  // At the moment when its thread was started: it would be whole soon.
  const stop = new AbortController()
  const listen = stop.signal.addEventListener.bind(stop.signal)
  stop.signal.addEventListener = (type: string, listener: EventListener) => {
    listen(type, listener)
    stop.abort()
  }
  await expect(make(stop.signal)).rejects.toThrow()
  expect(stop.signal.aborted).toBe(true)
  expect(await readdir(folder)).toEqual([file])

  const { config } = place
  const elsewhere = join(config.dataDir, 'elsewhere')
  await mkdir(join(elsewhere, 'backups'), { recursive: true })
  await writeFile(join(elsewhere, 'backups', file), 'the only one')
  const without = createBackup({
    config: { ...config, dataDir: elsewhere },
    store: { engine: 'sqlite' } as never,
    now: () => NOW + HOUR_MS,
  })
  await expect(without.make(() => {}, new AbortController().signal)).rejects.toThrow(/no database/)
  expect(await readdir(join(elsewhere, 'backups'))).toEqual([file])
})

it('removes what a process left that ended, and not what another is writing', async () => {
  await mkdir(folder)
  const [left, written] = ['.backup-2026-05-01T00-00-00Z.gz.1.part', '.backup-2026-06-01T00-00-00Z.gz.1.part']
  for (const name of [left, written]) await writeFile(join(folder, name), 'a part')
  const before = new Date(Date.now() - 2 * HOUR_MS)
  await utimes(join(folder, left), before, before)
  const { file } = await make()
  expect((await readdir(folder)).toSorted()).toEqual([written, file].toSorted())
})
