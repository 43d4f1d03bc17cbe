import { readFile, stat, writeFile } from 'node:fs/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { bootstrapOperator, operatorKeyFile } from '../../../src/app/bootstrap.ts'
import { createLogger } from '../../../src/lib/log.ts'
import { hashToken, newToken } from '../../../src/lib/tokens.ts'
import { openTempStore, type TempStore } from '../../support/temp-store.ts'

let temp: TempStore
beforeEach(async () => void (temp = await openTempStore()))
afterEach(() => temp.close())

const start = (operatorKey?: string) =>
  bootstrapOperator({
    config: { dataDir: temp.directory, operatorKey, serviceKeyCredits: 5 },
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
