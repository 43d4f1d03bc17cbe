// Two processes behind a real PgBouncer in transaction mode, with fewer sessions than either has connections.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../src/lib/ids.ts'
import { openStore } from '../../src/store/index.ts'
import type { Store } from '../../src/store/ports.ts'
import { startPgBouncer, type TestPgBouncer } from '../support/pgbouncer.ts'
import {
  addSetting,
  createPlace,
  ending,
  log,
  NOW,
  type Place,
  reservation,
  times,
  unbalancedAccounts,
  usesOf,
} from '../support/store.ts'

let place: Place
let pooler: TestPgBouncer
let direct: string
const stores: Store[] = []
const open = async (bootId: string, urls: { databaseUrl: string; databaseDirectUrl?: string }) => {
  const store = await openStore({ config: { ...place.config, ...urls }, log, bootId })
  stores.push(store)
  return store
}
beforeAll(async () => {
  place = await createPlace('postgres', 'pooler')
  direct = place.config.databaseUrl!
  pooler = await startPgBouncer(direct, 3)
})
afterAll(async () => {
  await Promise.all(stores.map((store) => store.close()))
  await pooler.stop()
  await place.remove()
})

describe('behind PgBouncer in transaction mode', () => {
  it('two processes do the work of hundreds of fetches, and see what the other revokes', async () => {
    const through = { databaseUrl: pooler.url, databaseDirectUrl: direct }
    const [one, two] = await Promise.all([open('boot-1', through), open('boot-2', through)])
    const settings = await Promise.all(times(8, () => addSetting(one, 100)))
    const fetchOnce = async (store: Store, boot: string, i: number) => {
      const setting = settings[i % settings.length]!
      const held = await store.findCapability(setting.capability.tokenHash)
      expect(held?.id).toBe(setting.capability.id)
      const input = reservation(setting, boot, { id: newId('att'), state: 'sending', sendingAt: NOW })
      expect(await store.reserveAttempt(input)).toMatchObject({ ok: true })
      expect(await store.finishAttempt(ending(input.attempt, boot))).toMatchObject({ ok: true })
    }
    await Promise.all(
      times(400, (i) => (i % 2 === 0 ? fetchOnce(one, 'boot-1', i) : fetchOnce(two, 'boot-2', i))),
    )
    for (const setting of settings) {
      expect(await two.balance(setting.accountId)).toBe(50)
      expect(await usesOf(one, setting.capability)).toBe(50)
    }
    expect(await unbalancedAccounts(place)).toEqual([])

    const { capability, accountId } = settings[0]!
    await one.revokeCapability({ id: capability.id, accountId, now: NOW })
    expect((await two.findCapability(capability.tokenHash))?.revokedAt).toBe(NOW)
    // Each still holds its lease, in a session of its own.
    expect((await one.recoverAttempts({ bootId: 'boot-1', now: NOW })).ambiguous).toEqual([])
    expect(await Promise.all([one.health(), two.health()])).toMatchObject([{ ok: true }, { ok: true }])
  })

  it.each([
    ['as it is', [], /GATEWAY_DATABASE_DIRECT_URL to the address of PostgreSQL itself/],
    [
      'that lets every parameter pass',
      ['ignore_startup_parameters = statement_timeout,idle_in_transaction_session_timeout,options'],
      /GATEWAY_DATABASE_DIRECT_URL to the address of PostgreSQL itself/,
    ],
    [
      'that gives its sessions out in turn',
      [
        'ignore_startup_parameters = statement_timeout,idle_in_transaction_session_timeout,options',
        'server_round_robin = 1',
        'min_pool_size = 3',
      ],
      /GATEWAY_DATABASE_DIRECT_URL to the address of PostgreSQL itself/,
    ],
  ])('a process that was not told of a pooler %s does not start', async (_, settings, says) => {
    const other = await startPgBouncer(direct, 3, settings)
    try {
      await expect(open('boot-3', { databaseUrl: other.url })).rejects.toThrow(says)
    } finally {
      await other.stop()
    }
  })

  it('a process whose way past the pooler leads to another database does not start, and settles nothing of the living', async () => {
    const elsewhere = await createPlace('postgres', 'elsewhere')
    try {
      await elsewhere.open('boot-9')
      const urls = { databaseUrl: direct, databaseDirectUrl: elsewhere.config.databaseUrl! }
      await expect(open('boot-4', urls)).rejects.toThrow(/leads to another database/)
    } finally {
      await elsewhere.remove()
    }
  })
})
