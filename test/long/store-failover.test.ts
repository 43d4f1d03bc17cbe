// The server that the gateway is connected to becomes read-only and stays alive, as a primary does that is made a standby of another.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createCluster, type Cluster } from '../../chaos/postgres.ts'
import { startRelay, type Relay } from '../../chaos/relay.ts'
import { egressPolicyDocument } from '../../src/egress/policy.ts'
import { openTableDocuments } from '../../src/store/documents/table.ts'
import { openPostgresStore } from '../../src/store/postgres/store.ts'
import type { DocumentStore, Store } from '../../src/store/ports.ts'
import { addAccount, addSetting, log, reservation, type Setting, times } from '../support/store.ts'

const BOOT = 'boot-failover'

let primary: Cluster
let standby: Cluster
let relay: Relay
let store: Store
let documents: DocumentStore
let setting: Setting
beforeAll(async () => {
  primary = await createCluster()
  standby = await primary.standby(primary.port)
  relay = await startRelay(primary.port)
  const url = new URL(primary.url)
  url.port = String(relay.port)
  store = await openPostgresStore({ address: { url: url.href }, bootId: BOOT, log })
  documents = openTableDocuments({ url: url.href }, log)
  setting = await addSetting(store, 100)
})
afterAll(async () => {
  await documents?.close()
  await store?.close()
  await relay?.close()
  await primary?.close()
})

const isHealthy = async () => (await store.health()).ok
async function closeForWrites(server: Cluster, isClosed: boolean): Promise<void> {
  await server.query(`ALTER SYSTEM SET default_transaction_read_only = ${isClosed ? 'on' : 'off'}`)
  await server.query('SELECT pg_reload_conf()')
  await expect
    .poll(() =>
      server.query<{ said: string }>('SELECT current_setting($$default_transaction_read_only$$) AS said'),
    )
    .toEqual([{ said: isClosed ? 'on' : 'off' }])
}
const sessionsAt = (server: Cluster) =>
  server.query<{ pid: number }>(
    `SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'agent-gateway%' AND datname = 'gateway'`,
  )
/** All of its connections are open and old enough to be given up. */
async function fillPool(): Promise<void> {
  const names = times(16, () => addAccount(store, 1))
  await Promise.all(names)
  await new Promise((resolve) => setTimeout(resolve, 1200))
}

it('takes no calls while its server takes no writes, and again when it does', async () => {
  expect(await isHealthy()).toBe(true)
  await closeForWrites(primary, true)
  await expect.poll(isHealthy).toBe(false)
  expect((await store.health()).detail).toMatch(/^PostgreSQL that takes no writes/)
  await expect(store.reserveAttempt(reservation(setting, BOOT))).rejects.toMatchObject({
    code: 'store_unavailable',
  })
  await closeForWrites(primary, false)
  await expect.poll(isHealthy).toBe(true)
  expect((await store.reserveAttempt(reservation(setting, BOOT))).ok).toBe(true)
})

it('leaves a server that lives on as a standby for the new primary with the first call that it does not take', async () => {
  await fillPool()
  const isPaused = async () => (await documents.read(egressPolicyDocument)).value.paused
  await documents.update(egressPolicyDocument, (policy) => ({ ...policy, paused: false }))
  await new Promise((resolve) => setTimeout(resolve, 1200))
  // What health asks of a server says it of a standby as well.
  expect(await standby.query(`SELECT current_setting('transaction_read_only') AS said`)).toEqual([
    { said: 'on' },
  ])
  // It may be behind, and promoted it would not know what it has not been told.
  const [written] = await primary.query<{ at: string }>('SELECT pg_current_wal_lsn() AS at')
  await expect
    .poll(() => standby.query(`SELECT pg_last_wal_replay_lsn() >= '${written!.at}' AS "isThere"`))
    .toEqual([{ isThere: true }])
  await standby.promote()
  relay.target = standby.port
  await closeForWrites(primary, true)
  // Documents are only read, as a rule: whoever pauses all at the new primary is obeyed.
  await standby.query(`UPDATE documents SET json = '{"paused":true}', revision = revision + 1`)
  expect(await isPaused()).toBe(true)
  // Not one of these fails, and none goes out on a connection of before a second time.
  const ids = await Promise.all(times(20, () => addAccount(store, 7)))
  for (const id of ids) expect(await store.balance(id)).toBe(7)
  await expect.poll(isHealthy).toBe(true)
  expect((await store.reserveAttempt(reservation(setting, BOOT))).ok).toBe(true)
  // The session of the lease is asked every few seconds, and none is waited for that is closed.
  await expect.poll(() => sessionsAt(primary)).toEqual([])
})
