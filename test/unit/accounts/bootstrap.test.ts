import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { bootstrapOperator, operatorKeyFile } from '../../../src/app/bootstrap.ts'
import { createLogger } from '../../../src/lib/log.ts'
import { hashToken, newToken } from '../../../src/lib/tokens.ts'
import { openTempStore, type TempStore } from '../../support/temp-store.ts'

let temp: TempStore
beforeEach(async () => void (temp = await openTempStore()))
afterEach(() => temp.close())

const start = (operatorKey?: string, dataDir = temp.directory) =>
  bootstrapOperator({
    config: { dataDir, operatorKey, serviceKeyCredits: 5 },
    store: temp.store,
    log: createLogger('silent'),
    now: Date.now,
  })
const keys = async () => (await temp.store.listKeys(undefined, { limit: 100 })).items

it('generates the first key, keeps it for its owner only and shows it once', async () => {
  const key = await start()
  expect(key).toMatch(/^agw_sk_/)
  const file = operatorKeyFile(temp.directory)
  expect((await readFile(file, 'utf8')).trim()).toBe(key)
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect(await temp.store.findKey(hashToken(key!))).toMatchObject({ admin: true })
  expect(await start()).toBeUndefined()
  expect(await keys()).toHaveLength(1)
})

it('registers a configured key without writing it anywhere', async () => {
  const key = newToken('sk')
  expect(await start(key)).toBeUndefined()
  expect(await temp.store.findKey(hashToken(key))).toMatchObject({ admin: true })
  await expect(readFile(operatorKeyFile(temp.directory))).rejects.toThrow('ENOENT')
})

it('finishes a first start that crashed after the key was written', async () => {
  const key = newToken('sk')
  await writeFile(operatorKeyFile(temp.directory), `${key}\n`)
  expect(await start()).toBeUndefined()
  expect(await temp.store.findKey(hashToken(key))).toMatchObject({ admin: true })
})

it('starts with a kept key that was revoked, and does not bring it back', async () => {
  const key = await start()
  const [first] = await keys()
  await temp.store.revokeKey({ id: first!.id, accountId: undefined, now: Date.now() })
  expect(await start()).toBeUndefined()
  expect(await start(key)).toBeUndefined()
  expect(await temp.store.findKey(hashToken(key!))).toBeUndefined()
  expect(await keys()).toHaveLength(1)
})

it('makes one account when two replicas start with the same configured key', async () => {
  const key = newToken('sk')
  await Promise.all([start(key), start(key)])
  expect(await keys()).toHaveLength(1)
})

it('makes one account and one key when two starts share the data directory', async () => {
  const shown = (await Promise.all([start(), start()])).filter((key) => key !== undefined)
  expect(await keys()).toHaveLength(1)
  const key = (await readFile(operatorKeyFile(temp.directory), 'utf8')).trim()
  expect(shown).toEqual([key])
  expect(await temp.store.findKey(hashToken(key))).toMatchObject({ admin: true })
})

it('leaves no key that does not work where two starts share the database alone', async () => {
  const folders = ['one', 'two'].map((name) => join(temp.directory, name))
  const shown = (await Promise.all(folders.map((folder) => start(undefined, folder)))).filter(
    (key) => key !== undefined,
  )
  expect(await keys()).toHaveLength(1)
  expect(shown).toHaveLength(1)
  const files = await Promise.all(folders.map((folder) => readdir(folder)))
  expect(files.flat()).toEqual(['operator.key'])
  const kept = files[0]!.length > 0 ? folders[0]! : folders[1]!
  const key = (await readFile(operatorKeyFile(kept), 'utf8')).trim()
  expect(shown).toEqual([key])
  expect(await temp.store.findKey(hashToken(key))).toMatchObject({ admin: true })
})

it('does not write over a file that holds no key, and says what to do', async () => {
  await writeFile(operatorKeyFile(temp.directory), 'hello\n')
  await expect(start()).rejects.toThrow(/operator\.key holds no service key .*Remove it/)
  expect(await readFile(operatorKeyFile(temp.directory), 'utf8')).toBe('hello\n')
  expect(await keys()).toEqual([])
})
